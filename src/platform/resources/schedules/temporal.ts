import { ScheduleAlreadyRunning, ScheduleNotFoundError, ScheduleOverlapPolicy, type ScheduleDescription, type ScheduleHandle } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { coworkerRunId, coworkerRunType, scheduleId, type CoworkerRunInput } from '../../../../workflows/coworker-run/messages.js';
import { searchAttributes } from '../../../../workflows/search-attributes.js';
import type { Deps } from '../../../deps.js';
import { AppError } from '../../../errors.js';
import { epochSeconds } from '../../../time.js';
import { specOf } from './times.js';
import type { ScheduleDocument } from './record.js';

type Stores = Pick<Deps, 'mongo' | 'temporal'>;

const callMs = 5000;
const maxHistoryEvents = 5000;

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
    await temporal.call((client) => client.schedule.create({ scheduleId: scheduleId(record._id), ...partsOf(temporal, record), state: stateOf(record, 0) }), callMs);
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw refused(error);
    await onSchedule(temporal, record._id, (handle) =>
      handle.update((present: ScheduleDescription) => {
        const { action, spec, policies } = partsOf(temporal, record);
        return { action, spec, policies, state: stateOf(record, present.info.numActionsTaken) };
      }),
    ).catch((cause: unknown) => {
      throw refused(cause);
    });
  }
}

function partsOf(temporal: Deps['temporal'], record: ScheduleDocument) {
  const { _id, projectID, organization_id, coworker_id, created_by, overlap, catchup_window, pause_on_failure } = record;
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
      staticSummary: `Scheduled: ${record.goal.template}`.slice(0, 200),
      typedSearchAttributes,
    },
    policies: { overlap: overlaps[overlap], catchupWindow: `${catchup_window}s` as const, pauseOnFailure: pause_on_failure },
    memo: { project: projectID },
    typedSearchAttributes,
  };
}

/** `once` is a limit of one. What was taken already is not given again by a change. */
function stateOf({ type, schedule, limit, status, reason }: ScheduleDocument, taken: number) {
  // A run that was given a new time is to come, whatever was before.
  const most = type === 'once' ? (schedule > epochSeconds() ? taken + 1 : 1) : limit;
  return {
    paused: status === 'paused',
    ...(reason !== null && { note: reason }),
    ...(most !== null && { remainingActions: Math.max(0, most - taken) }),
  };
}

/** The client tells the server's INVALID_ARGUMENT by a TypeError. */
function refused(error: unknown): unknown {
  return error instanceof TypeError ? new AppError('validation_failed', `the schedule was refused: ${error.message.slice(0, 200)}`, { cause: error }) : error;
}

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

function timestamp(at: number) {
  const seconds = Math.floor(at);
  return { seconds: seconds as unknown as Long, nanos: Math.round((at - seconds) * 1e9) };
}

type Long = NonNullable<Parameters<Deps['temporal']['client']['workflowService']['listScheduleMatchingTimes']>[0] extends { startTime?: { seconds?: infer S } | null } ? S : never>;
