import { CronExpressionParser } from 'cron-parser';

export interface Cron {
  cron: string;
  time_zone: string;
}

const withZone = /^(?:CRON_TZ|TZ)=(\S+)\s+(\S.*)$/s;

/** Reads a text such as `CRON_TZ=Europe/Oslo 0 9 * * 1`. The default time zone is UTC. */
export function readCron(text: string): Cron {
  const [, time_zone = 'UTC', cron = text] = withZone.exec(text) ?? [];
  return { cron: cron.trim(), time_zone };
}

/** The problem of a cron expression or its time zone, or undefined. */
export function cronProblem({ cron, time_zone }: Cron): string | undefined {
  if (!isZone(time_zone)) return `${JSON.stringify(time_zone)} is not an IANA time zone`;
  // Temporal expects five fields. The library would also accept seconds.
  if (cron.split(/\s+/).length !== 5) return 'a cron expression must have five fields';
  const letter = extensionIn(cron);
  if (letter !== undefined) return `a cron expression must not contain "${letter}"`;
  return timesProblem(cron, time_zone);
}

/**
 * The first of the letters `L`, `W` and `#` with which some programs extend cron expressions: the last day, the nearest
 * weekday, the nth weekday. Temporal refuses the letters and reads `#` as the beginning of a comment, so `MON#1` is every Monday.
 */
export function extensionIn(cron: string): string | undefined {
  const [, , day = '', , weekday = ''] = cron.split(/\s+/);
  // Names of days and months contain the letters too: `WED`, `JUL`.
  const [found] = /[LW]/i.exec(day) ?? /L/i.exec(weekday) ?? /#/.exec(cron) ?? [];
  return found?.toUpperCase();
}

/** Why the expression has no times. */
function timesProblem(cron: string, tz: string): string | undefined {
  try {
    CronExpressionParser.parse(cron, { tz }).next();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : 'is not a valid cron expression';
  }
}

/** Whether it is an IANA time zone. */
export function isZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

/**
 * Given a day of the month and a day of the week, cron requires either to match and Temporal both. Splits them into two
 * expressions. Omits the one with the day of the month if none of its months has this day.
 */
export function cronTexts(cron: string): string[] {
  const [minute, hour, day = '*', month, weekday = '*'] = cron.split(/\s+/);
  if (day.startsWith('*') || weekday.startsWith('*')) return [cron];
  const ofDays = `${minute} ${hour} ${day} ${month} *`;
  const ofWeekdays = `${minute} ${hour} * ${month} ${weekday}`;
  return timesProblem(ofDays, 'UTC') === undefined ? [ofDays, ofWeekdays] : [ofWeekdays];
}
