import { z } from 'zod';
import { AppError } from '../../base/errors.js';
import { queryNumber } from '../../base/validation.js';
import type { Collections } from '../../stores/collections.js';
import { epochSeconds } from '../../base/time.js';
import { isNoSlice } from '../executions/operations/filter.js';
import { defineOperation, reads } from '../operation.js';
import { Analytics, type Counted, type Status } from './schemas.js';

const secondsPerDay = 24 * 3600;
const secondsPerHour = 3600;
const maxHours = 48;
const defaultDays = 30;
const maxDays = 366;
const maxTimeMS = 20_000;

const Seconds = queryNumber(z.number().min(0).max(1e11));

/** Throws `invalid_request` if `from` is after `to` or the range is too long. */
export const readAnalytics = defineOperation({
  name: 'analytics.read',
  ...reads,
  input: z.object({
    from: Seconds.optional().describe(`Epoch seconds, inclusive. Defaults to ${defaultDays} days before \`to\`.`),
    to: Seconds.optional().describe('Epoch seconds, exclusive. Defaults to the current time.'),
  }),
  output: Analytics,
  async run({ deps, ctx, input: { to = epochSeconds(), from = Math.max(0, to - defaultDays * secondsPerDay) } }) {
    if (from > to) throw new AppError('invalid_request', 'from: must not be after to');
    if (to - from > maxDays * secondsPerDay)
      throw new AppError('invalid_request', `from, to: must be at most ${maxDays} days apart`);
    const { collections } = deps.mongo;
    const { projectId } = ctx.principal;
    const [{ by_day, by_hour, by_agentflow, ...counts }, charged, chargedByAgentflow] = await Promise.all([
      countExecutions(collections, projectId, from, to),
      creditsByHour(collections, projectId, from, to),
      creditsByAgentflow(collections, projectId, from, to),
    ]);
    const chargedByDay = new Map<string, number>();
    for (const [at, credits] of charged) chargedByDay.set(dayOf(at), (chargedByDay.get(dayOf(at)) ?? 0) + credits);
    return {
      projectID: projectId,
      from,
      to,
      ...counts,
      by_agentflow: await withCredits(collections, projectId, by_agentflow, chargedByAgentflow),
      by_day: by_day.map((day) => ({ ...day, credits: chargedByDay.get(day.day) ?? 0 })),
      by_hour: by_hour.map((hour) => ({ ...hour, credits: charged.get(hour.at) ?? 0 })),
      credits: [...charged.values()].reduce((sum, credits) => sum + credits, 0),
    };
  },
});

/** The executions that were created in an hour or on a day. */
interface Period {
  count: number;
  completed: number;
  failed: number;
  durations: number[];
}

const newPeriod = (): Period => ({ count: 0, completed: 0, failed: 0, durations: [] });

/** Counts in one pass, so that all counts cover the same executions. */
async function countExecutions(collections: Collections, projectId: string, from: number, to: number) {
  const by_status: Record<Status, number> = { ready: 0, running: 0, paused: 0, completed: 0, failed: 0 };
  const agentflows = new Map<string, { name: string; newest: number; count: number }>();
  const days = new Map(daysBetween(from, to).map((day) => [day, newPeriod()]));
  const hours = new Map(hoursBetween(from, to).map((at) => [at, newPeriod()]));
  const durations: number[] = [];
  let total = 0;
  const projection = { status: 1, agentflow_id: 1, 'agentflow.name': 1, created_at: 1, started_at: 1, end_time: 1 };
  const found = collections.executions.find<Counted>(
    { projectID: projectId, ...isNoSlice, created_at: { $gte: from, $lt: to } },
    { projection, maxTimeMS },
  );
  for await (const { status, agentflow_id, agentflow, created_at, started_at, end_time } of found) {
    total += 1;
    by_status[status] += 1;
    const duration = started_at === null || end_time === null ? undefined : end_time - started_at;
    if (duration !== undefined) durations.push(duration);
    const before = agentflows.get(agentflow_id) ?? { name: '', newest: -1, count: 0 };
    const newer = created_at >= before.newest ? { name: agentflow.name, newest: created_at } : before;
    agentflows.set(agentflow_id, { ...newer, count: before.count + 1 });
    for (const period of [days.get(dayOf(created_at)), hours.get(hourOf(created_at))]) {
      if (!period) continue;
      period.count += 1;
      if (status === 'completed' || status === 'failed') period[status] += 1;
      if (duration !== undefined) period.durations.push(duration);
    }
  }
  return {
    total,
    by_status,
    by_agentflow: [...agentflows]
      .map(([agentflow_id, { name, count }]) => ({ agentflow_id, name, count }))
      .sort((a, b) => b.count - a.count || a.agentflow_id.localeCompare(b.agentflow_id)),
    by_day: [...days].map(([day, period]) => ({ day, ...countsOf(period) })),
    by_hour: [...hours].map(([at, period]) => ({ at, ...countsOf(period) })),
    duration: durationOf(durations),
  };
}

