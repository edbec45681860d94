import type { components } from '@client/openapi.js';
import { durationText } from '../parts.js';
import type { Schedule } from './schedule.js';

type Calendar = components['schemas']['ScheduleCalendar'];
type NthWeekday = NonNullable<Calendar['nth_weekdays']>[number];

export const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;

export const monthNames = [
  ...['January', 'February', 'March', 'April', 'May', 'June'],
  ...['July', 'August', 'September', 'October', 'November', 'December'],
];

export const nthTexts: Record<NthWeekday['nth'], string> = {
  1: 'first',
  2: 'second',
  3: 'third',
  4: 'fourth',
  5: 'fifth',
  [-1]: 'last',
};

export const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

const list = new Intl.ListFormat('en', { type: 'conjunction' });

/** Describes the interval, the cron expression or the calendar of a schedule. */
export function cadenceOf({ type, frequency }: Schedule): string {
  if (type === 'once') return 'Once';
  if (typeof frequency === 'number') return `Every ${intervalText(frequency)}`;
  if (frequency !== null && 'times' in frequency) return calendarText(frequency);
  return `${frequency?.cron ?? ''} in ${frequency?.time_zone ?? 'UTC'}`;
}

function calendarText(calendar: Calendar): string {
  return `${capitalized(daysText(calendar))} at ${list.format(calendar.times)}, ${calendar.time_zone}`;
}

/** For example "the last day of each month". */
function daysText({ weekdays: names, days_of_month, nth_weekdays, months }: Calendar): string {
  const selected = months?.map((month) => monthNames[month - 1] ?? '');
  const inMonths = selected ? ` in ${list.format(selected)}` : '';
  const ofMonths = ` of ${selected ? list.format(selected) : 'each month'}`;
  if (names) return `every ${list.format(names.map(capitalized))}${inMonths}`;
  if (days_of_month) return list.format(days_of_month.map(dayText)) + ofMonths;
  if (nth_weekdays)
    return (
      list.format(nth_weekdays.map(({ weekday, nth }) => `the ${nthTexts[nth]} ${capitalized(weekday)}`)) + ofMonths
    );
  return `every day${inMonths}`;
}

function dayText(day: number): string {
  if (day > 0) return `the ${ordinal(day)}`;
  return day === -1 ? 'the last day' : `the ${ordinal(-day)} to last day`;
}

const suffixes = new Map([
  ['one', 'st'],
  ['two', 'nd'],
  ['few', 'rd'],
]);
const ordinals = new Intl.PluralRules('en', { type: 'ordinal' });
const ordinal = (day: number) => `${day}${suffixes.get(ordinals.select(day)) ?? 'th'}`;

function intervalText(seconds: number): string {
  const units = [
    [86_400, 'day'],
    [3600, 'hour'],
    [60, 'minute'],
  ] as const;
  const whole = units.find(([size]) => seconds % size === 0 && seconds >= size);
  if (!whole) return durationText(seconds);
  const count = seconds / whole[0];
  return count === 1 ? whole[1] : `${count} ${whole[1]}s`;
}
