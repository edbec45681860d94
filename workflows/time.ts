const isoTime = /^(\d{4})-(\d{2})-(\d{2})([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(?<zone>Z|[+-]\d{2}:\d{2})?)?$/i;

/**
 * Reads a date, or a date with a time, of ISO 8601. Without a zone it is in UTC. Returns epoch seconds, or NaN for other texts:
 * JavaScript itself reads "item 5" as a day in 2001.
 */
export function isoSeconds(text: string): number {
  const match = isoTime.exec(text);
  if (!match) return NaN;
  const [, year, month, day, time] = match;
  // JavaScript reads the 30th of February as the 2nd of March.
  const isDay = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day);
  if (!isDay) return NaN;
  return Date.parse(time !== undefined && match.groups?.zone === undefined ? `${text}Z` : text) / 1000;
}

/** The workflow's time, which a replay repeats, in epoch seconds. */
export function epochSeconds(): number {
  return Date.now() / 1000;
}