const countsOf = ({ durations, ...counts }: Period) => ({ ...counts, p95: durationOf(durations).p95 });

function durationOf(durations: number[]): Analytics['duration'] {
  const sorted = Float64Array.from(durations).sort();
  return { count: sorted.length, p50: nearestRank(sorted, 50), p95: nearestRank(sorted, 95) };
}

/** The percentile by nearest rank, without interpolation. Null for an empty list. */
export function nearestRank(sorted: ArrayLike<number>, percent: number): number | null {
  return sorted[Math.max(1, Math.ceil((percent * sorted.length) / 100)) - 1] ?? null;
}

function dayOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 10);
}

function hourOf(seconds: number): number {
  return Math.floor(seconds / secondsPerHour) * secondsPerHour;
}

function hoursBetween(from: number, to: number): number[] {
  if (from === to || to - from > maxHours * secondsPerHour) return [];
  const first = hourOf(from);
  return Array.from({ length: Math.ceil((to - first) / secondsPerHour) }, (_, at) => first + at * secondsPerHour);
}

function daysBetween(from: number, to: number): string[] {
  if (from === to) return [];
  const first = Math.floor(from / secondsPerDay);
  return Array.from({ length: Math.ceil(to / secondsPerDay) - first }, (_, at) => dayOf((first + at) * secondsPerDay));
}

async function creditsByHour(collections: Collections, projectId: string, from: number, to: number) {
  const hour = { $subtract: ['$at', { $mod: ['$at', secondsPerHour] }] };
  const stages = [
    { $match: { project_id: projectId, at: { $gte: from, $lt: to } } },
    { $group: { _id: hour, credits: { $sum: '$credits' } } },
  ];
  const sums = collections.credit_history.aggregate<{ _id: number; credits: number }>(stages, { maxTimeMS });
  return new Map((await sums.toArray()).map(({ _id, credits }) => [Math.round(_id), credits]));
}

async function creditsByAgentflow(collections: Collections, projectId: string, from: number, to: number) {
  const stages = [
    { $match: { project_id: projectId, at: { $gte: from, $lt: to }, credits: { $gt: 0 } } },
    { $group: { _id: '$agentflow_id', credits: { $sum: '$credits' } } },
  ];
  const sums = collections.credit_history.aggregate<{ _id: string; credits: number }>(stages, { maxTimeMS });
  return new Map((await sums.toArray()).map(({ _id, credits }) => [_id, credits]));
}

/** Adds the credits of each agentflow, and the agentflows of which only earlier executions were charged. */
async function withCredits(
  { agentflows }: Collections,
  projectID: string,
  counted: readonly { agentflow_id: string; name: string; count: number }[],
  charged: ReadonlyMap<string, number>,
): Promise<Analytics['by_agentflow']> {
  const known = new Set(counted.map(({ agentflow_id }) => agentflow_id));
  const others = [...charged.keys()].filter((id) => !known.has(id));
  const found = await agentflows.find({ _id: { $in: others }, projectID }, { projection: { name: 1 } }).toArray();
  const uncounted = found.map(({ _id, name }) => ({ agentflow_id: _id, name, count: 0 }));
  return [...counted, ...uncounted].map((each) => ({ ...each, credits: charged.get(each.agentflow_id) ?? 0 }));
}
