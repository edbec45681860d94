import { AppError } from '../src/errors.js';
import type { HttpRequest } from '../src/outbound/http-client.js';
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

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
