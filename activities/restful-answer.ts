import { AppError } from '../src/errors.js';
import type { HttpResponse } from '../src/outbound/http-client.js';
import { OutboundError } from '../src/outbound/outbound-error.js';
import { isPassingStatus, retryAfterOf } from '../src/outbound/retry-hints.js';

/**
 * What an answer is worth: JSON as its value, other text as `{text}`, an empty one as null.
 * @throws OutboundError `action_unavailable` or `action_refused` by status, AppError `validation_failed`
 */
export function readRestfulAnswer(name: string, { status, headers, body }: HttpResponse): unknown {
  if (status < 200 || status > 299) throw statusFailure(name, status, headers);
  if (body.length === 0) return null;
  const text = textIn(name, body);
  if (!/[/+]json\b/i.test(String(headers['content-type'] ?? ''))) return { text };
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message quotes the answer.
    throw new AppError('validation_failed', `the action "${name}" answered with JSON that cannot be read`);
  }
}

function statusFailure(name: string, status: number, headers: HttpResponse['headers']): OutboundError {
  const message = `the action "${name}" was answered with status ${status}`;
  if (!isPassingStatus(status)) return new OutboundError('action_refused', message, { status });
  return new OutboundError('action_unavailable', message, { status, retryAfterMs: retryAfterOf(headers) });
}

function textIn(name: string, body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw new AppError('validation_failed', `the action "${name}" answered with bytes that are no text in UTF-8`);
  }
}
