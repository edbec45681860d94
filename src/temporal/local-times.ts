import type { CalendarSpec, DayOfWeek, Month } from '@temporalio/client';

/** Days and times of day in a time zone, as a clock there shows them. */
export interface LocalTimes {
  /** A day matches if it matches any of these. */
  days: readonly DayRule[];
  /** On such a day: each hour of a group with each of its minutes. */
  times: readonly { hours: readonly number[]; minutes: readonly number[] }[];
  /** An IANA time zone. */
  time_zone: string;
}

/** A day that matches all fields. An absent field matches every day. Month 1 is January, weekday 0 is Sunday. */
export interface DayRule {
  years?: readonly YearRange[] | undefined;
  months?: readonly number[] | undefined;
  days?: readonly number[] | undefined;
  weekdays?: readonly number[] | undefined;
}

/** Inclusive. */
export interface YearRange {
  start: number;
  end: number;
  step: number;
}

/** Temporal's calendars end with this year. */
export const lastYear = 2100;

const monthNames = [
  ...(['JANUARY', 'FEBRUARY', 'MARCH', 'APRIL', 'MAY', 'JUNE'] as const),
  ...(['JULY', 'AUGUST', 'SEPTEMBER', 'OCTOBER', 'NOVEMBER', 'DECEMBER'] as const),
] as const;
const weekdayNames = ['SUNDAY', 'MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY'] as const;

const dayMs = 86_400_000;
const minuteMs = 60_000;

/** The times as Temporal's calendars: a time fires if all fields of one calendar match. */
export function calendarSpecs({ days, times }: LocalTimes): CalendarSpec[] {
  return days.flatMap((rule) =>
    times.map(({ hours, minutes }) => ({ ...daysOf(rule), hour: rangesOf(hours), minute: rangesOf(minutes) })),
  );
}

function daysOf({ years, months, days, weekdays }: DayRule): CalendarSpec {
  return {
    ...(years && { year: [...years] }),
    ...(months && { month: months.map(monthName) }),
    ...(days && { dayOfMonth: rangesOf(days) }),
    ...(weekdays && { dayOfWeek: weekdays.map(weekdayName) }),
  };
}

/** @param month 1 is January */
const monthName = (month: number): Month => monthNames[month - 1] ?? 'JANUARY';
const weekdayName = (weekday: number): DayOfWeek => weekdayNames[weekday] ?? 'SUNDAY';

/** Joins successive numbers, because each range is a message to Temporal. */
function rangesOf(numbers: readonly number[]): { start: number; end: number }[] {
  const ranges: { start: number; end: number }[] = [];
  for (const number of numbers.toSorted((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last && number <= last.end + 1) last.end = number;
    else ranges.push({ start: number, end: number });
  }
  return ranges;
}

/** The first time after another one, in epoch seconds; infinite if there is none until 2100. */
export function firstTimeOf(local: LocalTimes, after: number): number {
  const clock = clockOf(local.time_zone);
  // The local date can be a day before the date in UTC.
  for (let day = dayOf(after * 1000) - dayMs; day <= Date.UTC(lastYear, 11, 31); day += dayMs) {
    const first = Math.min(...timesOn(local, day, clock).filter((at) => at > after));
    if (first < Infinity) return first;
  }
  return Infinity;
}

/** The last time in a span, both ends included. In epoch seconds. */
export function lastTimeOf(local: LocalTimes, from: number, to: number): number | undefined {
  const clock = clockOf(local.time_zone);
  for (let day = dayOf(to * 1000) + dayMs; day >= dayOf(from * 1000) - dayMs; day -= dayMs) {
    const last = Math.max(...timesOn(local, day, clock).filter((at) => at >= from && at <= to));
    if (last > -Infinity) return last;
  }
  return undefined;
}

/** Midnight in UTC. */
const dayOf = (at: number) => Math.floor(at / dayMs) * dayMs;

/** Returns what a local clock shows, as if it were UTC. In epoch milliseconds. */
type Clock = (at: number) => number;

function clockOf(timeZone: string): Clock {
  const format = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' },
    ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
  });
  return (at) => {
    const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
    return Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  };
}

/** The times on a local day: none in an hour that a clock change skips, both in an hour that it repeats. In epoch seconds. */
function timesOn({ days, times }: LocalTimes, day: number, clock: Clock): number[] {
  if (!matchesDay(days, new Date(day))) return [];
  const offsets = new Set([-dayMs, dayMs].map((shift) => clock(day + shift) - (day + shift)));
  const isPlain = offsets.size === 1;
  return times
    .flatMap(({ hours, minutes }) => hours.flatMap((hour) => minutes.map((minute) => hour * 60 + minute)))
    .map((minuteOfDay) => day + minuteOfDay * minuteMs)
    .flatMap((local) => [...offsets].map((offset) => local - offset).filter((at) => isPlain || clock(at) === local))
    .map((at) => at / 1000);
}

/** @param date has the day as its date in UTC */
function matchesDay(rules: readonly DayRule[], date: Date): boolean {
  const year = date.getUTCFullYear();
  return rules.some(
    ({ years, months, days, weekdays }) =>
      (years?.some(({ start, end, step }) => year >= start && year <= end && (year - start) % step === 0) ?? true) &&
      (months?.includes(date.getUTCMonth() + 1) ?? true) &&
      (days?.includes(date.getUTCDate()) ?? true) &&
      (weekdays?.includes(date.getUTCDay()) ?? true),
  );
}
