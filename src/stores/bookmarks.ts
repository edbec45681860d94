import { LRUCache } from 'lru-cache';

export type Bookmarks = ReturnType<typeof createBookmarks>;

const maxProjects = 10_000;

/** Keeps the last bookmark of each project, so that no project waits for the writes of another. */
export function createBookmarks() {
  const last = new LRUCache<string, readonly string[]>({ max: maxProjects });
  return {
    /** Returns the bookmarks that a session needs to see the last writes of these projects by this process. */
    of: (projectIds: readonly string[]): string[] => [...new Set(projectIds.flatMap((id) => last.get(id) ?? []))],
    note: (projectId: string, bookmarks: readonly string[]) => void last.set(projectId, bookmarks),
    forget: (projectIds: readonly string[]) => projectIds.forEach((id) => last.delete(id)),
  };
}
