import { AppError } from '../../errors.js';
import type { HttpRequest } from '../../outbound/http-client.js';
import { renderUrl } from '../../prompts/template.js';
import { variablesOf } from '../../prompts/variables.js';
import type { CallActionRequest } from '../../../workflows/agentflow-execution/steps/action.js';
import { inputOf } from './action-fields.js';
import { withoutTrailing } from '../../without-trailing.js';

/** The author must write scheme, host and port literally: no variable can choose the host that the product calls. */
const literalOrigin = /^https?:\/\/[^/?#\\{}\s]+(?=[/?#]|$)/i;
const dotSegment = /(^|[/\\])(\.|%2e){1,2}([/\\]|$)/i;
const methods: ReadonlyMap<string, HttpRequest['method']> = new Map(
  (['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).map((method) => [method, method]),
);

export interface RestfulCall extends Pick<HttpRequest, 'method' | 'url' | 'headers' | 'body'> {
  /** The input, which became the query or the body. */
  input: Record<string, unknown>;
}

/**
 * Builds the HTTP request of an action whose endpoint is a URL or a path below `base`. The input becomes the query for
 * GET and DELETE, and the JSON body for other methods.
 * @throws AppError `validation_failed` for an invalid endpoint, method or input; `unconfigured` for a path without a
 * base
 */
export function restfulCall(request: CallActionRequest, base?: string): RestfulCall {
  const { action, context } = request;
  const input = inputOf(request);
  const variables = variablesOf({
    ...context,
    input_variables: { ...context.input_variables, ...(request.input?.arguments && input), ...request.input?.edits },
  });
  const text = renderUrl(whatOf(request), templateOf(request, base), variables);
  return callOf(request, action.method, isPath(action.endpoint) ? appendPath(base, text) : text, input);
}

/** Builds the request of a known operation. The input fills the path; the rest becomes the query or the body. */
export function operationCall(
  request: CallActionRequest,
  base: string,
  { method, path }: { method: string; path: string },
  input: Record<string, unknown>,
): RestfulCall {
  const rest = { ...input };
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const { [name]: value } = rest;
    delete rest[name];
    return encodeURIComponent(textOf(value));
  });
  return callOf(request, method, appendPath(base, filled), rest);
}

/** A GET of a path below `base`, as the call of an action would send it. */
export function readingCall(base: string, path: string): RestfulCall {
  const { href: url } = urlOf('path', appendPath(base, path));
  return { method: 'GET', url, headers: commonHeaders, input: {} };
}

const commonHeaders = { accept: 'application/json', 'user-agent': 'governed-context-service' };

function callOf(
  request: CallActionRequest,
  methodName: string,
  address: string,
  input: Record<string, unknown>,
): RestfulCall {
  const method = methods.get(methodName.toUpperCase());
  if (!method) throw new AppError('validation_failed', `the action "${request.action.name}" has an unknown method`);
  const url = urlOf(whatOf(request), address);
  const headers = {
    ...commonHeaders,
    // Ids can contain any character, but header values cannot.
    'idempotency-key': encodeURI(request.idempotency_key),
  };
  if (method === 'GET' || method === 'DELETE') {
    for (const [name, value] of Object.entries(input)) url.searchParams.append(name, textOf(value));
    return { method, url: url.href, headers, input };
  }
  return {
    method,
    url: url.href,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(input),
    input,
  };
}

function templateOf({ action }: CallActionRequest, base: string | undefined): string {
  const template = action.endpoint.trim();
  if (isPath(template)) {
    if (base === undefined)
      throw new AppError(
        'unconfigured',
        `the action "${action.name}" names a path: it needs a connector with a base URL`,
      );
  } else if (!literalOrigin.test(template)) {
    throw new AppError(
      'validation_failed',
      `the endpoint of "${action.name}" must begin with http:// or https:// and a host without variables`,
    );
  }
  return template;
}

/** Appends the path to the base URL, which is not a template and is used literally. */
function appendPath(base = '', path: string): string {
  return withoutTrailing(base, '/') + path;
}

function isPath(endpoint: string): boolean {
  return /^\s*\/(?![/\\])/.test(endpoint);
}

function urlOf(what: string, text: string): URL {
  if (!URL.canParse(text)) throw new AppError('validation_failed', `${what} is not a URL`);
  // A value of ".." would change the path of the call.
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
