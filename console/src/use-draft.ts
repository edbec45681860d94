import { useRef, useState } from 'react';
import { keptInTab } from './kept.js';
import { personId, projectId } from './session.js';

/** Removes a text after it was saved, and returns true. A text that has changed since it was sent is kept. */
type Forget = (sent: string) => boolean;

/** Keeps a text across a reload, for this person in this project. */
export function useDraft(key: string): [text: string, set: (text: string) => void, forget: Forget] {
  const name = `draft:${personId()}:${projectId}:${key}`;
  const [text, setText] = useState(() => keptInTab.read(name) ?? '');
  const newest = useRef(text);
  const set = (next: string) => {
    newest.current = next;
    setText(next);
    keptInTab.keep(name, next === '' ? undefined : next);
  };
  const forget = (sent: string) => {
    const isUnchanged = newest.current === sent;
    if (isUnchanged) set('');
    return isUnchanged;
  };
  return [text, set, forget];
}

/** Keeps an object like `useDraft`. It is removed when it has no fields. */
export function useJsonDraft<T extends object>(key: string) {
  const [stored, store, forget] = useDraft(key);
  const value = (stored === '' ? {} : JSON.parse(stored)) as Partial<T>;
  const set = (next: Partial<T>) => store(Object.keys(next).length === 0 ? '' : JSON.stringify(next));
  return [value, set, () => forget(stored)] as const;
}

export interface Edits {
  drafts: Record<string, string>;
  set(name: string, text: string): void;
  clear(): void;
}

/** Keeps several texts like `useDraft`. */
export function useDrafts(key: string): Edits {
  const [stored, store] = useJsonDraft<Edits['drafts']>(key);
  const drafts = stored as Edits['drafts'];
  const set = (name: string, text: string) => {
    const { [name]: _before, ...others } = drafts;
    store(text === '' ? others : { ...others, [name]: text });
  };
  return { drafts, set, clear: () => store({}) };
}
