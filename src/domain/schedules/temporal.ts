import {
  encodeScheduleOverlapPolicy,
  ScheduleAlreadyRunning,
  ScheduleOverlapPolicy,
  type ScheduleDescription,
  type ScheduleHandle,
} from '@temporalio/client';
import {
  coworkerRunId,
  coworkerRunType,
  scheduleId,
  triggeredRunId,
  type CoworkerRunInput,
} from '../../../workflows/coworker-run/messages.js';
import { attributePairs } from '../../../workflows/search-attributes.js';
import type { Deps } from '../deps.js';
import { AppError } from '../../base/errors.js';
import { onScheduleIfAny } from '../../temporal/client.js';
import { conflictAwareSchedules } from '../../temporal/conflict-aware-schedules.js';
import { priorityOf } from '../../temporal/priority.js';
import { sealedAction } from '../../temporal/sealed-messages.js';
import { startOnce } from '../../temporal/start-once.js';
import { isSealed } from '../../../workflows/trust/sealed.js';
import { plannedIn, rangeMargin, timestamp, whileOpen, type TimeSpan } from './planned-times.js';
import { firstTimeAfter, specOf } from './times.js';
import type { ScheduleDocument } from './record.js';

type Stores = Pick<Deps, 'mongo' | 'temporal'>;

const maxHistoryEvents = 5000;
const maxUpdates = 10;

const overlaps = {
  skip: ScheduleOverlapPolicy.SKIP,
  buffer_one: ScheduleOverlapPolicy.BUFFER_ONE,
  buffer_all: ScheduleOverlapPolicy.BUFFER_ALL,
  cancel_other: ScheduleOverlapPolicy.CANCEL_OTHER,
  allow_all: ScheduleOverlapPolicy.ALLOW_ALL,
} as const;

function onSchedule<T>(
  temporal: Deps['temporal'],
  id: string,
  work: (handle: ScheduleHandle) => Promise<T>,
): Promise<T> {
  return temporal.call((client) => work(client.schedule.getHandle(scheduleId(id))));
}

/**
 * Applies the current record to the Temporal Schedule. Repeats this if the record changed in the meantime.
 * @throws AppError `validation_failed` if Temporal refuses the schedule
 */
export async function applySchedule({ mongo, temporal }: Stores, id: string): Promise<void> {
  const read = () => mongo.collections.schedules.findOne({ _id: id });
  for (let record = await read(); ;) {
    if (!record || record.is_deleted) await onScheduleIfAny(temporal, scheduleId(id), (handle) => handle.delete());
    else {
      await createOrUpdate(temporal, record);
      await runSkipped(temporal, record);
    }
    const after = await read();
    if (after?.revision === record?.revision) return;
    record = after;
  }
}

async function createOrUpdate(temporal: Deps['temporal'], record: ScheduleDocument): Promise<void> {
  try {
    await temporal.call((client) =>
      client.schedule.create({
        scheduleId: scheduleId(record._id),
        ...sealedOptionsOf(temporal, record),
        state: stateOf(record),
      }),
    );
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw toAppError(error);
    await update(temporal, record).catch((cause: unknown) => {
      throw toAppError(cause);
    });
  }
}

/** Repeats the update until the Temporal Schedule has this revision, because an update during a firing is lost. */
async function update(temporal: Deps['temporal'], record: ScheduleDocument): Promise<void> {
  const change = (present: ScheduleDescription) => {
    const { action, spec, policies } = sealedOptionsOf(temporal, record);
    return { action, spec, policies, state: stateOf(record, present) };
  };
  const present = () => onSchedule(temporal, record._id, (handle) => handle.describe());
  const isDone = ({ action }: ScheduleDescription) =>
    Number(action.memo?.revision ?? 0) >= record.revision && isSealed(action.args?.[0]);
  for (let tries = 0; !isDone(await present()); tries += 1) {
    if (tries === maxUpdates) throw new Error('the schedule changes faster than it can be updated');
    await temporal.call((client) =>
      conflictAwareSchedules(client, temporal.dataConverter).getHandle(scheduleId(record._id)).update(change),
    );
  }
}

/** In seconds. If Temporal takes longer to process a change, the times in between stay skipped, as during any outage. */
const maxProcessing = 600;

/**
 * Temporal skips the planned times between a request that creates, times or resumes a schedule and the moment at which it
 * processes the request, which a busy server does late. Runs those times. None runs twice, because a run checks whether its
 * time has fired. A limited interval or cron schedule needs nothing: it runs as often as its limit, only later.
 */
async function runSkipped(temporal: Deps['temporal'], record: ScheduleDocument): Promise<void> {
  const requested = record.updated_at ?? record.created_at;
  const isStarted = requested === Math.max(record.times_since, record.pauses.at(-1)?.to ?? 0);
  if (!isStarted || record.status !== 'active' || (record.limit !== null && record.type !== 'once')) return;
  if (firstTimeAfter(record, requested) > requested + maxProcessing) return;
  const { info } = await onSchedule(temporal, record._id, (handle) => handle.describe());
  const processed = (info.lastUpdatedAt ?? info.createdAt).getTime() / 1000;
  if (processed > requested + maxProcessing) return;
  const { times } = await plannedIn(temporal, record, { from: requested, to: processed });
  const last = times.at(-1);
  if (last) await backfill(temporal, record, `skipped-${record.revision}`, [{ from: requested, to: last.jittered }]);
}

