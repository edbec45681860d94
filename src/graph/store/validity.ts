/**
 * The validity of an entity or relationship in epoch seconds: from `valid_from` until before `valid_to`. Null means
 * unlimited.
 */
export interface OwnValidity {
  valid_from: number | null;
  valid_to: number | null;
}

/** Returns the internal properties. An entity may have its own properties with the names of the fields. */
export function validityProperties({ valid_from, valid_to }: OwnValidity): { _since: unknown; _until: unknown } {
  return { _since: valid_from, _until: valid_to };
}

export function validityIn({ _since, _until }: Readonly<Record<string, unknown>>): OwnValidity {
  const time = (value: unknown) => (typeof value === 'number' ? value : null);
  return { valid_from: time(_since), valid_to: time(_until) };
}

/** Merges the validity of a save with the stored one. Null removes a time, and a missing time does not change it. */
export function mergedValidity(
  before: OwnValidity | undefined,
  changes: { [Name in keyof OwnValidity]?: number | null | undefined } = {},
): OwnValidity {
  const time = (name: keyof OwnValidity) => {
    const value = changes[name];
    return value === undefined ? (before?.[name] ?? null) : value;
  };
  return { valid_from: time('valid_from'), valid_to: time('valid_to') };
}

export function isSameValidity(a: OwnValidity, b: OwnValidity): boolean {
  return a.valid_from === b.valid_from && a.valid_to === b.valid_to;
}

/** In seconds. Shorter times are lost in numbers for the 17th century and before. */
const shortestValidity = 1e-3;

/** Returns the start of a fact that names none: the time when it was stated, or just before its end if that is earlier. */
export function startBefore(end: number | null | undefined, stated: number): number {
  return Math.min(stated, (end ?? Infinity) - shortestValidity);
}

/** Returns whether a statement says only when something ended, so that `startBefore` chose its start. */
export function saysOnlyEnd({ valid_from, valid_to }: { valid_from: number; valid_to: number | null }): boolean {
  return valid_to !== null && valid_from === startBefore(valid_to, Infinity);
}
