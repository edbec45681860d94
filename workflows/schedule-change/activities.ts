import type { ScheduleChangeInput } from './messages.js';

/** The activities of a change. All are safe to repeat. */
export interface ScheduleChangeActivities {
  /** Writes the change into the record. */
  storeScheduleChange(input: ScheduleChangeInput): Promise<void>;
  /** Creates, updates or deletes the Temporal Schedule so that it matches the record. */
  applySchedule(scheduleId: string): Promise<void>;
  /** Reverts what `storeScheduleChange` wrote, if Temporal refuses the change permanently. */
  undoScheduleChange(input: ScheduleChangeInput): Promise<void>;
}
