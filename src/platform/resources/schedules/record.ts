import type { Schedule } from './schemas.js';

/** The stored schedule: what the API shows, and what only we need. */
export interface ScheduleDocument extends Schedule {
  organization_id: string;
  /** Of those who delete, only the last record's reader sees it. */
  is_deleted: boolean;
  /** Counts the changes. */
  revision: number;
  /** Changes of this record that were written, newest last; one that is repeated is written once. */
  changes: string[];
  /** What the last change replaced, for the case that Temporal refuses it. */
  before: { change_id: string; fields: Record<string, unknown> } | null;
  /** Since when its times are what they are; what was planned before is not known any more. */
  times_since: number;
  /** When it stood still, newest last; `to` is null while it does. */
  pauses: { from: number; to: number | null }[];
  /** Runs that `count` counts already, newest last. */
  counted: string[];
}

/** `_id` is the id of the run's workflow. */
export interface ScheduleRunDocument {
  _id: string;
  schedule_id: string;
  projectID: string;
  scheduled_for: number;
  started_at: number;
  ended_at: number | null;
  status: 'running' | 'completed' | 'failed' | 'cancelled';
  error: string | null;
  executions: { execution_id: string | null; record_id: string | null; status: string; error: string | null }[];
}

export function shown(record: ScheduleDocument): Schedule {
  const {
    organization_id: _organization,
    is_deleted: _deleted,
    revision: _revision,
    changes: _changes,
    before: _before,
    times_since: _since,
    pauses: _pauses,
    counted: _counted,
    ...schedule
  } = record;
  return schedule;
}
