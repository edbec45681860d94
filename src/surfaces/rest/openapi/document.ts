import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiResponsesObject } from 'zod-openapi';
import { clientGrants } from '../../../auth/grants.js';
import { isGoverned, parametersIn, type Route } from '../define-route.js';
import { addExamples, completeExample } from './examples.js';
import { errorExamples, errorResponses, type RouteGroup, type Security } from './errors.js';
import { nameSchemas } from './name-schemas.js';
import { makePortable } from './portable.js';
import { pendingApproval } from './pending-approval.js';
import { gatewayTags, operationTags } from './tags.js';
import { Id } from '../../../base/ids.js';

/** Generates the OpenAPI 3.1 document from the schemas that validate requests (contract, head). */
export function openApiDocument(groups: readonly RouteGroup[], options: { baseUrl: string; version: string }) {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const { security, routes } of groups) {
    for (const route of routes) (paths[route.path] ??= {})[route.method] = operation(route, security);
  }
  const used = new Set(groups.flatMap(({ routes }) => routes.map(({ tag }) => tag)));
  const ofGroups = Object.fromEntries(groups.flatMap(({ tags = {} }) => Object.entries(tags)));
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Governed Context and Workflow Service',
        version: options.version,
        description,
        license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
      },
      servers: [{ url: options.baseUrl, description: 'This deployment.' }],
      tags: Object.entries({ ...gatewayTags, ...ofGroups, ...operationTags })
        .filter(([name]) => used.has(name))
        .map(([name, text]) => ({ name, description: text })),
      paths,
      components: { securitySchemes: securitySchemes(options.baseUrl), examples: errorExamples(groups) },
    },
    { override: completeExample },
  );
  return addExamples(nameSchemas(makePortable(document, groups)));
}

const description = `Context gateway, workflow platform API and callback receivers.

Every answer carries \`X-Request-Id\`. A refusal is \`{error, error_description}\`, with \`lifecycle_id\` where the call was governed.
A path answers 405 with \`Allow\` to a method that it does not support. Times are epoch seconds unless a field says otherwise.`;

function securitySchemes(baseUrl: string) {
  const scopes = Object.fromEntries(clientGrants.map((grant) => [grant, `The grant \`${grant}\`.`]));
  return {
    apiKey: {
      type: 'apiKey',
      in: 'header',
      name: 'x-api-key',
      description: 'A key that begins with `svc_sk_`; platform API.',
    },
    bearer: {
      type: 'http',
      scheme: 'bearer',
      description: 'A user token or a session token; on the gateway an API key as well.',
    },
    oauth: {
      type: 'oauth2',
      description: 'An access token for an app that acts for a person (OAuth 2.1 with PKCE); gateway.',
      flows: {
        authorizationCode: {
          authorizationUrl: `${baseUrl}/oauth/authorize`,
          tokenUrl: `${baseUrl}/oauth/token`,
          refreshUrl: `${baseUrl}/oauth/token`,
          scopes,
        },
      },
    },
  } as const;
}

function operation(route: Route, security: Security): ZodOpenApiOperationObject {
  return {
    operationId: operationId(route),
    tags: [route.tag],
    summary: route.summary,
    ...descriptionOf(route),
    security: securityOf(route, security),
    ...(route.repeatable && { 'x-idempotent': true }),
    requestParams: {
      path: textParams(route.path).extend((route.params as z.ZodObject | undefined)?.shape ?? {}),
      ...(route.query ? { query: route.query as z.ZodObject } : {}),
      ...headersOf(route, security),
    },
    ...(route.body ? { requestBody: requestBody(route, route.body) } : {}),
    // Readiness documents its own 503.
    responses: { ...errorResponses(route, security), ...successResponses(route) },
  };
}

/** The description of the route, and the grants of what a call of it causes. */
function descriptionOf({ description, operation: performed }: Route): { description?: string } {
  const causes = (performed?.causes ?? []).map(({ operation: { name, grant }, when = 'always' }) => {
    const needed = typeof grant === 'string' && grant !== 'any' ? `needs the grant \`${grant}\`, and ` : '';
    return `Also ${needed}follows the rules of \`${name}\`: ${when}.`;
  });
  const texts = [description, ...causes].filter((text) => text !== undefined);
  return texts.length > 0 ? { description: texts.join(' ') } : {};
}

function securityOf({ permission }: Route, security: Security): Record<string, string[]>[] {
  if (permission === 'public') return [];
  // The platform accepts user tokens, but not tokens of OAuth clients.
  if (security !== 'bearer') return [{ [security]: [] }, { bearer: [] }];
  const isForClients = permission === 'any' || (clientGrants as readonly string[]).includes(permission);
  return [{ bearer: [] }, ...(isForClients ? [{ oauth: permission === 'any' ? [] : [permission] }] : [])];
}

function headersOf(route: Route, security: Security) {
  const headers = {
    ...(route.idempotent && {
      'Idempotency-Key': z
        .string()
        .regex(/^[\x21-\x7e]{1,255}$/)
        .optional()
        .describe('The same key and body, with the same credential, return the first answer for 24 hours.'),
    }),
    ...(holdable(route) && {
      'X-Resume-Token': z
        .string()
        .max(200)
        .optional()
        .describe('The resume token of an approval, for the same call that was held.'),
    }),
    ...(security === 'bearer' &&
      route.permission !== 'public' && {
        'X-Service-Workspace': z
          .string()
          .optional()
          .describe('The workspace, if the credential has access to several.'),
      }),
  };
  return Object.keys(headers).length > 0 ? { header: z.object(headers) } : {};
}

/** Describes the body of a request. An object with only optional fields is optional itself. */
function requestBody({ multipart }: Route, schema: z.ZodType) {
  return {
    required: multipart === true || !(schema instanceof z.ZodObject) || !schema.safeParse({}).success,
    content: { [multipart ? 'multipart/form-data' : 'application/json']: { schema } },
  };
}

/** Uploads cannot be held, and a route that defines its own 202 response keeps it. */
function holdable(route: Route): boolean {
  return isGoverned(route) && route.multipart !== true && route.response.status !== 202;
}

function successResponses(route: Route): ZodOpenApiResponsesObject {
  const { response } = route;
  const all: NonNullable<Route['response']['others']> = {
    ...(holdable(route) && { 202: pendingApproval }),
    ...response.others,
  };
  const others = Object.entries(all).map(([status, { description: text, schema, stream }]) => [
    status,
    { description: text, ...(schema && { content: { [stream ?? 'application/json']: { schema } } }) },
  ]);
  const content = { [response.stream ?? 'application/json']: { schema: response.schema } };
  return {
    [String(response.status ?? 200)]: { description: response.description, content },
    ...Object.fromEntries(others),
  } as ZodOpenApiResponsesObject;
}

/** Returns schemas for the path parameters of a route that defines none. */
function textParams(path: string): z.ZodObject {
  return z.object(Object.fromEntries(parametersIn(path).map((name) => [name, Id])));
}

function operationId(route: Route): string {
  const words = route.path
    .replace(/[{}]/g, '')
    .split(/[/_.-]+/)
    .filter(Boolean);
  return [route.method, ...words]
    .map((word, at) => (at === 0 ? word : word[0]?.toUpperCase() + word.slice(1)))
    .join('');
}
