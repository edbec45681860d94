import { isWithinWeek, relativeText, useTicks } from './relative-time.js';
import { timeFormats, useTimeZone } from './time-zone.js';
import textStyles from './styles/text.module.css';

interface TimeOptions {
  at: number | null | undefined;
  /** By default, how long ago it was or will be, from a day on the weekday, and from a week on the date. */
  format?: Intl.DateTimeFormat;
  /** Shows the time with its seconds if it is today, and otherwise with its date: where the order or the distance of times counts. */
  isExact?: boolean;
}

/** Shows a time in the zone of the person, with the weekday and the zone, and the UTC time, as its tooltip. */
export function Time({ at, format, isExact = false }: TimeOptions) {
  const timeZone = useTimeZone();
  useTicks();
  if (at === null || at === undefined) return <span className={textStyles.soft}>–</span>;
  const date = new Date(at * 1000);
  const iso = date.toISOString();
  const { whole } = timeFormats(timeZone);
  return (
    <time dateTime={iso} title={`${whole.format(date)}; ${iso.slice(0, 19).replace('T', ' ')} UTC`}>
      {format?.format(date) ?? (isExact ? exactText(date, timeZone) : shortText(date, timeZone))}
    </time>
  );
}

function exactText(date: Date, timeZone: string | undefined): string {
  const { day, time, minute } = timeFormats(timeZone);
  return day.format(date) === day.format(new Date()) ? time.format(date) : `${day.format(date)} ${minute.format(date)}`;
}

function shortText(date: Date, timeZone: string | undefined): string {
  const { day, minute, weekday } = timeFormats(timeZone);
  const [at, now] = [date.getTime() / 1000, Date.now() / 1000];
  return relativeText(at, now) ?? `${(isWithinWeek(at, now) ? weekday : day).format(date)} ${minute.format(date)}`;
}
