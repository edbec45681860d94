import { LRUCache } from 'lru-cache';

export interface Bookmarks {
  /** Returns the bookmarks that a session needs to see the last writes of these projects by this process. */
  of(projectIds: readonly string[]): string[];
  note(projectId: string, bookmarks: readonly string[]): void;
  forget(projectIds: readonly string[]): void;
}

const maxProjects = 10_000;

/** Keeps the last bookmark of each project, so that no project waits for the writes of another. */
export function createBookmarks(): Bookmarks {
  const last = new LRUCache<string, readonly string[]>({ max: maxProjects });
  return {
    of: (projectIds) => [...new Set(projectIds.flatMap((id) => last.get(id) ?? []))],
    note: (projectId, bookmarks) => void last.set(projectId, bookmarks),
    forget: (projectIds) => projectIds.forEach((id) => last.delete(id)),
  };
}
