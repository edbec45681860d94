import type { CoworkerRunActivities, RunReference } from '../../../workflows/coworker-run/activities.js';
import { scheduleId } from '../../../workflows/coworker-run/messages.js';
import { whyPowerless } from '../../auth/authority.js';
import type { Deps } from '../deps.js';
import { onScheduleIfAny } from '../../temporal/client.js';
import { epochSeconds } from '../../base/time.js';
import { markCoworker, maxRemembered } from './changes.js';
import { pausedSince } from './pauses.js';
import { makerOf, workOfSchedule, type ScheduleDocument } from './record.js';
import { applySchedule } from './temporal.js';
import { firstTimeAfter } from './times.js';

type Request<Name extends keyof CoworkerRunActivities> = Parameters<CoworkerRunActivities[Name]>[0];

/** Records the outcome of an execution in the run and the schedule. */
export async function recordExecution(
  { mongo }: Deps,
  { run, outcome: { execution_id, record_id, status, conclusion, error } }: Request<'recordExecution'>,
): Promise<void> {
  const { schedules, schedule_runs, executions } = mongo.collections;
  const entry = { execution_id, record_id, status, error };
  const isNew =
    execution_id === null
      ? { 'executions.record_id': { $ne: record_id } }
      : { 'executions.execution_id': { $ne: execution_id } };
  await schedule_runs.updateOne(
    { _id: run.run_id, ...isNew },
    { $push: { executions: { $each: [entry], $slice: -1000 } } },
  );
  if (execution_id === null) return;
  const execution = await executions.findOne({ _id: execution_id }, { projection: { task_id: 1 } });
  const last = {
    last_coworker_execution_id: execution_id,
    last_record_id: record_id,
    task_id: execution?.task_id ?? '',
  };
  await schedules.updateOne(
    { _id: run.schedule_id },
    { $set: { ...last, ...(conclusion !== null && { conclusion }) } },
  );
}

/** Counts the run in its schedule and updates the schedule's state. */
export async function recordRun(deps: Deps, { run, ended_at, status, error }: Request<'recordRun'>): Promise<void> {
  const { schedules, schedule_runs } = deps.mongo.collections;
  const { run_id, schedule_id } = run;
  await schedule_runs.updateOne({ _id: run_id }, { $set: { ended_at, status, error } });
  await schedules.updateOne(
    { _id: schedule_id, counted: { $ne: run_id } },
    {
      $set: { changed_at: Date.now() },
      $inc: { count: 1 },
      $push: { counted: { $each: [run_id], $slice: -maxRemembered } },
    },
  );
  await endOrPause(deps, run, status === 'failed' ? { ended_at, error } : null);
  await markCoworker(deps, schedule_id);
}

type Failure = { ended_at: number; error: string | null };

/**
 * Retries if the schedule was changed concurrently, because such a change does not consider the outcome of this run.
 */
async function endOrPause(deps: Deps, run: RunReference, failure: Failure | null): Promise<void> {
  const { schedules } = deps.mongo.collections;
  for (;;) {
    const schedule = await schedules.findOne({ _id: run.schedule_id });
    if (!schedule || schedule.is_deleted) return;
    const lasting = failure && (await lastingProblem(deps, schedule, failure));
    const pauses = failure && (lasting ?? (schedule.pause_on_failure ? failure : null));
    const outcome = schedule.status === 'active' ? await outcomeFor(deps, schedule, run, pauses) : undefined;
    const { _id, revision } = schedule;
    if (
      outcome &&
      (
        await schedules.updateOne(
          { _id, revision },
          { $set: { ...outcome, changed_at: Date.now() }, $inc: { revision: 1 } },
        )
      ).matchedCount === 0
    )
      continue;
    // Also if the schedule is already paused, because an earlier attempt may have stopped before this call.
    if (pauses) await applySchedule(deps, _id);
    return;
  }
}

/** Why every later run would fail too: its maker has no authority any more, or its agentflow was deleted. */
async function lastingProblem(
  { mongo: { collections } }: Deps,
  schedule: ScheduleDocument,
  failure: Failure,
): Promise<Failure | undefined> {
  const agentflow = await collections.agentflows.findOne(
    { _id: schedule.coworker_id },
    { projection: { is_deleted: 1 } },
  );
  if (agentflow?.is_deleted !== false) return failure;
  const reason = await whyPowerless(collections, makerOf(schedule), workOfSchedule);
  return reason === undefined ? undefined : { ...failure, error: reason };
}

/** The changes to an active schedule after the run, or undefined if it continues. */
async function outcomeFor(
  deps: Deps,
  schedule: ScheduleDocument,
  run: RunReference,
  failure: Failure | null,
): Promise<Partial<ScheduleDocument> | undefined> {
  const end = await endOf(deps, schedule, run);
  if (end === 'times') return { status: 'completed' };
  if (end === 'limit') {
    const last = await deps.mongo.collections.schedule_runs.findOne(
      { schedule_id: schedule._id, is_triggered: { $ne: true } },
      { sort: { scheduled_for: -1 } },
    );
    return { status: 'completed', pauses: pausedSince(schedule, last?.scheduled_for ?? run.scheduled_for, 'limit') };
  }
  if (!failure) return undefined;
  return {
    status: 'paused',
    reason: `a run failed: ${failure.error ?? ''}`.slice(0, 500),
    pauses: pausedSince(schedule, failure.ended_at),
  };
}

/** Why no further run is planned: the limit is reached (one for `once`), or no time is left before the end. */
async function endOf(
  { temporal }: Deps,
  { _id, type, schedule, frequency, limit, ends_at }: ScheduleDocument,
  { scheduled_for }: RunReference,
): Promise<'limit' | 'times' | undefined> {
  if (type === 'once') return scheduled_for >= schedule ? 'limit' : undefined;
  if (limit === null && ends_at === null) return undefined;
  const live = await onScheduleIfAny(temporal, scheduleId(_id), (handle) => handle.describe());
  // Temporal removes a schedule some days after its last time.
  if (!live)
    return firstTimeAfter({ type, schedule, frequency, ends_at }, epochSeconds()) === Infinity ? 'times' : undefined;
  const { state, info, raw } = live;
  if (limit !== null && state.remainingActions === 0) return 'limit';
  const isWaiting = info.nextActionTimes.length > 0 || Number(raw.info?.bufferSize ?? 0) > 0;
  return ends_at !== null && !isWaiting ? 'times' : undefined;
}
