import { useRef, useState } from 'react';
import { personId, projectId } from '../session.js';

/** Unsaved changes to an agentflow, as this browser keeps them. */
export interface KeptDraft {
  /** The JSON that the person typed. */
  text: string;
  /** The stored JSON that it changes. */
  base: string;
  /** The digest of the stored agentflow; undefined for a new one. */
  digest?: string | undefined;
  /** When it was changed last, in epoch seconds. */
  at: number;
}

const prefix = 'agentflow-draft:';
const maxAgeSeconds = 30 * 86_400;

/** Keeps unsaved changes of this person to an agentflow in this browser, also after the tab is closed, for 30 days. */
export function useKeptDraft(id: string) {
  const name = `${prefix}${personId()}:${projectId}:${id}`;
  const [draft, set] = useState(() => {
    removeOldDrafts();
    return read(name);
  });
  const newest = useRef(draft);
  const keep = (next: KeptDraft | undefined) => {
    const before = newest.current;
    newest.current = next;
    set(next);
    // Another tab of the same person may have kept a draft since.
    if (next) store(name, next);
    else if (before?.at === read(name)?.at) localStorage.removeItem(name);
  };
  return { draft, keep, newest: () => newest.current };
}

function read(name: string): KeptDraft | undefined {
  const stored = localStorage.getItem(name);
  try {
    return stored === null ? undefined : (JSON.parse(stored) as KeptDraft);
  } catch {
    return undefined;
  }
}

function store(name: string, draft: KeptDraft): void {
  try {
    localStorage.setItem(name, JSON.stringify(draft));
  } catch {
    // A text that exceeds the storage quota is kept only until the person leaves the page.
  }
}

function removeOldDrafts(): void {
  const oldest = Date.now() / 1000 - maxAgeSeconds;
  const names = Object.keys(localStorage).filter((name) => name.startsWith(prefix));
  for (const name of names) if ((read(name)?.at ?? 0) < oldest) localStorage.removeItem(name);
}
