import type { ScheduleDescription } from '@temporalio/client';
import { z } from 'zod';
import { scheduleId } from '../../../workflows/coworker-run/messages.js';
import type { Deps } from '../deps.js';
import { countUpTo, decodePosition, ListQuery, pageOf } from '../../stores/lists.js';
import { onScheduleIfAny } from '../../temporal/client.js';
import { epochSeconds } from '../../base/time.js';
import { defineOperation, reads } from '../operation.js';
import { findSchedule, type ScheduleDocument, type ScheduleRunDocument } from './record.js';
import { ScheduleRuns, type ScheduleRun } from './schemas.js';
import { maxPlannedTimes, plannedBetween } from './planned-times.js';
import { plannedTime } from './times.js';
import { Id } from '../../base/ids.js';
import { pick } from '../../base/pick.js';

/** How far back planned times are compared with runs. */
const lookBackSeconds = 7 * 24 * 3600;
const maxRuns = 1000;
/** A planned time that is more recent than this may be about to fire. */
const settledSeconds = 10;
/** Temporal describes a schedule with this many of its next times. */
export const maxNextTimes = 10;

/** Runs, planned times that did not fire with their reasons, and the next ten times (contract, schedules). */
export const listRuns = defineOperation({
  name: 'schedule.list-runs',
  ...reads,
  key: z.object({ id: Id }),
  input: ListQuery,
  output: ScheduleRuns,
  async run({ deps, ctx: { principal }, key: { id }, input }) {
    const record = await findSchedule(deps, principal, id);
    const { schedule_runs } = deps.mongo.collections;
    const until = input.cursor === undefined ? undefined : decodePosition(input.cursor).at;
    const [stored, fired, live] = await Promise.all([
      // Without their executions, of which a run over the rows of a table has up to a thousand.
      schedule_runs
        .find({ schedule_id: id, ...(until != null && { scheduled_for: { $lte: until } }) })
        .project<FiredRun>({ executions: 0 })
        .sort({ scheduled_for: -1 })
        .limit(maxRuns)
        .toArray(),
      countUpTo(schedule_runs, { schedule_id: id }),
      onScheduleIfAny(deps.temporal, scheduleId(id), (handle) => handle.describe()),
    ]);
    const idle = live ? await idleTimes(deps, record, stored, live) : [];
    const all = [
      ...stored.map((run) => ({ at: run.scheduled_for, id: run._id, item: run })),
      ...idle.map((run) => ({ at: run.scheduled_for, id: '', item: run })),
    ];
    const page = pageOf<FiredRun | ScheduleRun>(all, input);
    const ids = page.data.flatMap((run) => ('_id' in run ? [run._id] : []));
    const shown = await schedule_runs.find({ _id: { $in: ids } }).toArray();
    const byId = new Map(shown.map((run) => [run._id, toScheduleRun(run, deps.temporal.uiLink(run._id))]));
    return {
      ...page,
      data: page.data.flatMap((run) => ('_id' in run ? (byId.get(run._id) ?? []) : [run])),
      ...{ ...fired, total_count: fired.total_count + idle.length },
      next:
        record.status === 'active'
          ? (live?.info.nextActionTimes ?? []).slice(0, maxNextTimes).map((at) => at.getTime() / 1000)
          : [],
      temporal_ui_url: deps.temporal.scheduleUiLink(scheduleId(id)),
      skipped_overlap: live?.info.numActionsSkippedOverlap ?? 0,
      missed_catchup: live?.info.numActionsMissedCatchupWindow ?? 0,
    };
  },
});

type FiredRun = Omit<ScheduleRunDocument, 'executions'>;

function toScheduleRun(run: ScheduleRunDocument, temporal_ui_url: string): ScheduleRun {
  const stored = pick(run, 'scheduled_for', 'started_at', 'ended_at', 'status', 'executions', 'error');
  return { ...stored, reason: null, temporal_ui_url };
}

