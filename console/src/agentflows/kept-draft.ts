import { useRef, useState } from 'react';
import { keptInBrowser, keptJson } from '../kept.js';
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
    if (next) keptInBrowser.keep(name, JSON.stringify(next));
    else if (before?.at === read(name)?.at) keptInBrowser.keep(name, undefined);
  };
  return { draft, keep, newest: () => newest.current };
}

const read = (name: string) => keptJson(keptInBrowser, name) as KeptDraft | undefined;

function removeOldDrafts(): void {
  const oldest = Date.now() / 1000 - maxAgeSeconds;
  const names = keptInBrowser.names().filter((name) => name.startsWith(prefix));
  for (const name of names) if ((read(name)?.at ?? 0) < oldest) keptInBrowser.keep(name, undefined);
}
