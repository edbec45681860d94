import type { CalendarSpec, Month, ScheduleSpec } from '@temporalio/client';
import { CronExpressionParser } from 'cron-parser';
import { AppError } from '../../errors.js';
import { cronProblem, cronTexts, readCron, type Cron } from '../../temporal/cron.js';
import { epochSeconds } from '../../time.js';
import type { Schedule } from './schemas.js';

type Times = Pick<Schedule, 'type' | 'schedule' | 'frequency' | 'jitter'>;
type GivenFrequency = number | string | Cron | null | undefined;

const maxIntervalSeconds = 31_536_000;

/**
 * Validates and normalizes the times of a schedule.
 * @throws AppError `validation_failed` for a frequency that does not match the type, an invalid cron expression or time zone,
 *   and a single run in the past
 */
export function timesOf(
  type: Schedule['type'],
  frequency: GivenFrequency,
  schedule: number | undefined,
): Pick<Schedule, 'type' | 'frequency' | 'schedule'> {
  const now = epochSeconds();
  if (type === 'once') {
    if (schedule === undefined) throw invalid('schedule: is required for type once (epoch seconds)');
    if (schedule <= now) throw invalid('schedule: must be in the future');
    if (frequency !== null && frequency !== undefined) throw invalid('frequency: must be omitted for type once');
    return { type, frequency: null, schedule };
  }
  if (type === 'interval') {
    const isInterval = typeof frequency === 'number' && Number.isInteger(frequency) && frequency >= 1;
    if (!isInterval || frequency > maxIntervalSeconds)
      throw invalid(`frequency: must be an integer from 1 to ${maxIntervalSeconds} (seconds) for type interval`);
    return { type, frequency, schedule: schedule ?? Math.floor(now) };
  }
  return { type, frequency: cronOf(frequency), schedule: schedule ?? Math.floor(now) };
}

function cronOf(frequency: GivenFrequency): Cron {
  if (typeof frequency === 'number' || frequency === null || frequency === undefined)
    throw invalid('frequency: must be a cron expression for type cron');
  const { cron, time_zone } =
    typeof frequency === 'string' ? readCron(frequency) : { ...frequency, cron: frequency.cron.trim() };
  const problem = cronProblem({ cron, time_zone });
  if (problem !== undefined) throw invalid(`frequency: ${problem}`);
  return { cron, time_zone };
}

/** The times as a Temporal spec, which has a resolution of seconds. */
export function specOf({ type, schedule, frequency, jitter }: Times): ScheduleSpec {
  const spread = jitter > 0 ? { jitter: `${jitter}s` as const } : {};
  const startAt = new Date(Math.floor(schedule) * 1000);
  if (type === 'once')
    return { calendars: [calendarOf(new Date(Math.ceil(schedule) * 1000))], timezone: 'UTC', ...spread };
  if (typeof frequency === 'number') {
    return {
      intervals: [{ every: `${frequency}s`, offset: `${Math.floor(schedule) % frequency}s` }],
      startAt,
      ...spread,
    };
  }
  return {
    cronExpressions: cronTexts(frequency?.cron ?? ''),
    timezone: frequency?.time_zone ?? 'UTC',
    startAt,
    ...spread,
  };
}

/** The planned time of a jittered time: the last time of the schedule that is not later. It identifies the run. */
export function plannedTime({ type, schedule, frequency, jitter }: Times, jittered: number): number {
  const second = Math.floor(jittered);
  if (jitter === 0) return second;
  if (type === 'once') return Math.ceil(schedule);
  if (typeof frequency === 'number')
    return second - ((((second - Math.floor(schedule)) % frequency) + frequency) % frequency);
  const tz = frequency?.time_zone ?? 'UTC';
  const last = Math.max(...cronTexts(frequency?.cron ?? '').map((cron) => lastOf(cron, tz, second)));
  return last >= second - jitter ? last : second;
}

/** The first planned time after a given one, without jitter. In epoch seconds; infinite if there is none. */
export function firstTimeAfter({ type, schedule, frequency }: Times, after: number): number {
  if (type === 'once') return Math.ceil(schedule) > after ? Math.ceil(schedule) : Infinity;
  const start = Math.floor(schedule);
  if (typeof frequency === 'number')
    return start > after ? start : start + (Math.floor((after - start) / frequency) + 1) * frequency;
  const options = {
    tz: frequency?.time_zone ?? 'UTC',
    currentDate: new Date(Math.max(after * 1000, (start - 1) * 1000)),
  };
  const next = cronTexts(frequency?.cron ?? '').map((cron) =>
    CronExpressionParser.parse(cron, options).next().getTime(),
  );
  return Math.min(...next) / 1000;
}

function lastOf(cron: string, tz: string, at: number): number {
  return (
    CronExpressionParser.parse(cron, { tz, currentDate: new Date((at + 1) * 1000) })
      .prev()
      .getTime() / 1000
  );
}

function calendarOf(at: Date): CalendarSpec {
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
