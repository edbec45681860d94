import { status } from '@grpc/grpc-js';
import { isGrpcServiceError } from '@temporalio/client';
import { scheduleId } from '../../../workflows/coworker-run/messages.js';
import type { Deps } from '../deps.js';
import { AppError } from '../../base/errors.js';
import type { ScheduleDocument } from './record.js';
import { plannedTime } from './times.js';

/** In seconds. A jittered time in nanoseconds loses precision as a number of seconds. */
export const rangeMargin = 0.001;

/** Temporal lists only the first planned times of a range, at most this many. */
export const maxPlannedTimes = 1000;

/** The jittered planned times after `from` up to `to`, as Temporal computes them. In epoch seconds. */
export async function plannedBetween(
  temporal: Deps['temporal'],
  id: string,
  from: number,
  to: number,
): Promise<number[]> {
  const { startTime } = await whileOpen(
    temporal.call((client) =>
      client.workflowService.listScheduleMatchingTimes({
        namespace: client.options.namespace,
        scheduleId: scheduleId(id),
        startTime: timestamp(from),
        endTime: timestamp(to),
      }),
    ),
  );
  return startTime.map(({ seconds, nanos }) => Number(seconds ?? 0) + (nanos ?? 0) / 1e9);
}

/**
 * Temporal removes a schedule without further times after some days.
 * @throws AppError `conflict` if it did
 */
export async function whileOpen<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (isGrpcServiceError(error) && error.code === status.NOT_FOUND)
      throw new AppError('conflict', 'the schedule has ended', { cause: error });
    throw error;
  }
}

/** In epoch seconds. */
export interface TimeSpan {
  from: number;
  to: number;
}

/** `planned` identifies a run; `jittered` is when it is due. */
export interface PlannedTime {
  planned: number;
  jittered: number;
}

/** The planned times of a span, both ends included. `isComplete` is false if Temporal lists only the first of them. */
export async function plannedIn(
  temporal: Deps['temporal'],
  record: ScheduleDocument,
  { from, to }: TimeSpan,
): Promise<{ times: PlannedTime[]; isComplete: boolean }> {
  const jittered = await plannedBetween(temporal, record._id, from - rangeMargin, to + record.jitter);
  const times = jittered
    .map((at) => ({ planned: plannedTime(record, at), jittered: at }))
    .filter(({ planned }) => planned >= from && planned <= to);
  return { times, isComplete: jittered.length < maxPlannedTimes };
}

export function timestamp(at: number) {
  const seconds = Math.floor(at);
  return { seconds: seconds as unknown as Long, nanos: Math.round((at - seconds) * 1e9) };
}

type Long = NonNullable<
  Parameters<Deps['temporal']['client']['workflowService']['listScheduleMatchingTimes']>[0] extends {
    startTime?: { seconds?: infer S } | null;
  }
    ? S
    : never
>;
