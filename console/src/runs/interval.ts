/** A time range between two times, as in the address of a page: `2026-11-30T09:00Z/2026-11-30T10:00Z`. */
const pattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\dZ)\/(\d{4}-\d\d-\d\dT\d\d:\d\dZ)$/;

const minuteOf = (at: number) => `${new Date(at * 1000).toISOString().slice(0, 16)}Z`;

/** Both times are epoch seconds, and full minutes. */
export const intervalOf = (from: number, to: number): string => `${minuteOf(from)}/${minuteOf(to)}`;

/** Returns the two times in epoch seconds; undefined if the text is not an interval. */
export function timesIn(text: string): { from: number; to: number } | undefined {
  const [, from, to] = pattern.exec(text) ?? [];
  const times = { from: Date.parse(from ?? '') / 1000, to: Date.parse(to ?? '') / 1000 };
  return times.from <= times.to ? times : undefined;
}
