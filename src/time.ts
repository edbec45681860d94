import { z } from 'zod';

/** A time in epoch seconds, with an example for the API reference. */
export const EpochSeconds = z.number().meta({ example: 1764000000.5 });
/** A time later than the example of `EpochSeconds`. */
export const Expiry = EpochSeconds.meta({ example: 1764086400.5 });

/** The latest time that a caller can specify in epoch seconds: 30,000 years. */
export const largestTime = 1e12;

/** Returns epoch seconds with fractions, the format of all timestamps in records. */
export function epochSeconds(date: Date = new Date()): number {
  return date.getTime() / 1000;
}
