import { AppError } from '../../errors.js';
import { redactText } from '../../graph/redaction/redact-text.js';
import type { HttpResponse } from '../../outbound/http-client.js';
import { OutboundError } from '../../outbound/outbound-error.js';
import { isTransientStatus, retryAfterOf } from '../../outbound/retry-hints.js';
import { hideSecrets } from '../../outbound/hide-secrets.js';

const maxReadLength = 2000;
const maxExcerptLength = 400;
const plainHeader =
  /^(allow|cache-control|content-(language|length|type)|date|etag|last-modified|retry-after|server|via|(x-)?(correlation|request|trace)-id|(x-)?ratelimit-[\w-]+)$/;

/**
 * Converts an answer to a value: JSON to its value, other text to `{text}`, an empty body to null. An error quotes the
 * start of the answer, without `secrets`, other credentials and personal data.
 * @throws OutboundError `action_unavailable` or `action_refused` depending on the status; AppError `validation_failed`
 */
export function readRestfulAnswer(
  name: string,
  { status, headers, body }: HttpResponse,
  secrets: readonly string[] = [],
): unknown {
  if (status < 200 || status > 299) throw statusFailure(name, status, headers, excerptOf(body, secrets));
  if (body.length === 0) return null;
  const text = textIn(name, body);
  if (!/[/+]json\b/i.test(String(headers['content-type'] ?? ''))) return { text };
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message would quote the answer.
    throw new AppError('validation_failed', `the action "${name}" answered with invalid JSON`);
  }
}

/** The headers of an answer that people may see: not those that can hold credentials, such as cookies. */
export function shownHeaders({ headers }: HttpResponse, secrets: readonly string[]): Record<string, string> {
  const shown = Object.entries(headers).filter(([name]) => plainHeader.test(name));
  return hideSecrets(Object.fromEntries(shown.map(([name, value]) => [name, String(value)])), secrets) as Record<
    string,
    string
  >;
}

/** The text of an answer without the secrets that were sent. Empty for binary content. */
export function bodyText(body: Buffer, secrets: readonly string[]): string {
  const text = withoutSecrets(body.toString('utf8'), secrets);
  return /[\0\uFFFD]/.test(text) ? '' : text;
}

/** Removes secrets before it shortens the text, so that no part of a secret remains. */
export function excerptOf(body: Buffer, secrets: readonly string[]): string {
  const text = bodyText(body, secrets).replace(/\s+/g, ' ').trim();
  const start = text.length > maxReadLength ? withoutLastWord(text.slice(0, maxReadLength)) : text;
  const clean = redactText(start);
  return clean.length > maxExcerptLength ? `${clean.slice(0, maxExcerptLength)} […]` : clean;
}

/** Removes the last word, which may be cut, or at most 200 characters of it. */
function withoutLastWord(text: string): string {
  return text.slice(0, Math.max(text.lastIndexOf(' ') + 1, text.length - 200));
}

/** Compares the decoded values of JSON, because a secret can be escaped in its text. */
function withoutSecrets(text: string, secrets: readonly string[]): string {
  try {
    return JSON.stringify(hideSecrets(JSON.parse(text), secrets));
  } catch {
    return String(hideSecrets(text, secrets));
  }
}

function statusFailure(name: string, status: number, headers: HttpResponse['headers'], excerpt: string): OutboundError {
  const message = `the action "${name}" was answered with status ${status}${excerpt === '' ? '' : `: ${excerpt}`}`;
  if (!isTransientStatus(status)) return new OutboundError('action_refused', message, { status });
  return new OutboundError('action_unavailable', message, { status, retryAfterMs: retryAfterOf(headers) });
}

function textIn(name: string, body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw new AppError('validation_failed', `the action "${name}" answered with bytes that are not UTF-8 text`);
  }
}
