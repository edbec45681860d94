import { AppError } from '../../base/errors.js';
import { parseJson } from '../../base/json.js';
import { redactText } from '../../graph/redaction/redact-text.js';
import type { HttpResponse } from '../../outbound/http-client.js';
import { OutboundError } from '../../outbound/outbound-error.js';
import { isTransientStatus, retryAfterOf } from '../../outbound/retry-hints.js';
import { hideSecrets } from '../../outbound/hide-secrets.js';
import { contentTypeOf, textOfAnswer } from './answer-text.js';

const maxReadLength = 2000;
const maxExcerptLength = 400;
const plainHeader =
  /^(allow|cache-control|content-(disposition|language|length|type)|date|etag|last-modified|link|retry-after|server|via|(x-)?(correlation|request|trace)-id|(x-)?rate-?limit-[\w-]+|x-total-count)$/;

/**
 * Converts an answer to a value: JSON to its value, other text to `{text}`, an empty body to null. An error quotes the
 * start of the answer, without `secrets`, other credentials and personal data.
 * @throws OutboundError `action_unavailable` or `action_refused` depending on the status; AppError `validation_failed`
 */
export function readRestfulAnswer(name: string, answer: HttpResponse, secrets: readonly string[] = []): unknown {
  const value = valueOfAnswer(name, answer, secrets);
  if (value !== undefined) return value;
  throw new AppError('validation_failed', `the action "${name}" answered with bytes that are not text`);
}

/** Like `readRestfulAnswer`, but returns undefined for bytes that are not text. */
export function valueOfAnswer(name: string, answer: HttpResponse, secrets: readonly string[]): unknown {
  const { status, headers, body } = answer;
  if (status < 200 || status > 299) throw statusFailure(name, status, headers, excerptOf(answer, secrets));
  if (body.length === 0) return null;
  const text = textOfAnswer(answer);
  if (text === undefined) return undefined;
  if (!/[/+]json\b/i.test(contentTypeOf(headers))) return { text };
  if (text.trim() === '') return null;
  try {
    return parseJson(text);
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
export function bodyText(answer: HttpResponse, secrets: readonly string[]): string {
  const text = withoutSecrets(textOfAnswer(answer) ?? '', secrets);
  return /[\0\uFFFD]/.test(text) ? '' : text;
}

/** Removes secrets before it shortens the text, so that no part of a secret remains. */
export function excerptOf(answer: HttpResponse, secrets: readonly string[]): string {
  const text = bodyText(answer, secrets).replace(/\s+/g, ' ').trim();
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
    return JSON.stringify(hideSecrets(parseJson(text), secrets));
  } catch {
    return String(hideSecrets(text, secrets));
  }
}

function statusFailure(name: string, status: number, headers: HttpResponse['headers'], excerpt: string): OutboundError {
  const message = `the action "${name}" was answered with status ${status}${excerpt === '' ? '' : `: ${excerpt}`}`;
  if (!isTransientStatus(status)) return new OutboundError('action_refused', message, { status });
  return new OutboundError('action_unavailable', message, { status, retryAfterMs: retryAfterOf(headers) });
}

/** The values of these headers, in lower case. A repeated header is joined by commas (RFC 9110, 5.2). */
export function headersNamed({ headers }: HttpResponse, names: readonly string[]): Record<string, string> {
  const wanted = names.map((name) => name.toLowerCase());
  const found = wanted.flatMap((name): [string, string][] => {
    const value = headers[name];
    return value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]];
  });
  return Object.fromEntries(found);
}

/** The name, format and size of a file, from the headers of the answer. */
export function describedFile(action: string, { headers, body }: HttpResponse) {
  const mime_type = contentTypeOf(headers).split(';', 1)[0]?.trim() || 'application/octet-stream';
  const [, named] = /filename\s*=\s*"?([^";/\\]{1,200})/i.exec(String(headers['content-disposition'] ?? '')) ?? [];
  const ending = /^[a-z]+\/([a-z0-9]{1,10})$/i.exec(mime_type)?.[1] ?? 'bin';
  return { name: named?.trim() || `${action}.${ending}`, mime_type, size_bytes: body.length };
}
