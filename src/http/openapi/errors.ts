import { z } from 'zod';
import type { ZodOpenApiResponsesObject } from 'zod-openapi';
import { AppError, type ErrorCode } from '../../errors.js';
import type { ErrorAnswer, Route } from '../define-route.js';
import { errorTexts } from './error-texts.js';

export const ErrorBody = z
  .object({
    error: z.string().meta({ description: 'A stable code.' }),
    error_description: z.string().meta({ description: 'For people; not to be parsed.' }),
    lifecycle_id: z.string().optional().meta({ description: 'The record of a governed call, refused ones too.' }),
  })
  .meta({ id: 'Error', example: { error: 'not_found', error_description: 'the execution was not found' } });

/** The name of the security scheme that a surface's routes use. */
export type Security = 'apiKey' | 'bearer' | 'none';

export interface RouteGroup {
  security: Security;
  routes: readonly Route[];
}

/** What every route of its kind can answer, from what the route is; its own `errors` come on top. */
const derived: readonly { code: ErrorCode; when: (route: Route, security: Security) => boolean }[] = [
  // Malformed JSON or percent-encoding is refused on every path.
  { code: 'invalid_request', when: () => true },
  { code: 'invalid_token', when: ({ permission }) => permission !== 'public' },
  { code: 'access_denied', when: ({ permission }) => permission !== 'public' },
  // The workspace header of the gateway is resolved before the route is entered.
  { code: 'S2:resolve-scope', when: ({ permission }, security) => permission !== 'public' && security === 'bearer' },
  { code: 'not_found', when: ({ params }) => params !== undefined },
  { code: 'payload_too_large', when: ({ body }) => body !== undefined },
  { code: 'conflict', when: ({ idempotent }) => idempotent === true },
  { code: 'internal_error', when: () => true },
  { code: 'unavailable', when: () => true },
];

/** One response a status; several codes may share it, each with its own example. */
export function errorResponses(route: Route, security: Security): ZodOpenApiResponsesObject {
  const byStatus = new Map<number, Set<ErrorCode>>();
  for (const answer of errorsOf(route, security)) byStatus.set(statusOf(answer), (byStatus.get(statusOf(answer)) ?? new Set()).add(codeOf(answer)));
  return Object.fromEntries([...byStatus].sort(([a], [b]) => a - b).map(([status, codes]) => [String(status), errorResponse(status, [...codes])]));
}

function errorResponse(status: number, codes: readonly ErrorCode[]) {
  return {
    description: codes.map((code) => `\`${code}\`: ${errorTexts[code].when}`).join('. ') + '.',
    ...(headersOf[status] && { headers: headersOf[status] }),
    content: {
      'application/json': {
        schema: ErrorBody,
        examples: Object.fromEntries(codes.map((code) => [exampleName(code), { $ref: `#/components/examples/${exampleName(code)}` }])),
      },
    },
  };
}

/** Sent where they apply: not every 401 is about a missing credential. */
const headersOf: Record<number, Record<string, { description: string; schema: { type: 'string' | 'integer' }; example: string | number }>> = {
  401: { 'WWW-Authenticate': { description: 'Where to get a credential (RFC 9728).', schema: { type: 'string' }, example: 'Bearer resource_metadata="https://svc.acme.dev/.well-known/oauth-protected-resource"' } },
  429: { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' }, example: 12 } },
};

function errorsOf(route: Route, security: Security): ErrorAnswer[] {
  return [...derived.filter(({ when }) => when(route, security)).map(({ code }) => code), ...(route.errors ?? [])];
}

/** The body of each code that a route answers, to which the responses refer. */
export function errorExamples(groups: readonly RouteGroup[]) {
  const codes = new Set(groups.flatMap(({ routes, security }) => routes.flatMap((route) => errorsOf(route, security).map(codeOf))));
  return Object.fromEntries([...codes].map((code) => [exampleName(code), { summary: errorTexts[code].when, value: exampleBody(code) }]));
}

/** Refusals from S3 on have a record. */
function exampleBody(code: ErrorCode) {
  const isGoverned = /^S[3-8]:/.test(code);
  return { error: code, error_description: errorTexts[code].example, ...(isGoverned && { lifecycle_id: '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10' }) };
}

/** Component names take no colon. */
function exampleName(code: string): string {
  return code.replace(':', '.');
}

function codeOf(answer: ErrorAnswer): ErrorCode {
  return typeof answer === 'string' ? answer : answer.code;
}

function statusOf(answer: ErrorAnswer): number {
  return typeof answer === 'string' ? new AppError(answer, '').status : answer.status;
}
