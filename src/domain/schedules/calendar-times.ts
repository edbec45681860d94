import type { CalendarSpec, DayOfWeek, Month } from '@temporalio/client';
import { dayRules, lastYear, matchesDay, type DayRule } from './calendar-days.js';
import { weekdays, type Calendar } from './frequency.js';

const monthNames = [
  ...(['JANUARY', 'FEBRUARY', 'MARCH', 'APRIL', 'MAY', 'JUNE'] as const),
  ...(['JULY', 'AUGUST', 'SEPTEMBER', 'OCTOBER', 'NOVEMBER', 'DECEMBER'] as const),
] as const;

const dayMs = 86_400_000;

/** The calendar as Temporal's specs: a time fires if all fields of one spec match. */
export function calendarSpecs(calendar: Calendar): CalendarSpec[] {
  const times = calendar.times.map((time) => ({ hour: Number(time.slice(0, 2)), minute: Number(time.slice(3)) }));
  // Each spec fires at all of its hours and minutes.
  const minutes = [...new Set(times.map(({ minute }) => minute))];
  return dayRules(calendar).flatMap((rule) =>
    minutes.map((minute) => ({
      ...daysOf(rule),
      hour: times.filter((time) => time.minute === minute).map(({ hour }) => hour),
      minute,
    })),
  );
}

function daysOf({ years, months, days, weekdays: indexes }: DayRule): CalendarSpec {
  return {
    ...(years && { year: [...years] }),
    ...(months && { month: months.map(monthName) }),
    ...(days && { dayOfMonth: [...days] }),
    ...(indexes && { dayOfWeek: indexes.map((index) => weekdays[index]?.toUpperCase() as DayOfWeek) }),
  };
}

/** @param month 1 is January */
function monthName(month: number): Month {
  return monthNames[month - 1] ?? 'JANUARY';
}

/** The first time of a calendar after another one, in epoch seconds; infinite if there is none. */
export function firstCalendarTime(calendar: Calendar, after: number): number {
  const clock = clockOf(calendar.time_zone);
  const rules = dayRules(calendar);
  // The local date can be a day before the date in UTC.
  for (let day = dayOf(after * 1000) - dayMs; day <= Date.UTC(lastYear, 11, 31); day += dayMs) {
    const times = matchesDay(rules, new Date(day)) ? timesOn(calendar, day, clock) : [];
    const first = Math.min(...times.filter((at) => at > after));
    if (first < Infinity) return first;
  }
  return Infinity;
}

/** The last time of a calendar in a span, both ends included. In epoch seconds. */
export function lastCalendarTime(calendar: Calendar, from: number, to: number): number | undefined {
  const clock = clockOf(calendar.time_zone);
  const rules = dayRules(calendar);
  for (let day = dayOf(to * 1000) + dayMs; day >= dayOf(from * 1000) - dayMs; day -= dayMs) {
    const times = matchesDay(rules, new Date(day)) ? timesOn(calendar, day, clock) : [];
    const last = Math.max(...times.filter((at) => at >= from && at <= to));
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

/** The times on a local day: none in an hour that a clock change skips, both in an hour that it repeats. */
function timesOn({ times }: Calendar, day: number, clock: Clock): number[] {
  const offsets = new Set([-dayMs, dayMs].map((shift) => clock(day + shift) - (day + shift)));
  return times.flatMap((time) => {
    const local = day + (Number(time.slice(0, 2)) * 60 + Number(time.slice(3))) * 60_000;
    return [...offsets]
      .map((offset) => local - offset)
      .filter((at) => clock(at) === local)
      .map((at) => at / 1000);
  });
}
