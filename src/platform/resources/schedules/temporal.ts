import { status } from '@grpc/grpc-js';
import { isGrpcServiceError, ScheduleAlreadyRunning, ScheduleNotFoundError, ScheduleOverlapPolicy, type ScheduleDescription, type ScheduleHandle } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { coworkerRunId, coworkerRunType, scheduleId, type CoworkerRunInput } from '../../../../workflows/coworker-run/messages.js';
import { searchAttributes } from '../../../../workflows/search-attributes.js';
import type { Deps } from '../../../deps.js';
import { AppError } from '../../../errors.js';
import { conflictAwareSchedules } from '../../../temporal/conflict-aware-schedules.js';
import { specOf } from './times.js';
import type { ScheduleDocument } from './record.js';

type Stores = Pick<Deps, 'mongo' | 'temporal'>;

const callMs = 5000;
const maxHistoryEvents = 5000;
const updatesAtMost = 10;

const overlaps = {
  skip: ScheduleOverlapPolicy.SKIP,
  buffer_one: ScheduleOverlapPolicy.BUFFER_ONE,
  buffer_all: ScheduleOverlapPolicy.BUFFER_ALL,
  cancel_other: ScheduleOverlapPolicy.CANCEL_OTHER,
  allow_all: ScheduleOverlapPolicy.ALLOW_ALL,
} as const;

export function onSchedule<T>(temporal: Deps['temporal'], id: string, work: (handle: ScheduleHandle) => Promise<T>): Promise<T> {
  return temporal.call((client) => work(client.schedule.getHandle(scheduleId(id))), callMs);
}

/**
 * Makes the Temporal Schedule what the record says now, and looks again: whoever changed the record meanwhile finds
 * nothing to do, or does it once more.
 * @throws AppError `validation_failed` for what Temporal refuses
 */
export async function applySchedule({ mongo, temporal }: Stores, id: string): Promise<void> {
  const read = () => mongo.collections.schedules.findOne({ _id: id });
  for (let record = await read(); ; ) {
    if (!record || record.is_deleted) await remove(temporal, id);
    else await makeOrUpdate(temporal, record);
    const after = await read();
    if (after?.revision === record?.revision) return;
    record = after;
  }
}

async function remove(temporal: Deps['temporal'], id: string): Promise<void> {
  try {
    await onSchedule(temporal, id, (handle) => handle.delete());
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
  }
}

async function makeOrUpdate(temporal: Deps['temporal'], record: ScheduleDocument): Promise<void> {
  try {
    await temporal.call((client) => client.schedule.create({ scheduleId: scheduleId(record._id), ...partsOf(temporal, record), state: stateOf(record) }), callMs);
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw refused(error);
    await update(temporal, record).catch((cause: unknown) => {
      throw refused(cause);
    });
  }
}

/** Until the Temporal Schedule is what this revision of the record says: an update that met a firing has no effect. */
async function update(temporal: Deps['temporal'], record: ScheduleDocument): Promise<void> {
  const change = (present: ScheduleDescription) => {
    const { action, spec, policies } = partsOf(temporal, record);
    return { action, spec, policies, state: stateOf(record, present) };
  };
  const present = () => onSchedule(temporal, record._id, (handle) => handle.describe());
  const isDone = ({ action }: ScheduleDescription) => Number(action.memo?.revision ?? 0) >= record.revision;
  for (let tries = 0; !isDone(await present()); tries += 1) {
    if (tries === updatesAtMost) throw new Error('the schedule changes faster than it can be updated');
    await temporal.call((client) => conflictAwareSchedules(client, temporal.dataConverter).getHandle(scheduleId(record._id)).update(change), callMs);
  }
}

