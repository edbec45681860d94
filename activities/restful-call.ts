import { AppError } from '../src/errors.js';
import type { HttpRequest, HttpResponse } from '../src/outbound/http-client.js';
import { OutboundError } from '../src/outbound/outbound-error.js';
import { isPassingStatus, retryAfterMs } from '../src/outbound/retry-hints.js';
import type { CallActionRequest } from '../workflows/agentflow-execution/activities.js';
import { inputOf } from './action-fields.js';
import { renderUrl, variablesOf } from './template.js';

/** Scheme, host and port are the author's own words: no variable may choose whom the product calls. */
const literalOrigin = /^https?:\/\/[^/?#\\{}\s]+(?=[/?#]|$)/i;
const dotSegment = /(^|[/\\])(\.|%2e){1,2}([/\\]|$)/i;
const methods: ReadonlyMap<string, HttpRequest['method']> = new Map(
  (['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).map((method) => [method, method]),
);

export type RestfulCall = Pick<HttpRequest, 'method' | 'url' | 'headers' | 'body'>;

/**
 * The HTTP request of a `restful` action: its input is the query of GET and DELETE, otherwise the JSON body.
 * @throws AppError `validation_failed` for an endpoint, method or input that makes no request
 */
export function restfulCall(request: CallActionRequest): RestfulCall {
  const { action, idempotency_key } = request;
  const method = methods.get(action.method.toUpperCase());
  if (!method) throw new AppError('validation_failed', `the action "${action.name}" has an unknown method`);
  const url = endpointOf(request);
  const input = inputOf(request);
  const headers = {
    accept: 'application/json',
    'user-agent': 'governed-context-service',
    // Ids may hold any character, header values may not.
    'idempotency-key': encodeURI(idempotency_key),
  };
  if (method === 'GET' || method === 'DELETE') {
    for (const [name, value] of Object.entries(input)) url.searchParams.append(name, textOf(value));
    return { method, url: url.href, headers };
  }
  return { method, url: url.href, headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(input) };
}

function endpointOf({ action, context }: CallActionRequest): URL {
  const what = `the endpoint of "${action.name}"`;
  const template = action.endpoint.trim();
  if (!literalOrigin.test(template)) {
    throw new AppError('validation_failed', `${what} must begin with http:// or https:// and a host without variables`);
  }
  const text = renderUrl(what, template, variablesOf(context));
  if (!URL.canParse(text)) throw new AppError('validation_failed', `${what} is not a URL`);
  // A value of ".." would move the call to another path of the same host.
  const path = text.replace(/[\t\r\n]/g, '').split(/[?#]/, 1)[0] ?? '';
  if (dotSegment.test(path)) throw new AppError('validation_failed', `${what} holds a "." or ".." segment`);
  return new URL(text);
}

/**
 * What an answer is worth: JSON as its value, other text as `{text}`, an empty one as null.
 * @throws OutboundError `action_unavailable` or `action_refused` by status, AppError `validation_failed`
 */
export function readAnswer(name: string, { status, headers, body }: HttpResponse): unknown {
  if (status < 200 || status > 299) throw statusFailure(name, status, headers['retry-after']);
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

function statusFailure(name: string, status: number, retryAfter: string | string[] | undefined): OutboundError {
  const message = `the action "${name}" was answered with status ${status}`;
  if (!isPassingStatus(status)) return new OutboundError('action_refused', message, { status });
  const header = Array.isArray(retryAfter) ? retryAfter[0] : retryAfter;
  return new OutboundError('action_unavailable', message, { status, retryAfterMs: retryAfterMs(header, Date.now()) });
}

function textIn(name: string, body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw new AppError('validation_failed', `the action "${name}" answered with bytes that are no text in UTF-8`);
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
