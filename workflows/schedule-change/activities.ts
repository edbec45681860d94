import type { ScheduleChangeInput } from './messages.js';

/** The outside of a change; all may be repeated. */
export interface ScheduleChangeActivities {
  /** Writes the change into the record. */
  storeScheduleChange(input: ScheduleChangeInput): Promise<void>;
  /** Makes the Temporal Schedule what the record says now: there or gone, with its times, policies and state. */
  applySchedule(scheduleId: string): Promise<void>;
  /** Takes back what `storeScheduleChange` wrote, where Temporal refuses it for good. */
  undoScheduleChange(input: ScheduleChangeInput): Promise<void>;
}
