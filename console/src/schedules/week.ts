import { groupBy } from '../group-by.js';

/** One day of a week, named as in `2026-11-30`. */
export interface Day {
  key: string;
  /** The midnight of that date in UTC, only to write the date. */
  date: Date;
}

const dayMs = 86_400_000;
/** No zone is further from UTC. */
const maxOffsetMs = 14 * 3_600_000;

const keyFormats = new Map<string | undefined, Intl.DateTimeFormat>();

/** Returns the date of a time in a zone. */
export function keyOf(at: Date, timeZone: string | undefined): string {
  let format = keyFormats.get(timeZone);
  if (!format) {
    // Sweden writes dates as ISO 8601 does.
    format = new Intl.DateTimeFormat('sv-SE', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
    keyFormats.set(timeZone, format);
  }
  return format.format(at);
}

/** Returns the seven days of a week in a zone. The first one of week 0 is today. */
export function daysOf(week: number, now: Date, timeZone: string | undefined): Day[] {
  const today = Date.parse(`${keyOf(now, timeZone)}T00:00:00Z`);
  return Array.from({ length: 7 }, (_, at) => {
    const date = new Date(today + (7 * week + at) * dayMs);
    return { key: date.toISOString().slice(0, 10), date };
  });
}

/** Returns a range in epoch seconds that contains the days in every zone. */
export function rangeOf(days: readonly Day[]): { from: number; to: number } {
  const [first = 0, last = 0] = [days[0]?.date.getTime(), days.at(-1)?.date.getTime()];
  return { from: (first - maxOffsetMs) / 1000, to: (last + dayMs + maxOffsetMs) / 1000 };
}

/** What a schedule does on one day. */
export interface DayRuns<Schedule> {
  schedule: Schedule;
  /** Epoch seconds. */
  times: number[];
  /** Whether it can run more often than is known. */
  isIncomplete: boolean;
}

interface Planned<Schedule> {
  schedule: Schedule;
  times: readonly number[];
  isComplete: boolean;
}

/** Returns the runs of each day, by the first time of each schedule. */
export function runsByDay<Schedule>(
  days: readonly Day[],
  planned: readonly Planned<Schedule>[],
  timeZone: string | undefined,
): Map<string, DayRuns<Schedule>[]> {
  const byDay = new Map(days.map(({ key }): [string, DayRuns<Schedule>[]] => [key, []]));
  for (const { schedule, times, isComplete } of planned) {
    const lastKnown = isComplete ? undefined : keyOf(new Date((times.at(-1) ?? 0) * 1000), timeZone);
    const onDay = groupBy(times, (time) => keyOf(new Date(time * 1000), timeZone));
    for (const { key } of days) {
      const found = onDay.get(key) ?? [];
      const isIncomplete = lastKnown !== undefined && key >= lastKnown;
      if (found.length > 0 || isIncomplete) byDay.get(key)?.push({ schedule, times: found, isIncomplete });
    }
  }
  for (const runs of byDay.values()) runs.sort((a, b) => (a.times[0] ?? Infinity) - (b.times[0] ?? Infinity));
  return byDay;
}
