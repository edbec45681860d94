import { defineSignal } from '@temporalio/workflow';

/** What clients use to change a schedule (design, Workflows). */
export const scheduleChangeType = 'scheduleChange';

/** One workflow makes all changes of a schedule, one after another. */
export function scheduleChangeId(scheduleId: string): string {
  return `schedule-change/${scheduleId}`;
}

/**
 * `record` is the complete new record and `fields` are the changed fields, both as stored. `by` is the person whose change
 * determines what runs; absent for a change of the status only. `expected` is the `updated_at` that the record must have.
 */
export type ScheduleChange =
  | { kind: 'create'; record: Record<string, unknown> }
  | { kind: 'update'; fields: Record<string, unknown>; by?: string; expected?: number | null }
  | { kind: 'delete' };

export interface ScheduleChangeInput {
  schedule_id: string;
  change_id: string;
  change: ScheduleChange;
}

export interface Refusal {
  type: string;
  message: string;
}

/** Plain JSON and complete: it is passed to the next run by continue-as-new. */
export interface ScheduleChangeState {
  pending: ScheduleChangeInput[];
  /** The outcomes of the most recent changes. `refusal` is null for a successful change. */
  outcomes: { change_id: string; refusal: Refusal | null }[];
}

export interface ScheduleChangesInput {
  schedule_id: string;
  max_history_events?: number;
  resumed?: ScheduleChangeState;
}

/** The workflow's signature for clients. */
export type ScheduleChanges = (input: ScheduleChangesInput) => Promise<ScheduleChangeState['outcomes']>;

export const changeSignal = defineSignal<[ScheduleChangeInput]>('change');
