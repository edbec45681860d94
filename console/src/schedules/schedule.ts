import type { components } from '@client/openapi.js';

export type Schedule = components['schemas']['Schedule'];
export type ListedSchedule = components['schemas']['ListedSchedule'];
export type PlannedTimes = components['schemas']['ScheduleTimes'];
export type ScheduleRuns = components['schemas']['ScheduleRuns'];
export type ScheduleRun = ScheduleRuns['data'][number];

export const overlapTexts: Record<Schedule['overlap'], string> = {
  skip: 'Skip',
  buffer_one: 'Queue one',
  buffer_all: 'Queue all',
  cancel_other: 'Cancel the other run',
  allow_all: 'Run both',
};

/** Converts a time to the value of `<input type="datetime-local">`; `fromLocalInput` converts it back. */
export function toLocalInput(at: number): string {
  const date = new Date(at * 1000);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

export function fromLocalInput(text: string): number | undefined {
  const at = new Date(text).getTime() / 1000;
  return Number.isNaN(at) ? undefined : at;
}
