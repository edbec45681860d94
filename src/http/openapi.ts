import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiResponsesObject } from 'zod-openapi';
import type { ErrorCode } from '../errors.js';
import { AppError } from '../errors.js';
import type { Route } from './define-route.js';

export const ErrorBody = z
  .object({
    error: z.string().meta({ description: 'A stable code.' }),
    error_description: z.string().meta({ description: 'For people; not to be parsed.' }),
    lifecycle_id: z.string().optional(),
  })
  .meta({ id: 'Error', example: { error: 'not_found', error_description: 'execution was not found' } });

export interface RouteGroup {
  /** The name of the security scheme that its routes use. */
  security: 'apiKey' | 'bearer' | 'none';
  routes: readonly Route[];
}

/** The OpenAPI 3.1 document, made from the schemas that validate (contract, head). */
export function openApiDocument(groups: readonly RouteGroup[], options: { baseUrl: string; version: string }) {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const group of groups) {
    for (const route of group.routes) {
      (paths[route.path] ??= {})[route.method] = operation(route, group.security);
    }
  }
  return createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Governed Context and Workflow Service',
      version: options.version,
      description: 'Context gateway, workflow platform API and callback receivers.',
    },
    servers: [{ url: options.baseUrl }],
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        bearer: { type: 'http', scheme: 'bearer' },
      },
    },
  });
}

function operation(route: Route, security: RouteGroup['security']): ZodOpenApiOperationObject {
  const { response } = route;
  const content = { [response.stream ?? 'application/json']: { schema: response.schema } };
  return {
    operationId: operationId(route),
    tags: [route.tag],
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    security: route.permission === 'public' ? [] : [{ [security]: [] }],
    requestParams: {
      path: (route.params as z.ZodObject | undefined) ?? textParams(route.path),
      ...(route.query ? { query: route.query as z.ZodObject } : {}),
      ...(route.idempotent ? { header: z.object({ 'Idempotency-Key': z.string().max(255).optional() }) } : {}),
    },
    ...(route.body ? { requestBody: { required: true, content: { [route.multipart ? 'multipart/form-data' : 'application/json']: { schema: route.body } } } } : {}),
    responses: {
      [String(response.status ?? 200) as Status]: { description: response.description, content },
      ...errorResponses(route),
    },
  };
}

/** The parameters of a path whose route leaves them unchecked. */
function textParams(path: string): z.ZodObject {
  return z.object(Object.fromEntries([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, z.string()])));
}

function operationId(route: Route): string {
  const words = route.path.replace(/[{}]/g, '').split(/[/_.-]+/).filter(Boolean);
  return [route.method, ...words].map((word, at) => (at === 0 ? word : word[0]?.toUpperCase() + word.slice(1))).join('');
}

type Status = `${1 | 2 | 3 | 4 | 5}${string}`;

/** Several codes may share a status; they are named in one response's description. */
function errorResponses(route: Route): ZodOpenApiResponsesObject {
  const codes = new Set<ErrorCode>(route.errors ?? []);
  if (route.permission !== 'public') codes.add('invalid_token').add('access_denied');
  if (route.params) codes.add('not_found');
  if (route.query || route.body) codes.add('invalid_request');
  if (route.body) codes.add('payload_too_large');
  if (route.idempotent) codes.add('conflict');
  codes.add('unavailable');
  const byStatus = new Map<Status, ErrorCode[]>();
  for (const code of codes) {
    const status = String(new AppError(code, '').status) as Status;
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, names]) => [
      status,
      { description: names.map((name) => `\`${name}\``).join(', '), content: { 'application/json': { schema: ErrorBody } } },
    ]),
  );
}