/** Planned times that did not fire. Temporal only counts them, so they are derived from its calendars. */
async function idleTimes(
  deps: Deps,
  record: ScheduleDocument,
  runs: readonly FiredRun[],
  live: ScheduleDescription,
): Promise<ScheduleRun[]> {
  const fired = runs.filter(({ is_triggered }) => is_triggered !== true);
  const isOver = record.limit !== null && live.state.remainingActions === 0;
  const to = isOver ? (fired[0]?.scheduled_for ?? 0) : epochSeconds() - settledSeconds - record.jitter;
  const planned = await newestPlanned(deps, record, Math.max(record.times_since, to - lookBackSeconds), to);
  const times = new Set(fired.map(({ scheduled_for }) => scheduled_for));
  const idle = planned.filter((at) => !times.has(at) && pauseAt(record, at)?.reason !== 'ended');
  const waiting = waitingIn(record, idle, fired, Number(live.raw.info?.bufferSize ?? 0));
  return idle.flatMap((at) => {
    const reason = waiting.has(at) ? undefined : reasonAt(record, fired, live.info, at);
    if (reason === undefined) return [];
    const status = reason === 'catchup_window' ? ('missed' as const) : ('skipped' as const);
    return [{ ...notFired, scheduled_for: at, status, reason }];
  });
}

const notFired = { started_at: null, ended_at: null, executions: [], error: null, temporal_ui_url: null };

/** Times that wait for a run to end: for `buffer_all` the newest ones, for `buffer_one` the first one since that run started. */
function waitingIn(
  { overlap }: ScheduleDocument,
  idle: readonly number[],
  fired: readonly FiredRun[],
  buffered: number,
): Set<number> {
  if (buffered === 0) return new Set();
  if (overlap === 'buffer_all') return new Set(idle.slice(-buffered));
  const runningSince = Math.min(
    ...fired.filter(({ ended_at }) => ended_at === null).map(({ started_at }) => started_at),
  );
  return new Set(idle.filter((at) => at >= runningSince - 1).slice(0, buffered));
}

/** The newest planned times, without jitter. Temporal lists only the first times of a range, so this shortens the range until it includes the last one. */
async function newestPlanned(
  { temporal }: Deps,
  record: ScheduleDocument,
  from: number,
  to: number,
): Promise<number[]> {
  for (let start = from; start < to; start = to - (to - start) / 10) {
    const planned = await plannedBetween(temporal, record._id, start, to);
    if (planned.length < maxPlannedTimes) return planned.map((at) => plannedTime(record, at));
  }
  return [];
}

type Counters = Pick<ScheduleDescription['info'], 'numActionsSkippedOverlap' | 'numActionsMissedCatchupWindow'>;

function pauseAt({ pauses }: ScheduleDocument, at: number) {
  return pauses.findLast(({ from, to }) => from <= at && (to === null || at <= to));
}

/** Why a time did not fire, consistent with Temporal's counters. Undefined if it may still fire. */
function reasonAt(
  record: ScheduleDocument,
  fired: readonly FiredRun[],
  counters: Counters,
  at: number,
): string | undefined {
  const { pauses, overlap, catchup_window } = record;
  const pause = pauseAt(record, at);
  if (pause) return pause.reason ?? 'paused';
  const [isSkipping, isMissing] = [counters.numActionsSkippedOverlap > 0, counters.numActionsMissedCatchupWindow > 0];
  // A pause discards buffered times.
  if (!isSkipping && overlap.startsWith('buffer') && pauses.some(({ from }) => from >= at)) return 'paused';
  if (!isSkipping && !isMissing && at > epochSeconds() - catchup_window) return undefined;
  if (isSkipping !== isMissing) return isSkipping ? 'overlap' : 'catchup_window';
  const isBusy = fired.some(
    ({ started_at, ended_at }) => started_at <= at + 1 && (ended_at === null || ended_at >= at),
  );
  // After an outage, all times within the window are due at once: one starts, and the others overlap with it.
  const isMadeUp = fired.some(({ started_at }) => started_at >= at && started_at - at <= catchup_window);
  return isSkipping && (isBusy || isMadeUp) ? 'overlap' : 'catchup_window';
}
