import { z } from 'zod';
import { defineCollection, expiring, type Collections } from '../../stores/collections.js';

/** News of a running step, which follows the event `after_seq`. Each `attempt` starts from the beginning. */
const StepNews = z.object({
  after_seq: z.int(),
  agent_id: z.string(),
  step_id: z.string(),
  attempt: z.int(),
  n: z.int().describe('Counts from 1 within the attempt, so that a client that reconnects can skip the parts it has.'),
});
export type StepNews = z.infer<typeof StepNews>;

/** Part of the text of a running model turn. */
export const ModelDelta = StepNews.extend({ text: z.string() });

/** What an MCP server reported about a call that it works on. */
export const StepProgress = StepNews.extend({
  progress: z.number(),
  total: z.number().nullable(),
  message: z.string().nullable().describe('Text of the MCP server, cut after 500 characters.'),
});

/** What a step reports: a part of its text, or its progress. */
export type NewsContent = Pick<z.infer<typeof ModelDelta>, 'text'> | Omit<z.infer<typeof StepProgress>, keyof StepNews>;

/** `_id` is a `deltaId`, so that ids sort in the order of the news. Expires, because the event of the step has the result. */
export type ExecutionDeltaDocument = StepNews &
  NewsContent & {
    _id: string;
    /** Epoch seconds. */
    at: number;
    expires_at: Date;
  };

export function deltaId(
  executionId: string,
  { after_seq, attempt, n }: Pick<StepNews, 'after_seq' | 'attempt' | 'n'>,
): string {
  return [executionId, padded(after_seq), padded(attempt), padded(n)].join(':');
}

function padded(count: number): string {
  return String(count).padStart(10, '0');
}

const pageSize = 500;

/** The position before the news of the step that started with the event `after_seq`. */
export function beforeDeltas(executionId: string, after_seq: number): string {
  return deltaId(executionId, { after_seq, attempt: 0, n: 0 });
}

/** The news of a step after the position `last`, the id of a delta, in order. At most 500. */
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
