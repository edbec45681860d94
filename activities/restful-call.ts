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
 * The HTTP request of an action with an address: a URL, or a path below `base`. Its input is the query of GET and DELETE,
 * otherwise the JSON body.
 * @throws AppError `validation_failed` for an endpoint, method or input that makes no request, `unconfigured` for a path
 *   without a base
 */
export function restfulCall(request: CallActionRequest, base?: string): RestfulCall {
  const { action, context } = request;
  const input = inputOf(request);
  const variables = variablesOf({ ...context, input_variables: { ...context.input_variables, ...(request.input?.arguments && input) } });
  const text = renderUrl(whatOf(request), templateOf(request, base), variables);
  return callOf(request, action.method, isPath(action.endpoint) ? below(base, text) : text, input);
}

/** The request of an operation that is known by name: the input fills its path and then its query or body. */
export function operationCall(request: CallActionRequest, base: string, { method, path }: { method: string; path: string }, input: Record<string, unknown>): RestfulCall {
  const rest = { ...input };
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const { [name]: value } = rest;
    delete rest[name];
    return encodeURIComponent(textOf(value));
  });
  return callOf(request, method, below(base, filled), rest);
}

function callOf(request: CallActionRequest, methodName: string, address: string, input: Record<string, unknown>): RestfulCall {
  const method = methods.get(methodName.toUpperCase());
  if (!method) throw new AppError('validation_failed', `the action "${request.action.name}" has an unknown method`);
  const url = urlOf(whatOf(request), address);
  const headers = {
    accept: 'application/json',
    'user-agent': 'governed-context-service',
    // Ids may hold any character, header values may not.
    'idempotency-key': encodeURI(request.idempotency_key),
  };
  if (method === 'GET' || method === 'DELETE') {
    for (const [name, value] of Object.entries(input)) url.searchParams.append(name, textOf(value));
    return { method, url: url.href, headers };
  }
  return { method, url: url.href, headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(input) };
}

function templateOf({ action }: CallActionRequest, base: string | undefined): string {
  const template = action.endpoint.trim();
  if (isPath(template)) {
    if (base === undefined) throw new AppError('unconfigured', `the action "${action.name}" names a path: it needs a connector with a base URL`);
  } else if (!literalOrigin.test(template)) {
    throw new AppError('validation_failed', `the endpoint of "${action.name}" must begin with http:// or https:// and a host without variables`);
  }
  return template;
}

/** A base URL is never a template: what stands in it is meant as it is. */
function below(base = '', path: string): string {
  return base.replace(/\/+$/, '') + path;
}

function isPath(endpoint: string): boolean {
  return /^\s*\/(?![/\\])/.test(endpoint);
}

function urlOf(what: string, text: string): URL {
  if (!URL.canParse(text)) throw new AppError('validation_failed', `${what} is not a URL`);
  // A value of ".." would move the call to another path of the same host.
  const path = text.replace(/[\t\r\n]/g, '').split(/[?#]/, 1)[0] ?? '';
  if (dotSegment.test(path)) throw new AppError('validation_failed', `${what} holds a "." or ".." segment`);
  return new URL(text);
}

function whatOf({ action }: CallActionRequest): string {
  return `the endpoint of "${action.name}"`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
