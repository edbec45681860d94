import { z } from 'zod';
import type { ExecutionDocument } from '../executions/record.js';

export type Status = ExecutionDocument['status'];

const counts = { count: z.int(), completed: z.int(), failed: z.int(), p95: z.number().nullable(), credits: z.number() };

/** Execution statistics of a project for a time range (contract, analytics). Times and durations are in seconds. */
export const Analytics = z
  .object({
    projectID: z.string(),
    from: z.number(),
    to: z.number(),
    total: z.int().describe('Number of executions created from `from` (inclusive) to `to` (exclusive).'),
    by_status: z.object({
      ready: z.int(),
      running: z.int(),
      paused: z.int(),
      completed: z.int(),
      failed: z.int(),
    } satisfies Record<Status, z.ZodType>),
    by_agentflow: z
      .array(z.object({ agentflow_id: z.string(), name: z.string(), count: z.int(), credits: z.number() }))
      .describe(
        'In descending order of `count`. `name` is taken from the newest execution. `credits` were charged in the range, also for executions created before it. Remembered texts belong to no agentflow.',
      ),
    by_day: z
      .array(z.object({ day: z.iso.date(), ...counts }))
      .describe(
        'One entry for each UTC day in the range: the executions created on it, the 95th percentile of their durations, and the credits charged on it.',
      ),
    by_hour: z
      .array(z.object({ at: z.number(), ...counts }))
      .describe(
        'Like `by_day`, with one entry for each hour of a range of at most 48 hours. Empty for a longer range.',
      ),
    duration: z
      .object({ count: z.int(), p50: z.number().nullable(), p95: z.number().nullable() })
      .describe(
        'Durations in seconds of the executions that have ended. Percentiles use the nearest rank; they are null if no execution has ended.',
      ),
    credits: z.number().describe('Credits charged from `from` (inclusive) to `to` (exclusive).'),
  })
  .meta({
    id: 'Analytics',
    example: {
      projectID: '0199a6f0-0000-7c11-8d52-3f6f0e6f7a10',
      from: 1763942400,
      to: 1764028800,
      total: 3,
      by_status: { ready: 0, running: 0, paused: 0, completed: 2, failed: 1 },
      by_agentflow: [
        { agentflow_id: '0199a6f0-1111-7c11-8d52-3f6f0e6f7a10', name: 'Newcomer guide', count: 3, credits: 3 },
      ],
      by_day: [{ day: '2025-11-24', count: 3, completed: 2, failed: 1, p95: 9.75, credits: 3 }],
      by_hour: [{ at: 1764025200, count: 3, completed: 2, failed: 1, p95: 9.75, credits: 3 }],
      duration: { count: 3, p50: 4.2, p95: 9.75 },
      credits: 3,
    },
  });
export type Analytics = z.infer<typeof Analytics>;

export type Counted = Pick<ExecutionDocument, 'status' | 'agentflow_id' | 'created_at' | 'started_at' | 'end_time'> & {
  agentflow: { name: string };
};
