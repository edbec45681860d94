const longestWaitMs = 5 * 60_000;
const passingStatuses: ReadonlySet<number> = new Set([408, 425, 429]);

/** Whether a server may answer the same request otherwise a little later. */
export function isPassingStatus(status: number): boolean {
  return status >= 500 || passingStatuses.has(status);
}

/** Milliseconds from now that a `Retry-After` header names in seconds or as a date (RFC 9110, 10.2.3), at most 5 minutes. */
export function retryAfterMs(header: string | null | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, longestWaitMs);
  const at = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.min(Math.max(at - now, 0), longestWaitMs);
}

/** Milliseconds that a model endpoint asks for: its own `retry-after-ms` before the `Retry-After` of HTTP. */
export function retryHintMs(headers: Pick<Headers, 'get'>, now: number): number | undefined {
  const exact = headers.get('retry-after-ms')?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(exact)) return Math.min(Math.ceil(Number(exact)), longestWaitMs);
  return retryAfterMs(headers.get('retry-after'), now);
}

/** The same, of an answer's headers as they came. */
export function retryAfterOf(headers: Record<string, string | string[] | undefined>): number | undefined {
  const header = headers['retry-after'];
  return retryAfterMs(Array.isArray(header) ? header[0] : header, Date.now());
}
