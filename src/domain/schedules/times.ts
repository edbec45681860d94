import type { CalendarSpec, Month, ScheduleSpec } from '@temporalio/client';
import { AppError } from '../../base/errors.js';
import {
  cronProblem,
  extensionIn,
  isZone,
  readCron,
  timesOfCron,
  withoutNickname,
  type Cron,
} from '../../temporal/cron.js';
import { calendarSpecs, firstTimeOf, lastTimeOf, type LocalTimes } from '../../temporal/local-times.js';
import { epochSeconds } from '../../base/time.js';
import { timesOfCalendar } from './calendar-times.js';
import { isCalendar, type Calendar, type GivenFrequency } from './frequency.js';
import type { Schedule } from './schemas.js';

type Timing = Pick<Schedule, 'type' | 'frequency' | 'schedule' | 'ends_at'>;
type Times = Timing & { jitter: number };

interface GivenTiming {
  type: Schedule['type'];
  frequency?: GivenFrequency | undefined;
  schedule?: number | undefined;
  ends_at?: number | null | undefined;
}

const maxIntervalSeconds = 31_536_000;

/**
 * Validates and normalizes the times of a schedule.
 * @throws AppError `validation_failed` for a frequency that does not match the type, an invalid cron expression, calendar or time
 *   zone, a single run in the past, and times of which none is left
 */
export function timesOf({ type, frequency, schedule, ends_at = null }: GivenTiming): Timing {
  const now = epochSeconds();
  if (type === 'once') {
    if (schedule === undefined) throw invalid('schedule: is required for type once (epoch seconds)');
    if (schedule <= now) throw invalid('schedule: must be in the future');
    if (frequency !== null && frequency !== undefined) throw invalid('frequency: must be omitted for type once');
    if (ends_at !== null) throw invalid('ends_at: must be omitted for type once');
    return { type, frequency: null, schedule, ends_at };
  }
  const start = schedule ?? Math.floor(now);
  const timing = { type, frequency: frequencyOf(type, frequency), schedule: start, ends_at };
  if (ends_at !== null) {
    if (ends_at <= now) throw invalid('ends_at: must be in the future');
    if (ends_at <= start) throw invalid(`ends_at: must be after the start of the schedule, which is ${start}`);
  }
  if (type === 'calendar' && firstTimeAfter({ ...timing, ends_at: null }, now) === Infinity)
    throw invalid('frequency: must match a day before the year 2101');
  if (ends_at !== null && firstTimeAfter(timing, now) === Infinity)
    throw invalid('ends_at: must not be before the next planned time');
  return timing;
}

function frequencyOf(type: Schedule['type'], frequency: GivenFrequency | undefined): Schedule['frequency'] {
  if (type === 'cron') return cronOf(frequency);
  if (type === 'calendar') return calendarOf(frequency);
  const isInterval = typeof frequency === 'number' && Number.isInteger(frequency) && frequency >= 1;
  if (!isInterval || frequency > maxIntervalSeconds)
    throw invalid(`frequency: must be an integer from 1 to ${maxIntervalSeconds} (seconds) for type interval`);
  return frequency;
}

function cronOf(frequency: GivenFrequency | undefined): Cron {
  if (typeof frequency === 'number' || frequency === null || frequency === undefined || isCalendar(frequency))
    throw invalid('frequency: must be a cron expression for type cron');
  const { cron, time_zone } =
    typeof frequency === 'string' ? readCron(frequency) : { ...frequency, cron: withoutNickname(frequency.cron) };
  const problem = cronProblem({ cron, time_zone });
  if (problem === undefined) return { cron, time_zone };
  throw invalid(`frequency: ${problem}${extensionIn(cron) === undefined ? '' : `. ${insteadOfExtensions}`}`);
}

const insteadOfExtensions =
  'Use type calendar, whose frequency has the last day of a month (days_of_month: [-1]) and the nth weekday (nth_weekdays)';

const kindsOfDays = ['weekdays', 'days_of_month', 'nth_weekdays'] as const;

function calendarOf(frequency: GivenFrequency | undefined): Calendar {
  if (!isCalendar(frequency)) throw invalid('frequency: must be an object with times for type calendar');
  if (!isZone(frequency.time_zone))
    throw invalid(`frequency.time_zone: ${JSON.stringify(frequency.time_zone)} is not an IANA time zone`);
  const [first, second] = kindsOfDays.filter((kind) => frequency[kind] !== undefined);
  if (second !== undefined) throw invalid(`frequency.${second}: must be omitted, because ${first} is given`);
  return frequency;
}

/** The times as a Temporal spec, which has a resolution of seconds. */
export function specOf({ type, schedule, frequency, ends_at, jitter }: Times): ScheduleSpec {
  const spread = jitter > 0 ? { jitter: `${jitter}s` as const } : {};
  if (type === 'once')
    return { calendars: [secondOf(new Date(Math.ceil(schedule) * 1000))], timezone: 'UTC', ...spread };
  const span = {
    startAt: new Date(Math.floor(schedule) * 1000),
    ...(ends_at !== null && { endAt: new Date(Math.floor(ends_at) * 1000) }),
  };
  if (typeof frequency === 'number') {
    return {
      intervals: [{ every: `${frequency}s`, offset: `${Math.floor(schedule) % frequency}s` }],
      ...span,
      ...spread,
    };
  }
  const local = localTimesOf(frequency);
  return { calendars: calendarSpecs(local), timezone: local.time_zone, ...span, ...spread };
}

function localTimesOf(frequency: Schedule['frequency']): LocalTimes {
  if (typeof frequency !== 'object' || frequency === null) throw new TypeError('an interval has no times of day');
  return isCalendar(frequency) ? timesOfCalendar(frequency) : timesOfCron(frequency);
}

/** The planned time of a jittered time: the last time of the schedule that is not later. It identifies the run. */
export function plannedTime({ type, schedule, frequency, jitter }: Times, jittered: number): number {
  const second = Math.floor(jittered);
  if (jitter === 0) return second;
  if (type === 'once') return Math.ceil(schedule);
  if (typeof frequency === 'number')
    return second - ((((second - Math.floor(schedule)) % frequency) + frequency) % frequency);
  return lastTimeOf(localTimesOf(frequency), second - jitter, second) ?? second;
}

/** The first planned time after a given one, without jitter. In epoch seconds; infinite if there is none. */
export function firstTimeAfter(times: Omit<Times, 'jitter'>, after: number): number {
  const first = firstWithoutEnd(times, after);
  return first <= (times.ends_at ?? Infinity) ? first : Infinity;
}

function firstWithoutEnd({ type, schedule, frequency }: Omit<Times, 'jitter'>, after: number): number {
  if (type === 'once') return Math.ceil(schedule) > after ? Math.ceil(schedule) : Infinity;
  const start = Math.floor(schedule);
  if (typeof frequency === 'number')
    return start > after ? start : start + (Math.floor((after - start) / frequency) + 1) * frequency;
  return firstTimeOf(localTimesOf(frequency), Math.max(after, start - 1));
}

function secondOf(at: Date): CalendarSpec {
  return {
    year: at.getUTCFullYear(),
    month: at.toLocaleString('en', { month: 'long', timeZone: 'UTC' }).toUpperCase() as Month,
    dayOfMonth: at.getUTCDate(),
    hour: at.getUTCHours(),
    minute: at.getUTCMinutes(),
    second: at.getUTCSeconds(),
  };
}

function invalid(description: string): AppError {
  return new AppError('validation_failed', description);
}
