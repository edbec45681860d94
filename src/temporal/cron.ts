import { CronExpressionParser } from 'cron-parser';
import { firstTimeOf, type LocalTimes } from './local-times.js';

export interface Cron {
  cron: string;
  time_zone: string;
}

interface Field {
  name: string;
  /** The name of the library. */
  key: 'minute' | 'hour' | 'dayOfMonth' | 'month' | 'dayOfWeek';
  from: number;
  to: number;
  /** The number of different values. */
  size: number;
  names?: string;
}

const fields: readonly Field[] = [
  { name: 'minute', key: 'minute', from: 0, to: 59, size: 60 },
  { name: 'hour', key: 'hour', from: 0, to: 23, size: 24 },
  { name: 'day of the month', key: 'dayOfMonth', from: 1, to: 31, size: 31 },
  { name: 'month', key: 'month', from: 1, to: 12, size: 12, names: 'JAN to DEC' },
  { name: 'day of the week', key: 'dayOfWeek', from: 0, to: 7, size: 7, names: 'SUN to SAT' },
];

/** What cron(8) calls nicknames. */
const nicknames = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
]);

const withZone = /^(?:CRON_TZ|TZ)=(\S+)\s+(\S.*)$/s;

/** Reads a text such as `CRON_TZ=Europe/Oslo 0 9 * * 1`. The default time zone is UTC. */
export function readCron(text: string): Cron {
  const [, time_zone = 'UTC', cron = text] = withZone.exec(text.trim()) ?? [];
  return { cron: withoutNickname(cron), time_zone };
}

/** Replaces a nickname, such as `@daily`, by the expression that it stands for. */
export function withoutNickname(cron: string): string {
  return nicknames.get(cron.trim().toLowerCase()) ?? cron.trim();
}

/** The problem of a cron expression or its time zone, or undefined. */
export function cronProblem({ cron, time_zone }: Cron): string | undefined {
  if (!isZone(time_zone)) return `${JSON.stringify(time_zone)} is not an IANA time zone`;
  const texts = cron.split(/\s+/);
  const letter = extensionIn(cron);
  if (letter !== undefined) return `a cron expression must not contain "${letter}"`;
  if (texts.length !== fields.length)
    return `a cron expression must have five fields: ${fields.map(({ name }) => name).join(', ')}. A time zone comes before them, as in "TZ=Europe/Oslo 0 9 * * 1-5"`;
  const problem = fields.map((field, at) => fieldProblem(field, texts[at] ?? '')).find(Boolean);
  if (problem !== undefined) return problem;
  return firstTimeOf(timesOfCron({ cron, time_zone }), 0) === Infinity
    ? `${JSON.stringify(cron)} matches no day: none of its months has such a day`
    : undefined;
}

/**
 * The first of the letters `L`, `W` and `#` with which some programs extend cron expressions: the last day, the nearest
 * weekday, the nth weekday. The library would read them.
 */
export function extensionIn(cron: string): string | undefined {
  const [, , day = '', , weekday = ''] = cron.split(/\s+/);
  // Names of days and months contain the letters too: `WED`, `JUL`.
  const [found] = /[LW]/i.exec(day) ?? /L/i.exec(weekday) ?? /#/.exec(cron) ?? [];
  return found?.toUpperCase();
}

function fieldProblem(field: Field, text: string): string | undefined {
  const { name, from, to, size, names } = field;
  const step = text.split(',').find((part) => Number(part.split('/')[1] ?? 1) > size);
  if (step !== undefined)
    return `${name}: the step of ${JSON.stringify(step)} must be from 1 to ${size}. For longer distances, use an interval`;
  if (valuesOf(field, text)) return undefined;
  const example = names === undefined ? '' : `, or names of three letters (${names})`;
  return `${name}: ${JSON.stringify(text)} must be *, numbers from ${from} to ${to}${example}, ranges (1-5), steps (*/2), or a list of these (1,3,5)`;
}

/** The values of a field, in ascending order. Undefined if its text is not valid. */
function valuesOf({ key, from, to, size }: Field, text: string): number[] | undefined {
  const expression = (part: string) => fields.map((field) => (field.key === key ? part : '*')).join(' ');
  const isDay = key === 'dayOfMonth' || key === 'dayOfWeek';
  const values = new Set<number>();
  for (const part of text.split(',')) {
    // The library reads `H` as a random number, and an empty part as 0.
    if (part === '' || /^H/i.test(part) || (part.startsWith('?') && !isDay)) return undefined;
    try {
      for (const value of CronExpressionParser.parse(expression(part)).fields[key].values) values.add(Number(value));
    } catch {
      return undefined;
    }
  }
  // Sunday is 0 and 7.
  const numbers = [...values].map((value) => (value === to && to - from === size ? from : value));
  return [...new Set(numbers)].sort((a, b) => a - b);
}

/**
 * The times of a cron expression that has no problem. Given a day of the month and a day of the week, either matches, as in
 * cron. If one of them begins with `*`, both have to match, as in Vixie cron.
 */
export function timesOfCron({ cron, time_zone }: Cron): LocalTimes {
  const texts = cron.split(/\s+/);
  const [minutes = [], hours = [], days = [], months = [], weekdays = []] = fields.map((field, at) => {
    const values = valuesOf(field, texts[at] ?? '');
    if (!values) throw new TypeError(`${JSON.stringify(cron)} is not a valid cron expression`);
    return values;
  });
  const [, , day = '', , weekday = ''] = texts;
  const isEither = [day, weekday].every((text) => !/^[*?]/.test(text));
  return {
    days: isEither
      ? [
          { months, days },
          { months, weekdays },
        ]
      : [{ months, days, weekdays }],
    times: [{ hours, minutes }],
    time_zone,
  };
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
