/** Error codes that a retry does not change (specification, Retry rules 4). */
const neverRetried = new Set(['unconfigured', 'unavailable']);
const capSeconds = 60;
const offsetSeconds = 1;

export interface RetryOptions {
  /** The maximum number of attempts. The default is 5. */
  maxAttempts?: number;
  /** Returns a number in [0, 1). The default is `Math.random`. */
  random?: () => number;
  /** Returns epoch milliseconds. The default is `Date.now`. */
  now?: () => number;
  /** Waits, and rejects if the signal aborts. */
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

/** Returns whether the same request may be retried unchanged (specification, Retry rules 1 and 4). */
export function mayRetry(status: number, error: string): boolean {
  return status === 429 || (status >= 500 && !neverRetried.has(error));
}

/**
 * Returns how long to wait after an attempt, counted from 1 (specification, Retry rules 2 and 3): at least
 * `Retry-After` if present, otherwise full jitter.
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

/** Parses seconds or an HTTP date (RFC 9110, 10.2.3). */
function parseRetryAfter(text: string | null, now: number): number | undefined {
  const trimmed = text?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(trimmed)) return Number(trimmed);
  const date = /^[a-z]{3},/i.test(trimmed) ? Date.parse(trimmed) : NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, (date - now) / 1000);
}

/** `setTimeout` supports at most 24.8 days. */
function sleepSeconds(seconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', stop);
        resolve();
      },
      Math.min(seconds * 1000, 2 ** 31 - 1),
    );
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}
