import type { Requirement } from './requirement.js';

/** Error body, codes, headers and status codes of the gateway. */
export const errors = [
  {
    id: 'errors.body',
    source: 'docs/specification.md#errors',
    says: 'A gateway refusal has error and error_description, and lifecycle_id if the call already has one.',
  },
  {
    id: 'errors.body.401-without-lifecycle',
    source: 'docs/specification.md#errors',
    says: 'The body of a 401 has no lifecycle_id.',
  },
  {
    id: 'errors.body.safe-description',
    source: 'docs/specification.md#errors',
    says: 'A description never contains a credential, a query value or an internal address.',
  },

  {
    id: 'errors.code.invalid_token',
    source: 'docs/specification.md#errors',
    says: 'invalid_token is the code of every 401 at S1.',
  },
  {
    id: 'errors.code.invalid_request',
    source: 'docs/specification.md#errors',
    says: 'invalid_request is the code of a 400.',
  },
  {
    id: 'errors.code.not_found',
    source: 'docs/specification.md#errors',
    says: 'not_found is the code of a 404 for an approval, agentflow, execution or path.',
  },
  { id: 'errors.code.conflict', source: 'docs/specification.md#errors', says: 'conflict is the code of a 409.' },
  {
    id: 'errors.code.unconfigured',
    source: 'docs/specification.md#errors',
    says: 'unconfigured is the code where a deployment lacks the setting that the call needs.',
  },
  {
    id: 'errors.code.unavailable',
    source: 'docs/specification.md#errors',
    says: 'unavailable is the code of a 503 that the deployment causes.',
  },
  {
    id: 'errors.code.invalid_signature',
    source: 'docs/specification.md#errors',
    says: 'invalid_signature is the code of a callback whose signature is missing or does not match.',
  },
  {
    id: 'errors.code.unauthorized',
    source: 'docs/specification.md#errors',
    says: 'unauthorized is the code of an internal ingest without a valid server key.',
  },
  {
    id: 'errors.code.upstream_unreachable',
    source: 'docs/specification.md#errors',
    says: 'upstream_unreachable is the code of a callback that could not be forwarded.',
  },
  {
    id: 'errors.code.repo_not_bound',
    source: 'docs/specification.md#errors',
    says: 'repo_not_bound is the code of a push from a repository that no project has bound.',
  },
  {
    id: 'errors.code.harness_unreachable',
    source: 'docs/specification.md#errors',
    says: 'harness_unreachable is the code when the workflow engine cannot be reached.',
  },
  {
    id: 'errors.code.data_service_unreachable',
    source: 'docs/specification.md#errors',
    says: 'data_service_unreachable is the code when the graph cannot be reached.',
  },

  {
    id: 'errors.header.retry-after',
    source: 'docs/specification.md#conventions',
    says: 'A 429 has a Retry-After header with the seconds that remain.',
  },
  {
    id: 'errors.header.trace-id',
    source: 'docs/specification.md#conventions',
    says: 'The answer to a request with traceparent has its trace id in X-Trace-Id and a traceparent entry in Server-Timing.',
  },
  {
    id: 'errors.header.trace-id.export',
    source: 'docs/specification.md#conventions',
    says: 'If trace export is configured, answers have both trace headers even without traceparent in the request.',
  },
  {
    id: 'errors.header.www-authenticate',
    source: 'docs/specification.md#conventions',
    says: 'A 401 for a missing credential has a Www-Authenticate header.',
  },
  {
    id: 'errors.header.allow',
    source: 'docs/specification.md#conventions',
    says: 'Every 405 has an Allow header that names the allowed methods.',
  },

  {
    id: 'errors.status.400',
    source: 'docs/specification.md#errors',
    says: 'A body that is not JSON or lacks a required field is answered 400.',
  },
  {
    id: 'errors.status.401',
    source: 'docs/specification.md#errors',
    says: 'A missing, malformed or revoked credential and one of a wrong kind are answered 401.',
  },
  {
    id: 'errors.status.403',
    source: 'docs/specification.md#errors',
    says: 'A missing grant, a policy refusal, a rejected resume token and a foreign workspace are answered 403, each at its stage.',
  },
  {
    id: 'errors.status.404',
    source: 'docs/specification.md#errors',
    says: 'An unknown approval, agentflow or execution is answered 404.',
  },
  {
    id: 'errors.status.405',
    source: 'docs/specification.md#errors',
    says: 'A known path with another method is answered 405.',
  },
  {
    id: 'errors.status.409',
    source: 'docs/specification.md#errors',
    says: 'A conflict with the current state is answered 409.',
  },
  {
    id: 'errors.status.422',
    source: 'docs/specification.md#errors',
    says: 'Input that parses but fails validation is answered 422 at S4, and a failing dry run 422 at S7.',
  },
  {
    id: 'errors.status.429',
    source: 'docs/specification.md#errors',
    says: 'A call over the request window is answered 429 at S3.',
  },
  {
    id: 'errors.status.502',
    source: 'docs/specification.md#errors',
    says: 'A downstream service that refuses or cannot be reached is answered 502 with its label.',
  },
  {
    id: 'errors.status.503',
    source: 'docs/specification.md#errors',
    says: 'A fault of the deployment is answered 503.',
  },
  {
    id: 'errors.status.504',
    source: 'docs/specification.md#errors',
    says: 'A downstream deadline that passed is 504.',
  },
] as const satisfies readonly Requirement[];
