import { z } from 'zod';
import { exampleId, Id, UserId } from '../../base/ids.js';
import { EpochSeconds } from '../../base/time.js';

/** The author, source and time of a save. A save stamps everything that it writes. */
export interface Stamp {
  saved_by: string;
  source: string | null;
  recorded_at: number;
  lifecycle_id: string;
}

/**
 * The position of a finding in a memory: the characters from `start` to before `end` of its text, or of the text of its
 * turn. Positions count UTF-16 code units. Turns count from 0.
 */
export interface Span {
  memory_id: string;
  turn: number | null;
  start: number;
  end: number;
}

/** The call that returned the element. `run` is the execution that made the call, if any. */
export interface Consumption {
  lifecycle_id: string;
  run: string | null;
  at: number;
}

export const Provenance = z
  .object({
    saved_by: UserId.nullable(),
    source: z.string().nullable().meta({ example: 'catalog' }),
    recorded_at: EpochSeconds.nullable().describe('Epoch seconds.'),
    span: z
      .object({ memory_id: Id, turn: z.int().nullable(), start: z.int(), end: z.int() })
      .optional()
      .describe('Which characters of the remembered text or turn say so.')
      .meta({ example: { memory_id: exampleId, turn: null, start: 0, end: 24 } }),
    consumed: z.object({ lifecycle_id: Id, run: Id.nullable(), at: EpochSeconds }),
  })
  .meta({ id: 'Provenance', description: 'Who saved it, from which source and when, and which call received it.' });
type Provenance = z.infer<typeof Provenance>;

export function stampProperties(stamp: Stamp): Record<string, unknown> {
  return {
    _saved_by: stamp.saved_by,
    _source: stamp.source,
    _recorded_at: stamp.recorded_at,
    _lifecycle_id: stamp.lifecycle_id,
  };
}

/** Returns the properties that are added to the stamp of elements that were extracted from a text. */
export function spanProperties({ memory_id, turn, start, end }: Span): Record<string, unknown> {
  return { _memory_id: memory_id, _turn: turn, _span_start: start, _span_end: end };
}

const spanNames = ['_memory_id', '_turn', '_span_start', '_span_end'];
const stampNames = ['_saved_by', '_source', '_recorded_at', '_lifecycle_id'];

/** Returns the stamp of a stored element, for writing it again. */
export function stampIn(properties: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const stamp = Object.fromEntries(stampNames.map((name) => [name, properties[name] ?? null]));
  const span = spanNames.flatMap((name) => (properties[name] == null ? [] : [[name, properties[name]] as const]));
  return { ...stamp, ...Object.fromEntries(span) };
}

export function provenanceOf(properties: Readonly<Record<string, unknown>>, consumed: Consumption): Provenance {
  const text = (value: unknown) => (typeof value === 'string' ? value : null);
  const recordedAt = properties._recorded_at;
  const span = spanIn(properties);
  return {
    saved_by: text(properties._saved_by),
    source: text(properties._source),
    recorded_at: typeof recordedAt === 'number' ? recordedAt : null,
    ...(span && { span }),
    consumed,
  };
}

function spanIn({ _memory_id, _turn, _span_start, _span_end }: Readonly<Record<string, unknown>>): Span | undefined {
  if (typeof _memory_id !== 'string' || _span_start == null || _span_end == null) return undefined;
  const turn = _turn == null ? null : Number(_turn);
  return { memory_id: _memory_id, turn, start: Number(_span_start), end: Number(_span_end) };
}
