/** What models write instead of leaving a time out. */
const absent = /^(?:|null|none|nil|undefined|unknown|unspecified|not specified|n\/?a|-|\?)$/i;
/** What models write for the time of the text, and for an end that has not come. */
const atText = /^(?:now|today)$/i;
const present = /^(?:present|current|currently|ongoing|to date|open)$/i;

const clock = /^(\d{2})(?::?(\d{2})(?::?(\d{2})(?:[.,](\d{1,9}))?)?)?\s?(z|[+\-−]\d{2}(?::?\d{2})?)?$/i;

/**
 * Reads a time of a model: a date of ISO 8601 (calendar, ordinal or week, also without separators, also a year or month),
 * with or without a time of day. Without a zone it is in UTC. `at` is the time of the text. Returns epoch seconds, null if there
 * is none, and undefined if it cannot be read or does not exist.
 */
export function modelTime(given: unknown, at: number): number | null | undefined {
  if (given === null || given === undefined) return null;
  if (typeof given !== 'string' && typeof given !== 'number') return undefined;
  const text = String(given).trim();
  if (absent.test(text) || present.test(text)) return null;
  if (atText.test(text)) return at;
  const [date = '', time, ...rest] = text.split(/[Tt]|(?<=\d)\s+(?=\d)/);
  const day = dayOf(date);
  const seconds = time === undefined ? 0 : secondsOfDay(time);
  return rest.length > 0 || day === undefined || seconds === undefined ? undefined : day + seconds;
}

const calendar = /^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?$/;
const basic = /^(\d{4})(\d{2})(\d{2})$/;
const ordinal = /^(\d{4})-?(\d{3})$/;
const week = /^(\d{4})-?W(\d{2})(?:-?([1-7]))?$/i;

const secondsPerDay = 86_400;

function dayOf(text: string): number | undefined {
  const [, year, month = '1', day = '1'] = calendar.exec(text) ?? basic.exec(text) ?? [];
  if (year !== undefined) return calendarDay(Number(year), Number(month), Number(day));
  const [, ofYear, number] = ordinal.exec(text) ?? [];
  if (ofYear !== undefined) return ordinalDay(Number(ofYear), Number(number));
  const [, ofWeeks, weekNumber, weekday = '1'] = week.exec(text) ?? [];
  return ofWeeks === undefined ? undefined : weekDay(Number(ofWeeks), Number(weekNumber), Number(weekday));
}

/** The calendar of ISO 8601 has a year 0, but no text means it. */
function calendarDay(year: number, month: number, day: number): number | undefined {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return exists && year > 0 ? date.getTime() / 1000 : undefined;
}

function ordinalDay(year: number, number: number): number | undefined {
  const [first, next] = [calendarDay(year, 1, 1), calendarDay(year + 1, 1, 1)];
  if (first === undefined || next === undefined || number < 1) return undefined;
  const day = first + (number - 1) * secondsPerDay;
  return day < next ? day : undefined;
}

/** Week 1 contains 4 January, and weeks begin on Monday. */
function weekDay(year: number, number: number, weekday: number): number | undefined {
  const [first, next] = [firstMonday(year), firstMonday(year + 1)];
  if (first === undefined || next === undefined || number < 1) return undefined;
  const monday = first + (number - 1) * 7 * secondsPerDay;
  return monday < next ? monday + (weekday - 1) * secondsPerDay : undefined;
}

function firstMonday(year: number): number | undefined {
  const fourth = calendarDay(year, 1, 4);
  if (fourth === undefined) return undefined;
  const daysSinceMonday = (new Date(fourth * 1000).getUTCDay() + 6) % 7;
  return fourth - daysSinceMonday * secondsPerDay;
}

function secondsOfDay(text: string): number | undefined {
  const [found, hours = '', minutes = '0', seconds = '0', fraction = '0', zone = 'z'] = clock.exec(text.trim()) ?? [];
  if (found === undefined || Number(minutes) > 59 || Number(seconds) > 60) return undefined;
  const offset = zoneSeconds(zone);
  const time = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds) + Number(`0.${fraction}`);
  return offset === undefined || time > secondsPerDay ? undefined : time - offset;
}

function zoneSeconds(zone: string): number | undefined {
  if (/^z$/i.test(zone)) return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(3).replace(':', '') || 0)];
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith('+') ? 1 : -1) * (hours * 3600 + minutes * 60);
}
