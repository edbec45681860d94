import type { CalendarSpec, Month, ScheduleSpec } from '@temporalio/client';
import { CronExpressionParser } from 'cron-parser';
import { AppError } from '../../../errors.js';
import { epochSeconds } from '../../../time.js';
import type { Schedule } from './schemas.js';

type Times = Pick<Schedule, 'type' | 'schedule' | 'frequency' | 'jitter'>;
type GivenFrequency = number | string | { cron: string; time_zone: string } | null | undefined;

const withZone = /^(?:CRON_TZ|TZ)=(\S+)\s+(.+)$/;

/**
 * The planned times of a schedule as they are stored: a cron text with its zone, the seconds of an interval.
 * @throws AppError `validation_failed` for a frequency that does not fit the type, a cron text or zone that means
 *   nothing, and a run that lies in the past
 */
export function timesOf(type: Schedule['type'], frequency: GivenFrequency, schedule: number | undefined): Pick<Schedule, 'type' | 'frequency' | 'schedule'> {
  const now = epochSeconds();
  if (type === 'once') {
    if (schedule === undefined) throw wrong('schedule: the time of the run, in epoch seconds, is needed');
    if (schedule <= now) throw wrong('schedule: lies in the past');
    if (frequency !== null && frequency !== undefined) throw wrong('frequency: a schedule of type once has none');
    return { type, frequency: null, schedule };
  }
  if (type === 'interval') {
    if (typeof frequency !== 'number') throw wrong('frequency: the seconds of the interval are needed');
    return { type, frequency, schedule: schedule ?? Math.floor(now) };
  }
  return { type, frequency: cronOf(frequency), schedule: schedule ?? Math.floor(now) };
}

function cronOf(frequency: GivenFrequency): { cron: string; time_zone: string } {
  if (typeof frequency === 'number' || frequency === null || frequency === undefined) throw wrong('frequency: a cron text is needed');
  const [, zone = 'UTC', text = ''] = typeof frequency === 'string' ? (withZone.exec(frequency) ?? [null, 'UTC', frequency]) : [null, frequency.time_zone, frequency.cron];
  const cron = text.trim();
  if (!isZone(zone)) throw wrong(`frequency: ${JSON.stringify(zone)} is no IANA time zone`);
  // Five fields, as Temporal reads them; the library would take seconds as well.
  if (cron.split(/\s+/).length !== 5) throw wrong('frequency: a cron text has five fields');
  try {
    CronExpressionParser.parse(cron, { tz: zone }).next();
  } catch (error) {
    throw wrong(`frequency: ${error instanceof Error ? error.message : 'is no cron text'}`);
  }
  return { cron, time_zone: zone };
}

function isZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

const months: Month[] = ['JANUARY', 'FEBRUARY', 'MARCH', 'APRIL', 'MAY', 'JUNE', 'JULY', 'AUGUST', 'SEPTEMBER', 'OCTOBER', 'NOVEMBER', 'DECEMBER'];

/** The times as Temporal has them. Seconds are whole there. */
export function specOf({ type, schedule, frequency, jitter }: Times): ScheduleSpec {
  const spread = jitter > 0 ? { jitter: `${jitter}s` as const } : {};
  const startAt = new Date(Math.floor(schedule) * 1000);
  if (type === 'once') return { calendars: [momentOf(new Date(Math.ceil(schedule) * 1000))], timezone: 'UTC', ...spread };
  if (typeof frequency === 'number') {
    return { intervals: [{ every: `${frequency}s`, offset: `${Math.floor(schedule) % frequency}s` }], startAt, ...spread };
  }
  return { cronExpressions: cronTexts(frequency?.cron ?? ''), timezone: frequency?.time_zone ?? 'UTC', startAt, ...spread };
}

/** A day of the month and one of the week mean either in cron, and both in Temporal: so each is a text of its own. */
function cronTexts(cron: string): string[] {
  const [minute, hour, day = '*', month, weekday = '*'] = cron.split(/\s+/);
  if (day.startsWith('*') || weekday.startsWith('*')) return [cron];
  return [`${minute} ${hour} ${day} ${month} *`, `${minute} ${hour} * ${month} ${weekday}`];
}

function momentOf(at: Date): CalendarSpec {
  return {
    year: at.getUTCFullYear(),
    month: months[at.getUTCMonth()] ?? 'JANUARY',
    dayOfMonth: at.getUTCDate(),
    hour: at.getUTCHours(),
    minute: at.getUTCMinutes(),
    second: at.getUTCSeconds(),
  };
}

function wrong(description: string): AppError {
  return new AppError('validation_failed', description);
}
