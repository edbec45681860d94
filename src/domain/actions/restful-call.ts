import { AppError } from '../../base/errors.js';
import type { HttpMethod, HttpRequest } from '../../outbound/http-client.js';
import { renderUrl } from '../../prompts/template.js';
import type { CallActionRequest } from '../../../workflows/agentflow-execution/steps/action.js';
import type { PreparedCall } from './action-call.js';
import { inputOf, templateVariables } from './action-fields.js';
import { encodedBody, jsonType, partsOf, textOf, type CallParts } from './call-parts.js';
import { withoutTrailing } from '../../base/text.js';

/** The author must write scheme, host and port literally: no variable can choose the host that the product calls. */
const literalOrigin = /^https?:\/\/[^/?#\\{}\s]+(?=[/?#]|$)/i;
const dotSegment = /(^|[/\\])(\.|%2e){1,2}([/\\]|$)/i;
const methods: ReadonlyMap<string, HttpMethod> = new Map(
  (['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).map((method) => [method, method]),
);

export interface RestfulCall extends Pick<HttpRequest, 'method' | 'url' | 'headers' | 'ownHeaders' | 'body'> {
  /** The values of all fields. */
  input: Record<string, unknown>;
  /** What the body consists of, and its format unless that is JSON. Both are part of what people approve. */
  content?: Record<string, unknown> | undefined;
  contentType?: string | undefined;
}

/**
 * Builds the HTTP request of an action whose endpoint is a URL or a path below `base`. Each field of the input goes to one
 * place (`partsOf`).
 * @throws AppError `validation_failed` for an invalid endpoint, method or input; `unconfigured` for a path without a
 * base
 */
export function restfulCall(request: CallActionRequest, base?: string): RestfulCall {
  const { action } = request;
  const input = inputOf(request);
  const variables = templateVariables(request, input);
  const text = renderUrl(whatOf(request), templateOf(request, base), variables);
  const method = methodOf(request, action.method);
  const parts = partsOf(action, { method, input, variables });
  return callOf(request, { method, address: isPath(action.endpoint) ? appendPath(base, text) : text, parts, input });
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
  const known = methodOf(request, method);
  const hasQuery = known === 'GET' || known === 'DELETE';
  const query = Object.entries(rest).map(([name, value]): [string, string] => [name, textOf(value)]);
  const parts: CallParts = { query: hasQuery ? query : [], headers: {}, body: hasQuery ? undefined : rest };
  return callOf(request, { method: known, address: appendPath(base, filled), parts, input: rest });
}

/** A GET of a path below `base`, as the call of an action would send it. */
export function readingCall(base: string, path: string): RestfulCall {
  const { href: url } = urlOf('path', appendPath(base, path));
  return { method: 'GET', url, headers: commonHeaders, input: {} };
}

const commonHeaders = { accept: 'application/json', 'user-agent': 'governed-context-service' };

/** What a method of HTTP means (RFC 9110, 9.2). */
export function annotationsOf(method: HttpMethod): PreparedCall['annotations'] {
  return { read_only: method === 'GET', destructive: method === 'DELETE', open_world: true };
}

function methodOf({ action }: CallActionRequest, name: string): HttpMethod {
  const method = methods.get(name.toUpperCase());
  if (!method) throw new AppError('validation_failed', `the action "${action.name}" has an unknown method`);
  return method;
}

function callOf(
  request: CallActionRequest,
  { method, address, parts, input }: Pick<RestfulCall, 'method' | 'input'> & { address: string; parts: CallParts },
): RestfulCall {
  const url = urlOf(whatOf(request), address);
  for (const [name, value] of parts.query) url.searchParams.append(name, value);
  const headers = {
    ...commonHeaders,
    // Ids can contain any character, but header values cannot.
    'idempotency-key': encodeURI(request.idempotency_key),
  };
  const own = Object.keys(parts.headers).length > 0 && { ownHeaders: parts.headers };
  if (parts.body === undefined) return { method, url: url.href, headers, ...own, input };
  const { content_type: contentType } = request.action;
  const encoded = encodedBody(parts.body, request.action);
  return {
    ...{ method, url: url.href, headers: { ...headers, ...encoded.headers }, ...own },
    ...{ body: encoded.body, content: parts.body, input },
    ...(contentType !== undefined && contentType !== jsonType && { contentType }),
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
