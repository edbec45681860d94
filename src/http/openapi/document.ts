import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiResponsesObject } from 'zod-openapi';
import { Grant } from '../../auth/grants.js';
import type { Route } from '../define-route.js';
import { addExamples } from './add-examples.js';
import { errorExamples, errorResponses, type RouteGroup, type Security } from './errors.js';
import { tagTexts } from './tags.js';

/** The OpenAPI 3.1 document, made from the schemas that validate (contract, head). */
export function openApiDocument(groups: readonly RouteGroup[], options: { baseUrl: string; version: string }) {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const { security, routes } of groups) {
    for (const route of routes) (paths[route.path] ??= {})[route.method] = operation(route, security);
  }
  const used = new Set(groups.flatMap(({ routes }) => routes.map(({ tag }) => tag)));
  const document = createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Governed Context and Workflow Service',
      version: options.version,
      description,
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    servers: [{ url: options.baseUrl, description: 'This deployment.' }],
    tags: Object.entries(tagTexts).filter(([name]) => used.has(name)).map(([name, text]) => ({ name, description: text })),
    paths,
    components: { securitySchemes: securitySchemes(options.baseUrl), examples: errorExamples(groups) },
  });
  return addExamples(document);
}

const description = `Context gateway, workflow platform API and callback receivers.

Every answer carries \`X-Request-Id\`. A refusal is \`{error, error_description}\`, with \`lifecycle_id\` where the call was governed.
Each path answers 405 with \`Allow\` to a method that it does not take. Times are epoch seconds unless a field says otherwise.`;

function securitySchemes(baseUrl: string) {
  const scopes = Object.fromEntries(Grant.options.map((grant) => [grant, `The grant \`${grant}\`.`]));
  return {
    apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'A key that begins with `svc_sk_`; platform API.' },
    bearer: { type: 'http', scheme: 'bearer', description: 'An API key, a user token or a session token; gateway.' },
    oauth: {
      type: 'oauth2',
      description: 'An access token for an app that acts for a person (OAuth 2.1 with PKCE); gateway.',
      flows: { authorizationCode: { authorizationUrl: `${baseUrl}/oauth/authorize`, tokenUrl: `${baseUrl}/oauth/token`, refreshUrl: `${baseUrl}/oauth/token`, scopes } },
    },
  } as const;
}

function operation(route: Route, security: Security): ZodOpenApiOperationObject {
  return {
    operationId: operationId(route),
    tags: [route.tag],
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    security: securityOf(route, security),
    requestParams: {
      path: (route.params as z.ZodObject | undefined) ?? textParams(route.path),
      ...(route.query ? { query: route.query as z.ZodObject } : {}),
      ...headersOf(route, security),
    },
    ...(route.body ? { requestBody: requestBody(route, route.body) } : {}),
    // Readiness has a 503 of its own.
    responses: { ...errorResponses(route, security), ...successResponses(route) },
  };
}

function securityOf({ permission }: Route, security: Security): Record<string, string[]>[] {
  if (permission === 'public') return [];
  if (security !== 'bearer') return [{ [security]: [] }];
  return [{ bearer: [] }, { oauth: permission === 'any' ? [] : [permission] }];
}

function headersOf(route: Route, security: Security) {
  const headers = {
    ...(route.idempotent && { 'Idempotency-Key': z.string().regex(/^[\x21-\x7e]{1,255}$/).optional().meta({ description: 'The same key and body within 24 hours get the first answer.' }) }),
    ...(security === 'bearer' && route.permission !== 'public' && { 'X-Service-Workspace': z.string().optional().meta({ description: 'The workspace, where the credential reaches several.' }) }),
  };
  return Object.keys(headers).length > 0 ? { header: z.object(headers) } : {};
}

/** A body whose every field may be absent may be absent itself. */
function requestBody({ multipart }: Route, schema: z.ZodType) {
  return {
    required: multipart === true || !schema.safeParse({}).success,
    content: { [multipart ? 'multipart/form-data' : 'application/json']: { schema } },
  };
}

function successResponses({ response }: Route): ZodOpenApiResponsesObject {
  const others = Object.entries(response.others ?? {}).map(([status, { description: text, schema, stream }]) => [
    status,
    { description: text, ...(schema && { content: { [stream ?? 'application/json']: { schema } } }) },
  ]);
  const content = { [response.stream ?? 'application/json']: { schema: response.schema } };
  return { [String(response.status ?? 200)]: { description: response.description, content }, ...Object.fromEntries(others) } as ZodOpenApiResponsesObject;
}

/** The parameters of a path whose route leaves them unchecked. */
function textParams(path: string): z.ZodObject {
  return z.object(Object.fromEntries([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, z.string()])));
}

function operationId(route: Route): string {
  const words = route.path.replace(/[{}]/g, '').split(/[/_.-]+/).filter(Boolean);
  return [route.method, ...words].map((word, at) => (at === 0 ? word : word[0]?.toUpperCase() + word.slice(1))).join('');
}
