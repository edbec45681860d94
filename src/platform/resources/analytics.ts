import { z } from 'zod';
import type { Deps } from '../../deps.js';
import { AppError } from '../../errors.js';
import { defineRoute, type Route } from '../../http/define-route.js';
import type { Mongo } from '../../stores/mongo.js';
import { epochSeconds } from '../../time.js';
import type { ExecutionDocument } from './executions/record.js';

const secondsOfDay = 24 * 3600;
const defaultDays = 30;
const daysAtMost = 366;
const maxTimeMS = 20_000;

const Seconds = z.coerce.number().min(0).max(1e11);
type Status = ExecutionDocument['status'];

/** What was executed in a project between two times (contract, analytics). Times and durations are seconds. */
export const Analytics = z
  .object({
    projectID: z.string(),
    from: z.number(),
    to: z.number(),
    total: z.int().meta({ description: 'Executions that were created from `from` on and before `to`.' }),
    by_status: z.object({ ready: z.int(), running: z.int(), paused: z.int(), completed: z.int(), failed: z.int() } satisfies Record<Status, z.ZodType>),
    by_agentflow: z.array(z.object({ agentflow_id: z.string(), name: z.string(), count: z.int() })).meta({ description: 'Most executed first; `name` as of the newest execution.' }),
    by_day: z.array(z.object({ day: z.iso.date(), count: z.int() })).meta({ description: 'Each UTC day that the range touches.' }),
    duration: z
      .object({ count: z.int(), p50: z.number().nullable(), p95: z.number().nullable() })
      .meta({ description: 'Seconds from the begin of a run to its end, of those that have ended; percentiles by nearest rank, null without any.' }),
    credits: z.number().meta({ description: 'Credits that were charged from `from` on and before `to`.' }),
  })
  .meta({
    id: 'Analytics',
    example: {
      projectID: '0199a6f0-0000-7c11-8d52-3f6f0e6f7a10',
      from: 1763942400,
      to: 1764028800,
      total: 3,
      by_status: { ready: 0, running: 0, paused: 0, completed: 2, failed: 1 },
      by_agentflow: [{ agentflow_id: '0199a6f0-1111-7c11-8d52-3f6f0e6f7a10', name: 'Newcomer guide', count: 3 }],
      by_day: [{ day: '2025-11-24', count: 3 }],
      duration: { count: 3, p50: 4.2, p95: 9.75 },
      credits: 3,
    },
  });
export type Analytics = z.infer<typeof Analytics>;

export function analyticsRoutes({ mongo }: Pick<Deps, 'mongo'>): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/analytics/{projectID}',
      permission: 'svc:orchestrate.read',
      tag: 'analytics',
      params: z.object({ projectID: z.string() }),
      query: z.object({
        projectID: z.string().optional(),
        from: Seconds.optional().meta({ description: `Epoch seconds, inclusive; without it ${defaultDays} days before \`to\`.` }),
        to: Seconds.optional().meta({ description: 'Epoch seconds, exclusive; without it now.' }),
      }),
      summary: 'Count what was executed in a time',
      response: { schema: Analytics, description: 'Counts of executions by their creation, of durations and of credits.' },
      handler: ({ ctx, query: { to = epochSeconds(), from = Math.max(0, to - defaultDays * secondsOfDay) } }) =>
        analyse(mongo, ctx.principal.projectId, from, to),
    }),
  ];
}

/** @throws AppError `invalid_request` for a range that runs backwards or is too long */
async function analyse(mongo: Mongo, projectId: string, from: number, to: number): Promise<Analytics> {
  if (from > to) throw new AppError('invalid_request', 'from: is after to');
  if (to - from > daysAtMost * secondsOfDay) throw new AppError('invalid_request', `from, to: at most ${daysAtMost} days apart`);
  const [counts, credits] = await Promise.all([countExecutions(mongo, projectId, from, to), sumCredits(mongo, projectId, from, to)]);
  return { projectID: projectId, from, to, ...counts, credits };
}

type Counted = Pick<ExecutionDocument, 'status' | 'agentflow_id' | 'created_at' | 'started_at' | 'end_time'> & { agentflow: { name: string } };

/** In one pass, so that all counts are of the same executions. */
async function countExecutions({ collections }: Mongo, projectId: string, from: number, to: number) {
  const by_status: Record<Status, number> = { ready: 0, running: 0, paused: 0, completed: 0, failed: 0 };
  const agentflows = new Map<string, { name: string; newest: number; count: number }>();
  const days = new Map(daysBetween(from, to).map((day) => [day, 0]));
  const durations: number[] = [];
  let total = 0;
  const projection = { status: 1, agentflow_id: 1, 'agentflow.name': 1, created_at: 1, started_at: 1, end_time: 1 };
  const found = collections.executions.find<Counted>({ projectID: projectId, created_at: { $gte: from, $lt: to } }, { projection, maxTimeMS });
  for await (const { status, agentflow_id, agentflow, created_at, started_at, end_time } of found) {
    total += 1;
    by_status[status] += 1;
    const day = dayOf(created_at);
    days.set(day, (days.get(day) ?? 0) + 1);
    const before = agentflows.get(agentflow_id) ?? { name: '', newest: -1, count: 0 };
    const newer = created_at >= before.newest ? { name: agentflow.name, newest: created_at } : before;
    agentflows.set(agentflow_id, { ...newer, count: before.count + 1 });
    if (started_at !== null && end_time !== null) durations.push(end_time - started_at);
  }
  return {
    total,
    by_status,
    by_agentflow: [...agentflows]
      .map(([agentflow_id, { name, count }]) => ({ agentflow_id, name, count }))
      .sort((a, b) => b.count - a.count || a.agentflow_id.localeCompare(b.agentflow_id)),
    by_day: [...days].map(([day, count]) => ({ day, count })),
    duration: durationOf(durations),
  };
}

function durationOf(durations: number[]): Analytics['duration'] {
  const sorted = Float64Array.from(durations).sort();
  return { count: sorted.length, p50: nearestRank(sorted, 50), p95: nearestRank(sorted, 95) };
}

/** The smallest value that at least `percent` of all values do not exceed (nearest rank, without interpolation). */
export function nearestRank(sorted: ArrayLike<number>, percent: number): number | null {
  return sorted[Math.max(1, Math.ceil((percent * sorted.length) / 100)) - 1] ?? null;
}

function dayOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 10);
}

function daysBetween(from: number, to: number): string[] {
  if (from === to) return [];
  const first = Math.floor(from / secondsOfDay);
  return Array.from({ length: Math.ceil(to / secondsOfDay) - first }, (_, at) => dayOf((first + at) * secondsOfDay));
}

/** `at` is when a charge was made. */
async function sumCredits({ collections }: Mongo, projectId: string, from: number, to: number): Promise<number> {
  const stages = [{ $match: { project_id: projectId, at: { $gte: from, $lt: to } } }, { $group: { _id: null, credits: { $sum: '$credits' } } }];
  const [sum] = await collections.credit_history.aggregate<{ credits: number }>(stages, { maxTimeMS }).toArray();
  return sum?.credits ?? 0;
}