function optionsOf(temporal: Deps['temporal'], record: ScheduleDocument) {
  const { _id, projectID, organization_id, coworker_id, created_by, overlap, catchup_window } = record;
  const input: CoworkerRunInput = {
    schedule_id: _id,
    project_id: projectID,
    organization_id,
    max_history_events: maxHistoryEvents,
  };
  const typedSearchAttributes = attributePairs({
    projectId: projectID,
    organizationId: organization_id,
    agentflowId: coworker_id,
    executedBy: created_by,
  });
  return {
    spec: specOf(record),
    action: {
      type: 'startWorkflow' as const,
      workflowType: coworkerRunType,
      workflowId: coworkerRunId(_id),
      taskQueue: temporal.taskQueue,
      priority: priorityOf(coworkerRunType, organization_id),
      args: [input],
      memo: { project: projectID, bound: boundOf(record), revision: record.revision },
      staticSummary: `Scheduled: ${record.goal.template}`.slice(0, 200),
      typedSearchAttributes,
    },
    // A failed run pauses its schedule itself. Temporal would pause it later, possibly after a user has resumed it (docs/decisions/0007).
    policies: { overlap: overlaps[overlap], catchupWindow: `${catchup_window}s` as const, pauseOnFailure: false },
    memo: { project: projectID },
    typedSearchAttributes,
  };
}

function sealedOptionsOf(temporal: Deps['temporal'], record: ScheduleDocument) {
  const options = optionsOf(temporal, record);
  return { ...options, action: sealedAction(options.action) };
}

/** What limits the planned runs: the limit, or the time for `once`. The action stores it, so that changes of it can be detected. */
function boundOf({ type, schedule, limit }: ScheduleDocument): number | string | null {
  return type === 'once' ? `once at ${schedule}` : limit;
}

function stateOf(record: ScheduleDocument, present?: ScheduleDescription) {
  const remainingActions = remainingOf(record, present);
  return {
    paused: record.status === 'paused',
    ...(record.reason !== null && { note: record.reason }),
    ...(remainingActions !== null && { remainingActions }),
  };
}

/** Temporal decrements the remaining planned runs. A new limit is reduced by the runs that have taken place. */
function remainingOf(record: ScheduleDocument, present?: ScheduleDescription): number | null {
  const bound = boundOf(record);
  if (bound === null) return null;
  const [before, left] = [present?.action.memo?.bound, present?.state.remainingActions];
  if (bound === before && left !== undefined) return left;
  if (typeof bound === 'string') return 1;
  const taken = typeof before === 'number' && left !== undefined ? before - left : record.count;
  return Math.max(0, bound - taken);
}

/**
 * Starts a run in addition to the planned ones. Idempotent by `requestId`. Temporal's own trigger derives the workflow id
 * from the current second, so a second trigger within the same second would be lost.
 */
export async function trigger(
  temporal: Deps['temporal'],
  record: ScheduleDocument,
  requestId: string,
  by: string,
): Promise<void> {
  const { type: _type, workflowType, args, ...options } = optionsOf(temporal, record).action;
  await startOnce(temporal, workflowType, {
    ...options,
    workflowId: triggeredRunId(record._id, requestId),
    args: args.map((input) => ({ ...input, triggered_by: by })),
  });
}

/**
 * Asks Temporal to run past times in the given ranges, from a planned time to a jittered one: Temporal begins with the
 * first planned time after `from`, and ends with the last jittered time up to `to`. Idempotent by `requestId`.
 */
export async function backfill(
  temporal: Deps['temporal'],
  { _id, overlap }: ScheduleDocument,
  requestId: string,
  ranges: readonly TimeSpan[],
): Promise<void> {
  const overlapPolicy = encodeScheduleOverlapPolicy(overlap === 'allow_all' ? 'ALLOW_ALL' : 'BUFFER_ALL');
  const backfillRequest = ranges.map(({ from, to }) => ({
    startTime: timestamp(from - rangeMargin),
    endTime: timestamp(to + rangeMargin),
    ...(overlapPolicy !== undefined && { overlapPolicy }),
  }));
  await whileOpen(
    temporal.call(({ workflowService, options: { namespace } }) =>
      workflowService.patchSchedule({ namespace, scheduleId: scheduleId(_id), requestId, patch: { backfillRequest } }),
    ),
  );
}

/** The client reports the server's INVALID_ARGUMENT as a TypeError. */
function toAppError(error: unknown): unknown {
  return error instanceof TypeError
    ? new AppError('validation_failed', `Temporal refused the schedule: ${error.message.slice(0, 200)}`, {
        cause: error,
      })
    : error;
}
