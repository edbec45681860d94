import type { components } from '@client/openapi.js';
import { numberIn } from '../number-in.js';
import { fromLocalInput, toLocalInput, type Schedule } from './schedule.js';

type NewSchedule = components['schemas']['ScheduleInput'];
type SchedulePatch = components['schemas']['SchedulePatch'];
type Calendar = components['schemas']['ScheduleCalendar'];
type Cron = Exclude<Schedule['frequency'], number | Calendar | null>;

export const emptyValues = {
  coworker_id: '',
  goal: '',
  table: '',
  type: 'cron',
  interval: '3600',
  cron: '0 9 * * 1-5',
  time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  times: '09:00',
  days: '',
  weekdays: 'monday',
  days_of_month: '-1',
  nth_weekdays: 'monday 1',
  months: '',
  schedule: '',
  ends_at: '',
  overlap: 'skip',
  limit: '',
  catchup_window: '3600',
  jitter: '0',
  pause_on_failure: 'false',
};

/** The form as the person typed it. Only the API validates the values, so that all error messages come from it. */
export type Values = Record<keyof typeof emptyValues, string>;

export function valuesOf(schedule: Schedule): Values {
  const { frequency, limit, table } = schedule;
  return {
    ...emptyValues,
    coworker_id: schedule.coworker_id,
    goal: schedule.goal.template,
    table: table ?? '',
    type: schedule.type,
    ...(typeof frequency === 'number' && { interval: String(frequency) }),
    ...(typeof frequency === 'object' && frequency !== null && calendarValues(frequency)),
    schedule: toLocalInput(schedule.schedule),
    ends_at: schedule.ends_at === null ? '' : toLocalInput(schedule.ends_at),
    overlap: schedule.overlap,
    limit: limit === null ? '' : String(limit),
    catchup_window: String(schedule.catchup_window),
    jitter: String(schedule.jitter),
    pause_on_failure: String(schedule.pause_on_failure),
  };
}

const kindsOfDays = ['weekdays', 'days_of_month', 'nth_weekdays'] as const;

function calendarValues(frequency: Cron | Calendar): Partial<Values> {
  if (!('times' in frequency)) return frequency;
  const { time_zone, times, weekdays, days_of_month, nth_weekdays, months } = frequency;
  return {
    time_zone,
    times: joined(times),
    days: kindsOfDays.find((kind) => frequency[kind] !== undefined) ?? '',
    ...(weekdays && { weekdays: joined(weekdays) }),
    ...(days_of_month && { days_of_month: joined(days_of_month) }),
    ...(nth_weekdays && { nth_weekdays: joined(nth_weekdays.map(({ weekday, nth }) => `${weekday} ${nth}`)) }),
    ...(months && { months: joined(months) }),
  };
}

export const joined = (parts: readonly (string | number)[]) => parts.join(', ');

/** Returns the parts of a text that commas separate. */
export const partsOf = (text: string) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** The field that shows an error of the whole frequency. */
const fieldsOfFrequency: Record<string, string> = { interval: 'interval', cron: 'cron', calendar: 'days' };

/** Returns the field that shows the validation error of a path. */
export function fieldOf(path: string, type: string): string | undefined {
  const [first, second] = path.split('.');
  if (first !== 'frequency') return first !== undefined && first in emptyValues ? first : undefined;
  if (second !== undefined && second in emptyValues) return second;
  return fieldsOfFrequency[type] ?? 'type';
}

/** Returns the properties of each field by its name. */
export function fieldsOf(values: Values, set: (name: keyof Values, text: string) => void) {
  const field = (name: keyof Values) => ({ name, onChange: (text: string) => set(name, text) });
  return {
    textOf: (name: keyof Values) => ({ text: values[name], ...field(name) }),
    choiceOf: (name: keyof Values) => ({ value: values[name], ...field(name) }),
  };
}

export type FormFields = ReturnType<typeof fieldsOf>;

/** The cast is unchecked: the API refuses text that is not a number. */
const numberOf = (text: string) => numberIn(text) as number;

/** The cast is unchecked: the API refuses values of another type. */
function calendarOf({ time_zone, times, days, months, ...values }: Values): Calendar {
  const nth = partsOf(values.nth_weekdays).map((row) => row.split(' '));
  const calendar = {
    time_zone,
    times: partsOf(times),
    ...(days === 'weekdays' && { weekdays: partsOf(values.weekdays) }),
    ...(days === 'days_of_month' && { days_of_month: partsOf(values.days_of_month).map(numberOf) }),
    ...(days === 'nth_weekdays' && {
      nth_weekdays: nth.map(([weekday, number = '']) => ({ weekday, nth: numberOf(number) })),
    }),
    ...(months !== '' && { months: partsOf(months).map(numberOf) }),
  };
  return calendar as Calendar;
}

function timesOf(values: Values) {
  const { type, interval, cron, time_zone, schedule } = values;
  const at = fromLocalInput(schedule);
  return {
    type: type as Schedule['type'],
    ...(type === 'interval' && { frequency: numberOf(interval) }),
    ...(type === 'cron' && { frequency: { cron, time_zone } }),
    ...(type === 'calendar' && { frequency: calendarOf(values) }),
    ...(at !== undefined && { schedule: at }),
  };
}

function optionsOf({ goal, table, overlap, limit, catchup_window, jitter, pause_on_failure }: Values) {
  return {
    goal,
    table: table === '' ? null : table,
    overlap: overlap as Schedule['overlap'],
    limit: limit.trim() === '' ? null : numberOf(limit),
    catchup_window: numberOf(catchup_window),
    jitter: numberOf(jitter),
    pause_on_failure: pause_on_failure === 'true',
  };
}

function endOf({ type, ends_at }: Values) {
  return type === 'once' ? {} : { ends_at: fromLocalInput(ends_at) ?? null };
}

export function bodyOf(values: Values): NewSchedule {
  return { coworker_id: values.coworker_id, ...optionsOf(values), ...timesOf(values), ...endOf(values) };
}

const timeFields = [
  ...(['type', 'interval', 'cron', 'time_zone', 'schedule', 'times', 'days'] as const),
  ...([...kindsOfDays, 'months'] as const),
] as const;

/** Returns the changed values. All time fields are sent together, and changing them restarts the schedule. */
export function changesOf(values: Values, initial: Values): SchedulePatch {
  const isRetimed = timeFields.some((name) => values[name] !== initial[name]);
  const options = Object.entries(optionsOf(values)).filter(
    ([name]) => values[name as keyof Values] !== initial[name as keyof Values],
  );
  const isEndChanged = values.ends_at !== initial.ends_at;
  return { ...Object.fromEntries(options), ...(isRetimed && timesOf(values)), ...(isEndChanged && endOf(values)) };
}
