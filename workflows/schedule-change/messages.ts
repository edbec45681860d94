/** What a client needs to change a schedule (design, Workflows). */
export const scheduleChangeType = 'scheduleChange';

/** One workflow a change, however often its request is sent. */
export function scheduleChangeId(scheduleId: string, changeId: string): string {
  return `schedule-change/${scheduleId}/${changeId}`;
}

/** `record` is the whole new record; `fields` are the changed ones. Both as they are stored. */
export type ScheduleChange =
  | { kind: 'create'; record: Record<string, unknown> }
  | { kind: 'update'; fields: Record<string, unknown> }
  | { kind: 'delete' };

export interface ScheduleChangeInput {
  schedule_id: string;
  change_id: string;
  change: ScheduleChange;
}
