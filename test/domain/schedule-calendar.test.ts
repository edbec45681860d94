import { describe, expect, test } from '@jest/globals';
import type { CalendarSpec } from '@temporalio/client';
import { timesOfCalendar } from '../../src/domain/schedules/calendar-times.js';
import { weekdays, type Calendar } from '../../src/domain/schedules/frequency.js';
import { calendarSpecs, firstTimeOf, lastTimeOf } from '../../src/temporal/local-times.js';
import { verifies } from '../support/verifies.js';

const dayMs = 86_400_000;
const [firstDay, lastDay] = [Date.UTC(2024, 0, 1), Date.UTC(2100, 11, 31)];
const noon = { time_zone: 'UTC', times: ['12:00'] };

/** Whether Temporal's field, if it is given, has the value. */
function includes(field: unknown, value: number | string): boolean {
  return (
    field === undefined ||
    [field]
      .flat()
      .some((each: any) =>
        typeof each === 'object'
          ? value >= each.start && value <= each.end && (Number(value) - each.start) % (each.step ?? 1) === 0
          : each === value,
      )
  );
}

const monthNames = Array.from({ length: 12 }, (_, month) =>
  new Date(Date.UTC(2024, month)).toLocaleString('en', { month: 'long', timeZone: 'UTC' }).toUpperCase(),
);

function matches(specs: readonly CalendarSpec[], date: Date): boolean {
  return specs.some(
    ({ year, month, dayOfMonth, dayOfWeek }) =>
      includes(year, date.getUTCFullYear()) &&
      includes(month, monthNames[date.getUTCMonth()] ?? '') &&
      includes(dayOfMonth, date.getUTCDate()) &&
      includes(dayOfWeek, weekdays[date.getUTCDay()]?.toUpperCase() ?? ''),
  );
}

/** Counts from both ends of the month instead of using rules for each length. */
function isExpected({ weekdays: names, days_of_month, nth_weekdays, months }: Calendar, date: Date): boolean {
  const [year, month, day, name] = [
    date.getUTCFullYear(),
    date.getUTCMonth(),
    date.getUTCDate(),
    weekdays[date.getUTCDay()],
  ];
  const length = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  if (months && !months.includes(month + 1)) return false;
  if (names) return names.some((each) => each === name);
  if (days_of_month) return days_of_month.some((each) => each === day || each === day - length - 1);
  if (!nth_weekdays) return true;
  const [nth, isLast] = [Math.ceil(day / 7), day + 7 > length];
  return nth_weekdays.some((each) => each.weekday === name && (each.nth === -1 ? isLast : each.nth === nth));
}

const everyNth = weekdays.flatMap((weekday) => ([1, 2, 3, 4, 5, -1] as const).map((nth) => ({ weekday, nth })));
const everyDay = [...Array.from({ length: 31 }, (_, at) => at + 1), ...Array.from({ length: 31 }, (_, at) => -at - 1)];

const calendars: [string, Partial<Calendar>][] = [
  ['every day', {}],
  ['every day of some months', { months: [2, 12] }],
  ['weekdays', { weekdays: ['monday', 'friday', 'sunday'] }],
  ['weekdays of a month', { weekdays: ['saturday'], months: [2] }],
  ...everyDay.map((day): [string, Partial<Calendar>] => [`day ${day} of the month`, { days_of_month: [day] }]),
  ['days from both ends', { days_of_month: [1, 15, -1] }],
  ['the last day of February', { days_of_month: [-1], months: [2] }],
  ['the last day of each quarter', { days_of_month: [-1], months: [3, 6, 9, 12] }],
  ...everyNth.map((each): [string, Partial<Calendar>] => [`${each.weekday} ${each.nth}`, { nth_weekdays: [each] }]),
  [
    'several nth weekdays',
    {
      nth_weekdays: [
        { weekday: 'tuesday', nth: 2 },
        { weekday: 'friday', nth: -1 },
      ],
      months: [1, 2, 7],
    },
  ],
];

describe("Temporal's specs of a calendar", () => {
  test.each(calendars)('match the days from 2024 to 2100: %s', (_what, days) => {
    verifies('schedule.calendar');
    const calendar = { ...noon, ...days };
    const specs = calendarSpecs(timesOfCalendar(calendar));
    const different: string[] = [];
    for (let day = firstDay; day <= lastDay; day += dayMs) {
      const date = new Date(day);
      if (matches(specs, date) !== isExpected(calendar, date)) different.push(date.toISOString());
    }
    expect(different).toEqual([]);
  });

  test('fire at each of the times of day, and at no other', () => {
    const specs = calendarSpecs(
      timesOfCalendar({ time_zone: 'UTC', times: ['09:00', '17:30', '18:00', '00:30', '01:30'] }),
    );
    const numbers = Array.from({ length: 60 }, (_, at) => at);
    const fires = specs.flatMap(({ hour, minute }) =>
      numbers
        .filter((each) => each < 24 && includes(hour, each))
        .flatMap((each) => numbers.filter((other) => includes(minute, other)).map((other) => `${each}:${other}`)),
    );
    expect(fires.sort()).toEqual(['0:30', '17:30', '18:0', '1:30', '9:0']);
  });
});

describe('the times of a calendar', () => {
  const seconds = (text: string) => Date.parse(text) / 1000;
  const lastDayInOslo = timesOfCalendar({ time_zone: 'Europe/Oslo', times: ['09:00', '00:15'], days_of_month: [-1] });

  test('are local times on both sides of a clock change', () => {
    expect(firstTimeOf(lastDayInOslo, seconds('2026-02-28T08:00Z'))).toBe(seconds('2026-03-30T22:15Z'));
    expect(firstTimeOf(lastDayInOslo, seconds('2026-03-30T22:15Z'))).toBe(seconds('2026-03-31T07:00Z'));
    const [from, to] = [seconds('2026-03-30T07:00Z'), seconds('2026-03-31T06:59:59Z')];
    expect(lastTimeOf(lastDayInOslo, from, to)).toBe(seconds('2026-03-30T22:15Z'));
    expect(lastTimeOf(lastDayInOslo, from, seconds('2026-03-30T22:14Z'))).toBeUndefined();
  });

  test('are the same local day in the zones farthest from UTC', () => {
    for (const [time_zone, expected] of [
      ['Pacific/Kiritimati', '2026-01-30T10:30Z'],
      ['Pacific/Pago_Pago', '2026-01-31T11:30Z'],
    ] as const) {
      const calendar = timesOfCalendar({ time_zone, times: ['00:30'], days_of_month: [-1] });
      expect(firstTimeOf(calendar, seconds('2026-01-02T00:00Z'))).toBe(seconds(expected));
      expect(lastTimeOf(calendar, seconds('2026-01-20T00:00Z'), seconds('2026-02-01T00:00Z'))).toBe(seconds(expected));
    }
  });

  test('do not exist in an hour that a clock change skips, and on days that no month has', () => {
    const skipped = timesOfCalendar({ time_zone: 'Europe/Oslo', times: ['02:30'] });
    expect(firstTimeOf(skipped, seconds('2026-03-28T12:00Z'))).toBe(seconds('2026-03-30T00:30Z'));
    expect(firstTimeOf(timesOfCalendar({ ...noon, days_of_month: [30], months: [2] }), 0)).toBe(Infinity);
  });
});
