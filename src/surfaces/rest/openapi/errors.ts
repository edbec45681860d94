import { z } from 'zod';
import type { ZodOpenApiResponsesObject } from 'zod-openapi';
import { errorEntry, type ErrorCode } from '../../../base/error-catalog.js';
import { isGoverned, type Route } from '../define-route.js';
import { answeredCode, statusOf } from '../error-answers.js';
import { exampleId } from '../../../base/ids.js';
import type { TagTexts } from './tags.js';

const ErrorBody = z
  .object({
    error: z.string().describe('A stable code.'),
    error_description: z.string().describe('For people; do not parse it.'),
    lifecycle_id: z.string().optional().describe('The record of a governed call, including refused calls.'),
  })
  .meta({ id: 'Error', example: { error: 'not_found', error_description: 'the execution was not found' } });

/** The name of the surface's security scheme. */
export type Security = 'apiKey' | 'bearer' | 'none';

export interface RouteGroup {
  security: Security;
  routes: readonly Route[];
  /** The texts of the surface's own groups. */
  tags?: TagTexts;
}

/** The errors that follow from the properties of a route, in addition to the route's own `errors`. */
const derived: readonly { code: ErrorCode; when: (route: Route, security: Security) => boolean }[] = [
  // Every path refuses malformed JSON and percent-encoding.
  { code: 'invalid_request', when: () => true },
  { code: 'invalid_token', when: ({ permission }) => permission !== 'public' },
  { code: 'access_denied', when: ({ permission }) => permission !== 'public' },
  // The gateway resolves the workspace header before it enters the route.
  { code: 'scope_denied', when: ({ permission }, security) => permission !== 'public' && security === 'bearer' },
  // Tools use the quota of S3 instead.
  {
    code: 'too_many_requests',
    when: ({ permission, errors }) => permission !== 'public' && !errors?.includes('quota_exceeded'),
  },
  { code: 'policy_denied', when: isGoverned },
  { code: 'approval_refused', when: isGoverned },
  { code: 'not_found', when: ({ path }) => path.includes('{') },
  { code: 'payload_too_large', when: ({ body }) => body !== undefined },
  { code: 'conflict', when: ({ idempotent }) => idempotent === true },
  { code: 'internal_error', when: () => true },
  { code: 'unavailable', when: () => true },
];

/** Returns one response per status. Several codes may share it, each with its own example. */
export function errorResponses(route: Route, security: Security): ZodOpenApiResponsesObject {
  const byStatus = new Map<number, Set<ErrorCode>>();
  for (const code of errorsOf(route, security)) {
    const status = statusOf({ code });
    byStatus.set(status, (byStatus.get(status) ?? new Set()).add(code));
  }
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, codes]) => [String(status), errorResponse(status, [...codes])]),
  );
}

function errorResponse(status: number, codes: readonly ErrorCode[]) {
  return {
    description: codes.map((code) => `\`${answeredCode(code)}\`: ${errorEntry(code).when}`).join('. ') + '.',
    ...(headersOf[status] && { headers: headersOf[status] }),
    content: {
      'application/json': {
        schema: ErrorBody,
        examples: Object.fromEntries(
          codes.map((code) => [exampleName(code), { $ref: `#/components/examples/${exampleName(code)}` }]),
        ),
      },
    },
  };
}

/** Optional headers. For example, not every 401 concerns a missing credential. */
const headersOf: Record<
  number,
  Record<string, { description: string; schema: { type: 'string' | 'integer' }; example: string | number }>
> = {
  401: {
    'WWW-Authenticate': {
      description: 'Where to get a credential (RFC 9728).',
      schema: { type: 'string' },
      example: 'Bearer resource_metadata="https://svc.acme.dev/.well-known/oauth-protected-resource"',
    },
  },
  429: { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' }, example: 12 } },
};

function errorsOf(route: Route, security: Security): ErrorCode[] {
  return [...derived.filter(({ when }) => when(route, security)).map(({ code }) => code), ...(route.errors ?? [])];
}

/** Returns the example body of each error code, which the responses reference. */
export function errorExamples(groups: readonly RouteGroup[]) {
  const codes = groups.flatMap(({ routes, security }) => routes.flatMap((route) => errorsOf(route, security)));
  const examples: Record<string, { summary: string; value: object }> = {};
  // If several codes have the same response, the first one provides the example.
  for (const code of codes)
    examples[exampleName(code)] ??= { summary: errorEntry(code).when, value: exampleBody(code) };
  return examples;
}

/** Returns the body of an example. Refusals from S3 onwards have a lifecycle record. */
function exampleBody(code: ErrorCode) {
  const error = answeredCode(code);
  const isGoverned = /^S[3-8]:/.test(error);
  return { error, error_description: errorEntry(code).example, ...(isGoverned && { lifecycle_id: exampleId }) };
}

/** Returns the name of an example. Component names must not contain a colon. */
function exampleName(code: ErrorCode): string {
  return answeredCode(code).replace(':', '.');
}
