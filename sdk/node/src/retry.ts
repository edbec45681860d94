import { setTimeout as delay } from 'node:timers/promises';

/** Labels that say that the same call meets the same refusal (specification, Retry rules 4). */
const neverRepeated = new Set(['unconfigured', 'unavailable']);
const capSeconds = 60;
const offsetSeconds = 1;

export interface RetryOptions {
  /** How often a call is sent at most; 5. */
  maxAttempts?: number;
  /** A number in [0, 1); `Math.random`. */
  random?: () => number;
  /** Epoch milliseconds; `Date.now`. */
  now?: () => number;
  /** Waits so many seconds, and rejects when the signal aborts. */
  sleep?: (seconds: number, signal?: AbortSignal) => Promise<void>;
}

export type Retry = Required<RetryOptions>;

export function retryOf({
  maxAttempts = 5,
  random = Math.random,
  now = Date.now,
  sleep = sleepSeconds,
}: RetryOptions): Retry {
  if (!Number.isInteger(maxAttempts) || maxAttempts < 1)
    throw new TypeError('maxAttempts must be a whole number from 1');
  return { maxAttempts, random, now, sleep };
}

/** Whether the same call may be sent again unchanged (specification, Retry rules 1 and 4). */
export function mayRepeat(status: number, error: string): boolean {
  return status === 429 || (status >= 500 && !neverRepeated.has(error));
}

/**
 * Seconds to wait after the attempt of this number, counted from 1 (specification, Retry rules 2 and 3): no less than
 * `Retry-After`, or else full jitter.
 */
export function secondsToWait(
  attempt: number,
  retryAfter: string | null,
  { random, now }: Pick<Retry, 'random' | 'now'>,
): number {
  const atLeast = parseRetryAfter(retryAfter, now());
  if (atLeast !== undefined) return atLeast + random() * offsetSeconds;
  return random() * Math.min(capSeconds, 2 ** attempt);
}

/** Seconds, or an HTTP date (RFC 9110, 10.2.3). */
function parseRetryAfter(text: string | null, now: number): number | undefined {
  const given = text?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(given)) return Number(given);
  const date = /^[a-z]{3},/i.test(given) ? Date.parse(given) : NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, (date - now) / 1000);
}

/** `setTimeout` holds 24.8 days at most. */
async function sleepSeconds(seconds: number, signal?: AbortSignal): Promise<void> {
  await delay(Math.min(seconds * 1000, 2 ** 31 - 1), undefined, signal ? { signal } : {});
}
