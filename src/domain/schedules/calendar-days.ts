import { lastYear, type DayRule, type YearRange } from '../../temporal/local-times.js';
import { weekdays as weekdayNames, type Calendar } from './frequency.js';

const leapYears = [{ start: 2000, end: 2096, step: 4 }];
const otherYears = [
  ...[2001, 2002, 2003].map((start) => ({ start, end: start + 96, step: 4 })),
  { start: lastYear, end: lastYear, step: 1 },
];

/** The months by their length, which days that count from the end of a month depend on. */
const monthsByLength: readonly { length: number; months: readonly number[]; years?: readonly YearRange[] }[] = [
  { length: 31, months: [1, 3, 5, 7, 8, 10, 12] },
  { length: 30, months: [4, 6, 9, 11] },
  { length: 29, months: [2], years: leapYears },
  { length: 28, months: [2], years: otherYears },
];

/** The days of a calendar: those that match any of these rules. */
export function dayRules({ weekdays, days_of_month, nth_weekdays, months }: Calendar): DayRule[] {
  if (weekdays) return [{ months, weekdays: weekdays.map(indexOf) }];
  if (days_of_month) {
    const fromEnd = days_of_month.filter((day) => day < 0);
    return [
      { months, days: days_of_month.filter((day) => day > 0) },
      ...untilEnd(months, (length) => ({ days: fromEnd.map((day) => length + 1 + day).filter((day) => day > 0) })),
    ].filter(isPossible);
  }
  if (nth_weekdays) {
    const weekdaysOf = (nth: number) =>
      nth_weekdays.filter((each) => each.nth === nth).map(({ weekday }) => indexOf(weekday));
    return [
      ...[1, 2, 3, 4, 5].map((nth) => ({
        months,
        days: numbers(7 * nth - 6, Math.min(7 * nth, 31)),
        weekdays: weekdaysOf(nth),
      })),
      ...untilEnd(months, (length) => ({ days: numbers(length - 6, length), weekdays: weekdaysOf(-1) })),
    ].filter(isPossible);
  }
  return [{ months }];
}

/** One rule for each length of a month, with the days that this length gives. */
function untilEnd(
  months: readonly number[] | undefined,
  daysOf: (length: number) => Pick<DayRule, 'days' | 'weekdays'>,
): DayRule[] {
  return monthsByLength.map(({ length, months: ofLength, years }) => ({
    years,
    months: ofLength.filter((month) => months?.includes(month) ?? true),
    ...daysOf(length),
  }));
}

/** Temporal would take an empty field as one that matches every day. */
function isPossible({ months, days, weekdays }: DayRule): boolean {
  return [months, days, weekdays].every((field) => field === undefined || field.length > 0);
}

function indexOf(weekday: (typeof weekdayNames)[number]): number {
  return weekdayNames.indexOf(weekday);
}

function numbers(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}
