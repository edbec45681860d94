import { z } from 'zod';
import { defineCollection, expiring, type Collections } from '../../stores/collections.js';

/** Part of the text of a running model turn. It follows the event `after_seq`. Each `attempt` starts again from the beginning. */
export const ModelDelta = z.object({
  after_seq: z.int(),
  agent_id: z.string(),
  step_id: z.string(),
  attempt: z.int(),
  n: z
    .int()
    .meta({
      description: 'Counts from 1 within the attempt, so that a client that reconnects can skip the parts it has.',
    }),
  text: z.string(),
});
export type ModelDelta = z.infer<typeof ModelDelta>;

/** `_id` is a `deltaId`, so that ids sort in the order of the text. Expires, because the event of the turn has the full text. */
export interface ExecutionDeltaDocument extends ModelDelta {
  _id: string;
  /** Epoch seconds. */
  at: number;
  expires_at: Date;
}

export function deltaId(
  executionId: string,
  { after_seq, attempt, n }: Pick<ModelDelta, 'after_seq' | 'attempt' | 'n'>,
): string {
  return [executionId, padded(after_seq), padded(attempt), padded(n)].join(':');
}

function padded(count: number): string {
  return String(count).padStart(10, '0');
}

const pageSize = 500;

/** The position before the deltas of the model turn that started with the event `after_seq`. */
export function beforeDeltas(executionId: string, after_seq: number): string {
  return deltaId(executionId, { after_seq, attempt: 0, n: 0 });
}

/** The deltas of a model turn after the position `last`, the id of a delta, in order. At most 500. */
export async function deltasAfter(
  { execution_deltas }: Pick<Collections, 'execution_deltas'>,
  executionId: string,
  after_seq: number,
  last: string,
): Promise<ExecutionDeltaDocument[]> {
  // ";" is the next character after ":".
  const end = `${executionId}:${padded(after_seq)};`;
  return execution_deltas
    .find({ _id: { $gt: last, $lt: end } })
    .sort({ _id: 1 })
    .limit(pageSize)
    .toArray();
}

export const executionDeltasCollection = defineCollection('execution_deltas', { indexes: [expiring] });

declare module '../../stores/collections.js' {
  interface Documents {
    execution_deltas: ExecutionDeltaDocument;
  }
}
