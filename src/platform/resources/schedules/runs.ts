import { ScheduleNotFoundError, type ScheduleDescription } from '@temporalio/client';
import type { Principal } from '../../../auth/principal.js';
import type { Deps } from '../../../deps.js';
import { AppError } from '../../../errors.js';
import type { ListQuery } from '../../../http/lists.js';
import { epochSeconds } from '../../../time.js';
import type { ScheduleDocument, ScheduleRunDocument } from './record.js';
import type { ScheduleRun, ScheduleRuns } from './schemas.js';
import { readSchedule } from './store.js';
import { onSchedule, plannedAtMost, plannedBetween } from './temporal.js';

/** How far back planned times are compared with what fired. */
const lookBackSeconds = 7 * 24 * 3600;
const atMost = 1000;
/** A run that is this young may be on its way. */
const settledSeconds = 10;
const nextShown = 10;

/** What fired, what was planned and did not, and why; and the next ten (contract, schedules). */
export async function listRuns(deps: Deps, principal: Principal, id: string, query: ListQuery): Promise<ScheduleRuns> {
  const record = await readSchedule(deps, principal, id);
  const { schedule_runs } = deps.mongo.collections;
  const after = query.cursor === undefined ? undefined : placeOf(query.cursor);
  const [stored, fired, live] = await Promise.all([
    schedule_runs.find({ schedule_id: id, ...(after && { scheduled_for: { $lte: after.at } }) }).sort({ scheduled_for: -1 }).limit(atMost).toArray(),
    schedule_runs.countDocuments({ schedule_id: id }),
    describe(deps, id),
  ]);
  const idle = live ? await idleTimes(deps, record, stored, live) : [];
  const all = [...stored.map((run) => ({ key: run._id, run: firedRun(run, deps.temporal.uiLink(run._id)) })), ...idle.map((run) => ({ key: '', run }))].sort(
    (a, b) => b.run.scheduled_for - a.run.scheduled_for || b.key.localeCompare(a.key),
  );
  const rest = after ? all.filter(({ key, run: { scheduled_for: at } }) => at < after.at || (at === after.at && key.localeCompare(after.key) < 0)) : all;
  const page = rest.slice(0, query.limit);
  const last = page.at(-1);
  return {
    data: page.map(({ run }) => run),
    total_count: fired + idle.length,
    next_cursor: rest.length > query.limit && last ? Buffer.from(`run:${last.run.scheduled_for}:${last.key}`).toString('base64url') : null,
    next: record.status === 'active' ? (live?.info.nextActionTimes ?? []).slice(0, nextShown).map((at) => at.getTime() / 1000) : [],
    skipped_overlap: live?.info.numActionsSkippedOverlap ?? 0,
    missed_catchup: live?.info.numActionsMissedCatchupWindow ?? 0,
  };
}

function placeOf(cursor: string): { at: number; key: string } {
  const [, at, key = ''] = /^run:(\d+(?:\.\d+)?):(.*)$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (at === undefined) throw new AppError('invalid_request', 'cursor: not a cursor of this list');
  return { at: Number(at), key };
}

async function describe({ temporal }: Deps, id: string) {
  try {
    return await onSchedule(temporal, id, (handle) => handle.describe());
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return undefined;
    throw error;
  }
}

function firedRun({ scheduled_for, started_at, ended_at, status, executions, error }: ScheduleRunDocument, temporal_ui_url: string): ScheduleRun {
  return { scheduled_for, started_at, ended_at, status, reason: null, executions, error, temporal_ui_url };
}

/** Planned times at which nothing fired. Temporal only counts them; which they were follows from its calendars. */
async function idleTimes(deps: Deps, record: ScheduleDocument, fired: readonly ScheduleRunDocument[], { raw }: ScheduleDescription): Promise<ScheduleRun[]> {
  const isOver = record.status === 'completed';
  const to = isOver ? (fired[0]?.scheduled_for ?? 0) : epochSeconds() - settledSeconds - record.jitter;
  const planned = await newestPlanned(deps, record, Math.max(record.times_since, to - lookBackSeconds), to);
  const idle = planned.filter((at) => !fired.some(({ scheduled_for }) => scheduled_for > at - record.jitter - 1 && scheduled_for <= at + record.jitter));
  // What is buffered behind a run that goes on is yet to fire.
  const runningSince = Math.min(...fired.filter(({ ended_at }) => ended_at === null).map(({ started_at }) => started_at));
  const waiting = new Set(idle.filter((at) => at >= runningSince - 1).slice(0, Number(raw.info?.bufferSize ?? 0)));
  return idle
    .filter((at) => !waiting.has(at))
    .map((at) => {
      const reason = reasonAt(record, fired, at);
      const status = reason === 'catchup_window' ? ('missed' as const) : ('skipped' as const);
      return { started_at: null, ended_at: null, executions: [], error: null, temporal_ui_url: null, scheduled_for: at, status, reason };
    });
}

/** Temporal tells the first times of a range only, so the range is made shorter until it tells the last one too. */
async function newestPlanned({ temporal }: Deps, { _id }: ScheduleDocument, from: number, to: number): Promise<number[]> {
  for (let start = from; start < to; start = to - (to - start) / 10) {
    const planned = await plannedBetween(temporal, _id, start, to);
    if (planned.length < plannedAtMost) return planned;
  }
  return [];
}

function reasonAt({ pauses }: ScheduleDocument, fired: readonly ScheduleRunDocument[], at: number): string {
  if (pauses.some(({ from, to }) => from <= at && (to === null || at <= to))) return 'paused';
  const runs = fired.some(({ started_at, ended_at }) => started_at <= at + 1 && (ended_at === null || ended_at >= at));
  return runs ? 'overlap' : 'catchup_window';
}
