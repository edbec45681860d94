const maxWaitMs = 5 * 60_000;
/** The form of a date that has no zone, because it is always UTC (RFC 9110, 5.6.7). */
const asctime = /^\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$/;
const transientStatuses: ReadonlySet<number> = new Set([408, 425, 429]);

/** Returns whether the same request may succeed later. */
export function isTransientStatus(status: number): boolean {
  return status >= 500 || transientStatuses.has(status);
}

/**
 * Returns the delay in milliseconds that a `Retry-After` header specifies in seconds or as a date (RFC 9110, 10.2.3),
 * at most 5 minutes.
 */
export function retryAfterMs(header: string | null | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, maxWaitMs);
  const date = asctime.test(text) ? `${text} GMT` : text;
  const at = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(date) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.min(Math.max(at - now, 0), maxWaitMs);
}

/**
 * Returns the delay in milliseconds that a model endpoint requests. `retry-after-ms` takes precedence over
 * `Retry-After`.
 */
export function retryHintMs(headers: Pick<Headers, 'get'>, now: number): number | undefined {
  const exact = headers.get('retry-after-ms')?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(exact)) return Math.min(Math.ceil(Number(exact)), maxWaitMs);
  return retryAfterMs(headers.get('retry-after'), now);
}

const statedWait = /\b(?:again|retry) (?:in|after) (?:(\d+)h)? ?(?:(\d+)m(?!s))? ?(?:([\d.]+) ?(ms|s(?:ec)?))?/i;

/** Returns the delay that an error message states, such as "Please try again in 1m30.5s", at most 5 minutes. */
export function statedWaitMs(message: string): number | undefined {
  const found = statedWait.exec(message.slice(0, 10_000));
  if (!found) return undefined;
  const [, hours = '0', minutes = '0', amount = '0', unit = 's'] = found;
  const ms = (Number(hours) * 3600 + Number(minutes) * 60) * 1000 + Number(amount) * (unit === 'ms' ? 1 : 1000);
  return Number.isFinite(ms) && ms > 0 ? Math.min(Math.ceil(ms), maxWaitMs) : undefined;
}

/** Returns `retryAfterMs` for the raw headers of a response. */
export function retryAfterOf(headers: Record<string, string | string[] | undefined>): number | undefined {
  const header = headers['retry-after'];
  return retryAfterMs(Array.isArray(header) ? header[0] : header, Date.now());
}
