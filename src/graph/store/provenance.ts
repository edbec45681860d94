/** Who saved something, from which source and when. A save stamps everything that it writes. */
export interface Stamp {
  saved_by: string;
  source: string | null;
  recorded_at: number;
  lifecycle_id: string;
}

/** The call that returned it. `run` is the execution that made the call, if any. */
export interface Consumption {
  lifecycle_id: string;
  run: string | null;
  at: number;
}

export interface Provenance {
  saved_by: string | null;
  source: string | null;
  recorded_at: number | null;
  consumed: Consumption;
}

export function stampProperties(stamp: Stamp): Record<string, unknown> {
  return {
    _saved_by: stamp.saved_by,
    _source: stamp.source,
    _recorded_at: stamp.recorded_at,
    _lifecycle_id: stamp.lifecycle_id,
  };
}

const stampNames = ['_saved_by', '_source', '_recorded_at', '_lifecycle_id'];

/** The stamp of a stored element, for writing it again. */
export function stampIn(properties: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(stampNames.map((name) => [name, properties[name] ?? null]));
}

export function provenanceOf(properties: Readonly<Record<string, unknown>>, consumed: Consumption): Provenance {
  const text = (value: unknown) => (typeof value === 'string' ? value : null);
  const recordedAt = properties._recorded_at;
  return {
    saved_by: text(properties._saved_by),
    source: text(properties._source),
    recorded_at: typeof recordedAt === 'number' ? recordedAt : null,
    consumed,
  };
}
