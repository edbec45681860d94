import { z } from 'zod';

/** A time in epoch seconds, with an example for the API reference. */
export const EpochSeconds = z.number().meta({ example: 1764000000.5 });
/** A time later than the example of `EpochSeconds`. */
export const Expiry = EpochSeconds.meta({ example: 1764086400.5 });

/** The latest time that a caller can specify in epoch seconds: 30,000 years. */
export const largestTime = 1e12;

const withoutZone = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?$/;

/**
 * Reads a date, or a date with a time, of ISO 8601. Without a zone it is in UTC, whatever the zone of the process. Returns epoch seconds,
 * or NaN if it cannot be read.
 */
export function isoSeconds(text: string): number {
  return Date.parse(withoutZone.test(text) ? `${text}Z` : text) / 1000;
}

/** Lets a process count in UTC, so that expressions have the same values on every machine. Call it before anything reads a time. */
export function countInUtc(env: NodeJS.ProcessEnv): void {
  env.TZ = 'UTC';
}

/** Returns epoch seconds with fractions, the format of all timestamps in records. */
export function epochSeconds(date: Date = new Date()): number {
  return date.getTime() / 1000;
}
