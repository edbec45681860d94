import { useState } from 'react';
import { isFields } from './document.js';

/** The maximum number of texts that are kept. */
const maxEntries = 100;

interface Entries {
  past: readonly string[];
  future: readonly string[];
  /** Where the last change was; further typing at this place is the same change. */
  place: string | undefined;
}

export interface History {
  canUndo: boolean;
  canRedo: boolean;
  /** Notes the text before a change. Typing in one field is one change until `settle`. */
  note(before: string, place: string | undefined): void;
  /** Returns the text before the last change. */
  undo(current: string): string | undefined;
  redo(current: string): string | undefined;
  /** Ends a change: what follows is another one. */
  settle(): void;
}

const nothing: Entries = { past: [], future: [], place: undefined };

/** The changes of a text that can be undone, while the page is open. */
export function useHistory(): History {
  const [{ past, future, place: last }, set] = useState(nothing);
  return {
    canUndo: past.length > 0,
    canRedo: future.length > 0,
    note(before, place) {
      const isSame = place !== undefined && place === last && future.length === 0;
      set({ past: isSame ? past : [...past, before].slice(-maxEntries), future: [], place });
    },
    undo(current) {
      const before = past.at(-1);
      if (before !== undefined) set({ past: past.slice(0, -1), future: [current, ...future], place: undefined });
      return before;
    },
    redo(current) {
      const [after, ...others] = future;
      if (after !== undefined) set({ past: [...past, current], future: others, place: undefined });
      return after;
    },
    settle: () => set((entries) => (entries.place === undefined ? entries : { ...entries, place: undefined })),
  };
}

/** The path of the only text or number that differs between two documents; undefined if more has changed. */
export function changedPlace(before: unknown, after: unknown, path = ''): string | undefined {
  if (typeof before === 'string' && typeof after === 'string') return path;
  const isPair = (Array.isArray(before) && Array.isArray(after)) || (isFields(before) && isFields(after));
  if (!isPair) return undefined;
  const [one, other] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  const names = [...new Set([...one.keys(), ...other.keys()])];
  const [changed = '', ...more] = names.filter(
    (name) => JSON.stringify(one.get(name)) !== JSON.stringify(other.get(name)),
  );
  if (changed === '' || more.length > 0) return undefined;
  return changedPlace(one.get(changed), other.get(changed), `${path}.${changed}`);
}