function partsOf(temporal: Deps['temporal'], record: ScheduleDocument) {
  const { _id, projectID, organization_id, coworker_id, created_by, overlap, catchup_window } = record;
  const input: CoworkerRunInput = { schedule_id: _id, project_id: projectID, organization_id, max_history_events: maxHistoryEvents };
  const typedSearchAttributes = new TypedSearchAttributes([
    { key: searchAttributes.projectId, value: projectID },
    { key: searchAttributes.organizationId, value: organization_id },
    { key: searchAttributes.agentflowId, value: coworker_id },
    { key: searchAttributes.executedBy, value: created_by },
  ]);
  return {
    spec: specOf(record),
    action: {
      type: 'startWorkflow' as const,
      workflowType: coworkerRunType,
      workflowId: coworkerRunId(_id),
      taskQueue: temporal.taskQueue,
      args: [input],
      memo: { project: projectID, bound: boundOf(record), revision: record.revision },
      staticSummary: `Scheduled: ${record.goal.template}`.slice(0, 200),
      typedSearchAttributes,
    },
    // A failed run pauses its schedule itself: Temporal would do it later, when somebody may have let it go on (docs/decisions/0029).
    policies: { overlap: overlaps[overlap], catchupWindow: `${catchup_window}s` as const, pauseOnFailure: false },
    memo: { project: projectID },
    typedSearchAttributes,
  };
}

/** What bounds the planned runs: a limit, or for `once` its time. It is kept with the action, to tell a change of it from others. */
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

/** Temporal counts down by itself, planned runs alone; another limit is what it is less than those taken. */
function remainingOf(record: ScheduleDocument, present?: ScheduleDescription): number | null {
  const bound = boundOf(record);
  if (bound === null) return null;
  const [before, left] = [present?.action.memo?.bound, present?.state.remainingActions];
  if (bound === before && left !== undefined) return left;
  if (typeof bound === 'string') return 1;
  const taken = typeof before === 'number' && left !== undefined ? before - left : record.count;
  return Math.max(0, bound - taken);
}

/** Asks Temporal for runs beside the planned ones; the same request again is one. */
export async function fire(temporal: Deps['temporal'], id: string, requestId: string, patch: Patch): Promise<void> {
  try {
    await temporal.call(
      ({ workflowService, options: { namespace } }) => workflowService.patchSchedule({ namespace, scheduleId: scheduleId(id), requestId, patch }),
      callMs,
    );
  } catch (error) {
    if (isGrpcServiceError(error) && error.code === status.NOT_FOUND) throw new AppError('conflict', 'the schedule has ended', { cause: error });
    throw error;
  }
}

type Patch = NonNullable<NonNullable<Parameters<Deps['temporal']['client']['workflowService']['patchSchedule']>[0]>['patch']>;

/** The client tells the server's INVALID_ARGUMENT by a TypeError. */
function refused(error: unknown): unknown {
  return error instanceof TypeError ? new AppError('validation_failed', `the schedule was refused: ${error.message.slice(0, 200)}`, { cause: error }) : error;
}

/** So many planned times Temporal tells at most, the first ones. */
export const plannedAtMost = 1000;

/** The planned times of a range, by Temporal's own calendars. Epoch seconds. */
export async function plannedBetween(temporal: Deps['temporal'], id: string, from: number, to: number): Promise<number[]> {
  const { startTime } = await temporal.call(
    (client) =>
      client.workflowService.listScheduleMatchingTimes({
        namespace: client.options.namespace,
        scheduleId: scheduleId(id),
        startTime: timestamp(from),
        endTime: timestamp(to),
      }),
    callMs,
  );
  return startTime.map(({ seconds, nanos }) => Number(seconds ?? 0) + (nanos ?? 0) / 1e9);
}

export function timestamp(at: number) {
  const seconds = Math.floor(at);
  return { seconds: seconds as unknown as Long, nanos: Math.round((at - seconds) * 1e9) };
}

type Long = NonNullable<Parameters<Deps['temporal']['client']['workflowService']['listScheduleMatchingTimes']>[0] extends { startTime?: { seconds?: infer S } | null } ? S : never>;
