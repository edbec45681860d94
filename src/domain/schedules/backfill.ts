import { z } from 'zod';
import { AppError } from '../../base/errors.js';
import { textFacts } from '../../governance/operations/operation.js';
import { epochSeconds } from '../../base/time.js';
import type { Deps } from '../deps.js';
import { startOfCoworker } from '../caused-rules.js';
import { defineOperation, reads } from '../operation.js';
import { findRelease } from '../releases/operations/publish.js';
import { coworkerOf, findSchedule, type ScheduleDocument } from './record.js';
import { Backfill, Backfilled, PlannedTimes, TimeRange } from './schemas.js';
import { maxPlannedTimes, plannedIn, type PlannedTime, type TimeSpan } from './planned-times.js';
import { backfill } from './temporal.js';
import { Id } from '../../base/ids.js';

/** How many backfills with a release a schedule remembers. */
const maxNamed = 100;

/**
 * Runs the planned times of a range that have not fired yet (contract, schedules: a time never fires twice).
 * Throws `validation_failed` if the range is in the future, is empty or contains too many times.
 */
export const backfillSchedule = defineOperation({
  name: 'schedule.backfill',
  effect: 'write',
  grant: 'svc:agent.run',
  right: ['edit'],
  facts: textFacts('id'),
  causes: [startOfCoworker],
  key: z.object({ id: Id }),
  subject: ({ deps, ctx, key: { id } }) => coworkerOf(deps, ctx.principal, id),
  input: Backfill,
  output: Backfilled,
  errors: ['conflict', 'validation_failed', 'unavailable'],
  async run({ deps, ctx, key: { id }, input: { from, to, version } }) {
    const record = await findSchedule(deps, ctx.principal, id);
    if (version !== undefined) await findRelease(deps.mongo.collections, record.coworker_id, version);
    if (to > epochSeconds()) throw new AppError('validation_failed', 'to: must not be in the future');
    if (from >= to) throw new AppError('validation_failed', 'from: must be before to');
    const { times, isComplete } = await plannedIn(deps.temporal, record, { from, to });
    if (!isComplete)
      throw new AppError(
        'validation_failed',
        `from, to: the range must contain fewer than ${maxPlannedTimes} planned times`,
      );
    const fired = await firedOf(deps, record, times);
    const due = times.filter(({ planned }) => !fired.has(planned));
    if (due.length > 0) {
      // Temporal starts these runs, so nothing else records who requested them.
      const named = version === undefined ? undefined : { from, to, version, at: epochSeconds() };
      await deps.mongo.collections.schedules.updateOne(
        { _id: id },
        {
          $addToSet: { edited_by: ctx.principal.userId },
          ...(named && { $push: { backfills: { $each: [named], $slice: -maxNamed } } }),
        },
      );
      await backfill(deps.temporal, record, ctx.recordId, rangesOf(times, fired));
    }
    return {
      planned: due.map(({ planned }) => planned),
      already_fired: times.length - due.length,
      reason: due.length > 0 ? null : reasonOf(record, times.length),
    };
  },
});

const maxRangeSeconds = 366 * 24 * 3600;

/**
 * The planned times of a past or coming range, whether or not the schedule is paused: what a backfill would run, and what
 * a calendar shows. Throws `validation_failed` for an empty range and for one of more than 366 days.
 */
export const listTimes = defineOperation({
  name: 'schedule.list-times',
  ...reads,
  key: z.object({ id: Id }),
  input: TimeRange,
  output: PlannedTimes,
  errors: ['conflict', 'validation_failed'],
  async run({ deps, ctx, key: { id }, input: { from, to } }) {
    const record = await findSchedule(deps, ctx.principal, id);
    if (from >= to) throw new AppError('validation_failed', 'from: must be before to');
    if (to - from > maxRangeSeconds) throw new AppError('validation_failed', 'to: must be at most 366 days after from');
    const { times, isComplete } = await plannedIn(deps.temporal, record, { from, to });
    const fired = await firedOf(deps, record, times);
    return {
      times: times.map(({ planned }) => ({ scheduled_for: planned, has_fired: fired.has(planned) })),
      is_complete: isComplete,
    };
  },
});

async function firedOf(
  { mongo }: Deps,
  { _id }: ScheduleDocument,
  times: readonly PlannedTime[],
): Promise<Set<number>> {
  const filter = { schedule_id: _id, scheduled_for: { $in: times.map(({ planned }) => planned) } };
  const runs = await mongo.collections.schedule_runs.find(filter, { projection: { scheduled_for: 1 } }).toArray();
  return new Set(runs.map(({ scheduled_for }) => scheduled_for));
}

/** Groups consecutive times that have not fired into ranges, as `backfill` takes them. */
function rangesOf(times: readonly PlannedTime[], fired: ReadonlySet<number>): TimeSpan[] {
  const ranges: TimeSpan[] = [];
  let open: TimeSpan | undefined;
  for (const { planned, jittered } of times) {
    if (fired.has(planned)) open = undefined;
    else if (open) open.to = jittered;
    else ranges.push((open = { from: planned, to: jittered }));
  }
  return ranges;
}

function reasonOf({ type, schedule, ends_at }: ScheduleDocument, times: number): string {
  if (times > 0) return `all ${times} planned times in the range have already fired`;
  if (type === 'once') return `the only planned time is ${schedule}`;
  const end = ends_at == null ? '' : ` and ends at ${ends_at}`;
  return `the range contains no planned time; the schedule starts at ${schedule}${end}`;
}
