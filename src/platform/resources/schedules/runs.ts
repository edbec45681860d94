import { ScheduleNotFoundError } from '@temporalio/client';
import type { Principal } from '../../../auth/principal.js';
import type { Deps } from '../../../deps.js';
import { AppError } from '../../../errors.js';
import type { ListQuery } from '../../../http/lists.js';
import { epochSeconds } from '../../../time.js';
import type { ScheduleDocument, ScheduleRunDocument } from './record.js';
import type { ScheduleRun, ScheduleRuns } from './schemas.js';
import { readSchedule } from './store.js';
import { onSchedule, plannedBetween } from './temporal.js';

/** How far back planned times are compared with what fired. */
const lookBackSeconds = 7 * 24 * 3600;
const atMost = 1000;
/** A run that is this young may be on its way. */
const settledSeconds = 10;
const nextShown = 10;

/** What fired, what was planned and did not, and why; and the next ten (contract, schedules). */
export async function listRuns(deps: Deps, principal: Principal, id: string, query: ListQuery): Promise<ScheduleRuns> {
  const record = await readSchedule(deps, principal, id);
  const stored = await deps.mongo.collections.schedule_runs.find({ schedule_id: id }).sort({ scheduled_for: -1 }).limit(atMost).toArray();
  const live = await describe(deps, id);
  const idle = live ? await idleTimes(deps, record, stored) : [];
  const all = [...stored.map(firedRun), ...idle].sort((a, b) => b.scheduled_for - a.scheduled_for);
  const start = startOf(query.cursor);
  const data = all.slice(start, start + query.limit);
  return {
    data,
    total_count: all.length,
    next_cursor: all.length > start + query.limit ? Buffer.from(`runs:${start + query.limit}`).toString('base64url') : null,
    next: record.status === 'active' ? (live?.info.nextActionTimes ?? []).slice(0, nextShown).map((at) => at.getTime() / 1000) : [],
    skipped_overlap: live?.info.numActionsSkippedOverlap ?? 0,
    missed_catchup: live?.info.numActionsMissedCatchupWindow ?? 0,
  };
}

function startOf(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const at = /^runs:(\d{1,6})$/.exec(Buffer.from(cursor, 'base64url').toString())?.[1];
  if (at === undefined) throw new AppError('invalid_request', 'cursor: not a cursor of this list');
  return Number(at);
}

async function describe({ temporal }: Deps, id: string) {
  try {
    return await onSchedule(temporal, id, (handle) => handle.describe());
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return undefined;
    throw error;
  }
}

function firedRun({ scheduled_for, started_at, ended_at, status, executions, error }: ScheduleRunDocument): ScheduleRun {
  return { scheduled_for, started_at, ended_at, status, reason: null, executions, error };
}

/** Planned times at which nothing fired. Temporal only counts them; which they were follows from its calendars. */
async function idleTimes({ temporal }: Deps, record: ScheduleDocument, fired: readonly ScheduleRunDocument[]): Promise<ScheduleRun[]> {
  const to = epochSeconds() - settledSeconds - record.jitter;
  const from = Math.max(record.times_since, record.schedule - 1, to - lookBackSeconds);
  if (from >= to || record.status === 'completed') return [];
  const planned = (await plannedBetween(temporal, record._id, from, to)).slice(-atMost);
  const wasFired = (at: number) => fired.some(({ scheduled_for }) => scheduled_for >= at - 0.001 && scheduled_for <= at + record.jitter + 0.001);
  return planned
    .filter((at) => !wasFired(at))
    .map((at) => {
      const reason = reasonAt(record, fired, at);
      const nothing = { started_at: null, ended_at: null, executions: [], error: null };
      return { ...nothing, scheduled_for: at, status: reason === 'overlap' ? ('skipped' as const) : ('missed' as const), reason };
    });
}

function reasonAt({ pauses }: ScheduleDocument, fired: readonly ScheduleRunDocument[], at: number): string {
  if (pauses.some(({ from, to }) => from <= at && (to === null || at <= to))) return 'paused';
  const runs = fired.some(({ started_at, ended_at }) => started_at <= at + 1 && (ended_at === null || ended_at >= at));
  return runs ? 'overlap' : 'catchup_window';
}
