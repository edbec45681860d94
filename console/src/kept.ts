/** What this browser keeps for the person: the choices of this browser, or the drafts of this tab. */
export interface Kept {
  read(name: string): string | undefined;
  /** Undefined removes it. */
  keep(name: string, text: string | undefined): void;
  names(): readonly string[];
}

/**
 * A browser can refuse its storage, because it is blocked or full. Then the texts are kept in memory, until the person
 * leaves the page.
 */
function keptIn(area: 'localStorage' | 'sessionStorage'): Kept {
  const inMemory = new Map<string, string | undefined>();
  const storage = (): Storage | undefined => {
    try {
      return globalThis[area];
    } catch {
      return undefined;
    }
  };
  return {
    read: (name) => (inMemory.has(name) ? inMemory.get(name) : (storage()?.getItem(name) ?? undefined)),
    keep(name, text) {
      try {
        if (text === undefined) globalThis[area].removeItem(name);
        else globalThis[area].setItem(name, text);
        inMemory.delete(name);
      } catch {
        inMemory.set(name, text);
      }
    },
    names: () => [...new Set([...Object.keys(storage() ?? {}), ...inMemory.keys()])],
  };
}

/** Kept also after the browser is closed, for all tabs. */
export const keptInBrowser = keptIn('localStorage');
/** Kept across a reload, for this tab. */
export const keptInTab = keptIn('sessionStorage');

/** Returns the JSON value of a kept text; undefined if there is none, or it cannot be read. */
export function keptJson(kept: Kept, name: string): unknown {
  try {
    return JSON.parse(kept.read(name) ?? '') as unknown;
  } catch {
    return undefined;
  }
}
