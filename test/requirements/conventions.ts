import type { Requirement } from './requirement.js';

/** Requirements of every platform route. */
export const conventions = [
  {
    id: 'platform.auth.missing-key',
    source: 'docs/specification.md#credentials',
    says: 'A platform call without x-api-key is answered 401 invalid_token.',
  },
  {
    id: 'platform.auth.bad-key',
    source: 'docs/specification.md#credentials',
    says: 'A malformed, an unknown and a revoked x-api-key are each answered 401 invalid_token with the same description.',
  },
  {
    id: 'platform.auth.keys-hashed',
    source: 'docs/specification.md#credentials',
    says: 'A key is looked up by its SHA-256 hash, and the database does not contain its secret.',
  },
  {
    id: 'platform.auth.same-keys',
    source: 'docs/specification.md#conventions',
    says: 'A key created by the gateway works on the platform API, and its revocation applies to both immediately.',
  },
  {
    id: 'platform.grants.read',
    source: 'docs/specification.md#conventions',
    says: 'A read with a key that lacks svc:orchestrate.read is answered 403 access_denied.',
  },
  {
    id: 'platform.grants.write',
    source: 'docs/specification.md#conventions',
    says: 'A change with a key that lacks svc:orchestrate.write is answered 403 access_denied and changes nothing.',
  },
  {
    id: 'platform.grants.execute',
    source: 'docs/specification.md#conventions',
    says: 'Executing with a key that lacks svc:agent.run is answered 403 access_denied and starts nothing.',
  },
  {
    id: 'platform.grants.skill',
    source: 'docs/specification.md#conventions',
    says: 'Writing a skill or an action with a key that lacks svc:skill.write is answered 403 access_denied.',
  },
  {
    id: 'platform.project.agreement',
    source: 'docs/specification.md#conventions',
    says: 'A projectID that differs between path, query and body is answered 400.',
  },
  {
    id: 'platform.project.foreign',
    source: 'docs/specification.md#conventions',
    says: 'A projectID outside the scope of the key is answered 403 access_denied in the path, the query and the body.',
  },
  {
    id: 'platform.project.tenancy',
    source: 'docs/specification.md#conventions',
    says: 'On every route, a key of one project that requests records of another is answered 403 or 404 and changes nothing.',
  },

  {
    id: 'platform.errors.body',
    source: 'docs/specification.md#conventions',
    says: 'Every platform refusal has a JSON body with error and error_description.',
  },
  {
    id: 'platform.errors.invalid-json',
    source: 'docs/specification.md#conventions',
    says: 'A body that is not JSON is answered 400 invalid_request.',
  },
  {
    id: 'platform.errors.wrong-type',
    source: 'docs/specification.md#conventions',
    says: 'A missing required field and a field of a wrong type are answered 400 invalid_request, and the error names the field.',
  },
  {
    id: 'platform.errors.unknown-field',
    source: 'docs/specification.md#conventions',
    says: 'A write with unknown fields is answered 400 invalid_request, names the fields and stores nothing.',
  },
  {
    id: 'platform.errors.malformed-id',
    source: 'docs/specification.md#conventions',
    says: 'A malformed identifier is answered 404 not_found, like an unknown one.',
  },
  {
    id: 'platform.errors.unknown-path',
    source: 'docs/specification.md#conventions',
    says: 'A path without a route is answered 404 not_found with the standard body.',
  },
  {
    id: 'platform.errors.too-large',
    source: 'docs/specification.md#conventions',
    says: 'A body over 1 MiB is answered 413 with the standard body.',
  },
  {
    id: 'platform.errors.upload-too-large',
    source: 'docs/specification.md#conventions',
    says: 'An upload over 100 MiB is answered 413 and leaves nothing stored.',
  },
  {
    id: 'platform.errors.plan-limit',
    source: 'docs/specification.md#conventions',
    says: 'A creation beyond the plan is answered 403 plan_limit and reports the limit, its maximum and the current usage.',
  },
  {
    id: 'platform.errors.unavailable',
    source: 'docs/specification.md#conventions',
    says: 'While Temporal is down, a call that needs it is answered 503 unavailable within two seconds.',
  },
  {
    id: 'platform.errors.recovers',
    source: 'docs/specification.md#conventions',
    says: 'When Temporal is back, the same API process serves again without a restart.',
  },

  {
    id: 'platform.lists.shape',
    source: 'docs/specification.md#conventions',
    says: 'A list has data, total_count and next_cursor, newest first; next_cursor is null on the last page.',
  },
  {
    id: 'platform.lists.limit',
    source: 'docs/specification.md#conventions',
    says: 'A page has 50 rows by default and at most 200.',
  },
  {
    id: 'platform.lists.cursor',
    source: 'docs/specification.md#conventions',
    says: 'Following next_cursor returns each row that existed at the start once and in order, even while rows are added.',
  },
  {
    id: 'platform.idempotency.replay',
    source: 'docs/specification.md#conventions',
    says: 'A create call that is repeated with the same Idempotency-Key and body returns the first answer and creates nothing.',
  },
  {
    id: 'platform.idempotency.other-body',
    source: 'docs/specification.md#conventions',
    says: 'The same Idempotency-Key with another body is answered 409 conflict.',
  },
  {
    id: 'platform.in-development',
    source: 'docs/specification.md#conventions',
    says: 'The OpenAPI document marks connector configuration and member summary as in development.',
  },
  {
    id: 'platform.routes-agree',
    source: 'docs/specification.md#conventions',
    says: 'The route table of the contract, the OpenAPI document and the served routes are identical.',
  },

  {
    id: 'http.request-limit',
    source: 'docs/specification.md#conventions',
    says: 'The requests of a key and of an organization are limited in a window across all processes, with 429 and Retry-After; 0 means unlimited.',
  },
  {
    id: 'http.open-streams',
    source: 'docs/specification.md#conventions',
    says: 'The number of open event streams of an organization is limited, and closing a stream frees its place.',
  },
  {
    id: 'http.streams.recheck',
    source: 'docs/specification.md#conventions',
    says: 'An event stream ends within seconds after its credential is revoked.',
  },
  {
    id: 'http.cors',
    source: 'docs/specification.md#conventions',
    says: 'Pages of the configured origins can call MCP and the OAuth endpoints, and pages of other origins cannot.',
  },
  {
    id: 'http.compressed',
    source: 'https://www.rfc-editor.org/rfc/rfc9110#section-12.5.3',
    says: 'Answers of more than 1 KiB are compressed for clients that accept it, except for event streams, files and answers that nobody may store.',
  },
  { id: 'http.hsts', source: 'docs/specification.md#conventions', says: 'HSTS is sent if BASE_URL is https.' },
  {
    id: 'http.idempotency.sealed',
    source: 'docs/specification.md#conventions',
    says: 'Answers kept for a repeat are sealed, so that no pin lies in clear in the store.',
  },
  {
    id: 'gateway.authenticate-before-body',
    source: 'docs/specification.md#conventions',
    says: 'The large body of a tool call is read only if its credential is valid.',
  },
  {
    id: 'project.linear-expressions',
    source: 'https://owasp.org/www-community/attacks/Regular_expression_Denial_of_Service_-_ReDoS',
    says: 'No regular expression of the product takes more than linear time in the length of its input.',
  },
] as const satisfies readonly Requirement[];
