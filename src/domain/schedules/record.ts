import type { Authority, Maker } from '../../auth/authority.js';
import type { Principal } from '../../auth/principal.js';
import { notFound } from '../../base/errors.js';
import { defineCollection } from '../../stores/collections.js';
import type { Mongo } from '../../stores/mongo.js';
import { pickShown } from '../../base/pick.js';
import { production } from '../agentflows/record/channels.js';
import { epochSeconds } from '../../base/time.js';
import { Schedule } from './schemas.js';

/** The stored schedule: the fields of the API, and internal fields. */
export interface ScheduleDocument extends Omit<Schedule, 'channel'> {
  /** Absent if it was never set. */
  channel?: string;
  /** Backfills that named a release, newest last: their planned times, the release, and when they were requested. */
  backfills?: { from: number; to: number; version: number; at: number }[];
  organization_id: string;
  /** What the credential of `created_by` allowed. */
  authority: Authority;
  /** Deleted schedules are returned only in the response to their deletion. */
  is_deleted: boolean;
  /** The number of changes, for optimistic locking. */
  revision: number;
  /** The ids of recent changes, newest last, so that a repeated change is applied once. */
  changes: string[];
  /** The values before the last change, to restore them if Temporal refuses it. */
  before: { change_id: string; fields: Record<string, unknown> } | null;
  /** The time of the last change of its times. Earlier planned times are unknown. */
  times_since: number;
  /**
   * The periods in which it did not fire, newest last. `to` is null for the current pause. Without `reason`, a user paused it.
   * `ended` is a period after its end, until it got a later one.
   */
  pauses: { from: number; to: number | null; reason?: 'limit' | 'ended' }[];
  /** The runs that `count` includes, newest last. */
  counted: string[];
  /** The people who changed what it runs, or had it run past times, in addition to `created_by`. Absent before the first one. */
  edited_by?: string[];
  /** When it was last written, in epoch milliseconds. */
  changed_at: number;
}

/** `_id` is the workflow id of the run. */
export interface ScheduleRunDocument {
  _id: string;
  schedule_id: string;
  projectID: string;
  /** Set for a run that a user triggered, in addition to the planned runs. */
  is_triggered?: true;
  /** Temporal's first run id of the workflow, because workflow ids can be reused. */
  first_run: string;
  scheduled_for: number;
  started_at: number;
  ended_at: number | null;
  status: 'running' | 'completed' | 'failed' | 'cancelled';
  error: string | null;
  executions: { execution_id: string | null; record_id: string | null; status: string; error: string | null }[];
}

export function toSchedule(record: ScheduleDocument): Schedule {
  return { ...pickShown(Schedule, record), channel: record.channel ?? production, status: statusOf(record) };
}

/**
 * The end of a run completes a schedule whose last time has passed. If that time was missed, no run ends, and the schedule is
 * completed as soon as it is too late for one.
 */
export function statusOf({ status, ends_at, catchup_window, jitter }: ScheduleDocument): Schedule['status'] {
  const isOver = ends_at !== null && epochSeconds() > ends_at + jitter + catchup_window;
  return status === 'active' && isOver ? 'completed' : status;
}

/** @throws AppError `not_found` for an unknown, malformed or deleted id, and for a schedule of another project */
export async function findSchedule(
  { mongo }: { mongo: Mongo },
  { projectId }: Principal,
  id: string,
): Promise<ScheduleDocument> {
  const record = await mongo.collections.schedules.findOne({ _id: id });
  if (!record || record.is_deleted || record.projectID !== projectId) throw notFound('the schedule');
  return record;
}

/** The coworker of a schedule of the caller's project; empty if there is none. */
export async function coworkerOf({ mongo }: { mongo: Mongo }, { projectId }: Principal, id: string): Promise<string> {
  const record = await mongo.collections.schedules.findOne({ _id: id });
  return record?.projectID === projectId ? record.coworker_id : '';
}

/** A run acts for whoever created its schedule, in its own project only. */
export function makerOf({ created_by, organization_id, projectID, authority }: ScheduleDocument): Maker {
  return { userId: created_by, organizationId: organization_id, projectId: projectID, authority };
}

/** What the runs of a schedule need. */
export const workOfSchedule = { what: 'schedule', needs: ['svc:agent.run'] } as const;

export const schedulesCollection = defineCollection('schedules', {
  indexes: [
    { keys: { projectID: 1, _id: -1 } },
    { keys: { projectID: 1, coworker_id: 1, status: 1 } },
    { keys: { projectID: 1, changed_at: 1 } },
  ],
});
export const scheduleRunsCollection = defineCollection('schedule_runs', {
  indexes: [{ keys: { schedule_id: 1, scheduled_for: -1 } }],
});

declare module '../../stores/collections.js' {
  interface Documents {
    schedules: ScheduleDocument;
    schedule_runs: ScheduleRunDocument;
  }
}
