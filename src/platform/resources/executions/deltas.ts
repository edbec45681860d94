import { z } from 'zod';
import type { Collections } from '../../../stores/collections.js';

/** Words of a model turn as they come. They stand behind the event `after_seq`; a later `attempt` begins anew. */
export const ModelDelta = z.object({
  after_seq: z.int(),
  agent_id: z.string(),
  step_id: z.string(),
  attempt: z.int(),
  n: z.int().meta({ description: 'Counts from 1 within the attempt, so that a client that comes back knows what it has.' }),
  text: z.string(),
});
export type ModelDelta = z.infer<typeof ModelDelta>;

/** `_id` is of `deltaId`, so that ids sort as the words do. Deleted an hour later: the turn's whole text is in its event. */
export interface ExecutionDeltaDocument extends ModelDelta {
  _id: string;
  /** Epoch seconds. */
  at: number;
  expires_at: Date;
}

export function deltaId(executionId: string, { after_seq, attempt, n }: Pick<ModelDelta, 'after_seq' | 'attempt' | 'n'>): string {
  return [executionId, padded(after_seq), padded(attempt), padded(n)].join(':');
}

function padded(count: number): string {
  return String(count).padStart(10, '0');
}

const pageSize = 500;

export interface DeltaReader {
  /** What is new since the last call, in order. */
  next(): Promise<ExecutionDeltaDocument[]>;
}

/** Reads the words of the model turn that began with the event `after_seq`. */
export function createDeltaReader({ execution_deltas }: Pick<Collections, 'execution_deltas'>, executionId: string, after_seq: number): DeltaReader {
  let last = deltaId(executionId, { after_seq, attempt: 0, n: 0 });
  // ";" follows on ":".
  const end = `${executionId}:${padded(after_seq)};`;
  return {
    async next() {
      const found = await execution_deltas.find({ _id: { $gt: last, $lt: end } }).sort({ _id: 1 }).limit(pageSize).toArray();
      last = found.at(-1)?._id ?? last;
      return found;
    },
  };
}
