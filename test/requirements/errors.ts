import type { Requirement } from './requirement.js';

/** Error body, codes, headers and status codes of the gateway. */
export const errors = [
  {
    id: 'errors.body',
    source: 'spec: Error body',
    part: 2,
    says: 'A gateway refusal has error and error_description, and lifecycle_id if the call already has one.',
  },
  {
    id: 'errors.body.401-without-lifecycle',
    source: 'spec: Error body, lifecycle_id',
    part: 2,
    says: 'The body of a 401 has no lifecycle_id.',
  },
  {
    id: 'errors.body.safe-description',
    source: 'spec: Error body, error_description',
    part: 2,
    says: 'A description never contains a credential, a query value or an internal address.',
  },

  {
    id: 'errors.code.invalid_token',
    source: 'spec: Error body, error',
    part: 2,
    says: 'invalid_token is the code of every 401 at S1.',
  },
  {
    id: 'errors.code.invalid_request',
    source: 'spec: Error body, error',
    part: 2,
    says: 'invalid_request is the code of a 400.',
  },
  {
    id: 'errors.code.not_found',
    source: 'spec: Error body, error',
    part: 2,
    says: 'not_found is the code of a 404 for an approval, agentflow, execution or path.',
  },
  { id: 'errors.code.conflict', source: 'spec: Error body, error', part: 2, says: 'conflict is the code of a 409.' },
  {
    id: 'errors.code.unconfigured',
    source: 'spec: Error body, error',
    part: 4,
    says: 'unconfigured is the code where a deployment lacks the setting that the call needs.',
  },
  {
    id: 'errors.code.unavailable',
    source: 'spec: Error body, error',
    part: 2,
    says: 'unavailable is the code of a 503 that the deployment causes.',
  },
  {
    id: 'errors.code.invalid_signature',
    source: 'spec: Error body, error',
    part: 4,
    says: 'invalid_signature is the code of a callback whose signature is missing or does not match.',
  },
  {
    id: 'errors.code.unauthorized',
    source: 'spec: Error body, error',
    part: 4,
    says: 'unauthorized is the code of an internal ingest without a valid server key.',
  },
  {
    id: 'errors.code.upstream_unreachable',
    source: 'spec: Error body, error',
    part: 4,
    says: 'upstream_unreachable is the code of a callback that could not be forwarded.',
  },
  {
    id: 'errors.code.repo_not_bound',
    source: 'spec: Error body, error',
    part: 4,
    says: 'repo_not_bound is the code of a push from a repository that no project has bound.',
  },
  {
    id: 'errors.code.harness_unreachable',
    source: 'spec: Error body, error',
    part: 2,
    says: 'harness_unreachable is the code when the workflow engine cannot be reached.',
  },
  {
    id: 'errors.code.data_service_unreachable',
    source: 'spec: Error body, error',
    part: 2,
    says: 'data_service_unreachable is the code when the graph cannot be reached.',
  },

  {
    id: 'errors.header.retry-after',
    source: 'spec: Response headers, 1',
    part: 2,
    says: 'A 429 has a Retry-After header with the seconds that remain.',
  },
  {
    id: 'errors.header.trace-id',
    source: 'spec: Response headers, 2',
    part: 2,
    says: 'The answer to a request with traceparent has its trace id in X-Trace-Id and a traceparent entry in Server-Timing.',
  },
  {
    id: 'errors.header.trace-id.export',
    source: 'spec: Response headers, 2',
    part: 7,
    says: 'If trace export is configured, answers have both trace headers even without traceparent in the request.',
  },
  {
    id: 'errors.header.www-authenticate',
    source: 'spec: Response headers, 3',
    part: 2,
    says: 'A 401 for a missing credential has a Www-Authenticate header.',
  },
  {
    id: 'errors.header.allow',
    source: 'spec: Response headers, 3',
    part: 2,
    says: 'Every 405 has an Allow header that names the allowed methods.',
  },

  {
    id: 'errors.status.400',
    source: 'spec: Status codes, 400',
    part: 2,
    says: 'A body that is not JSON or lacks a required field is answered 400.',
  },
  {
    id: 'errors.status.401',
    source: 'spec: Status codes, 401',
    part: 2,
    says: 'A missing, malformed or revoked credential and one of a wrong kind are answered 401.',
  },
  {
    id: 'errors.status.403',
    source: 'spec: Status codes, 403',
    part: 2,
    says: 'A missing grant, a policy refusal, a rejected resume token and a foreign workspace are answered 403, each at its stage.',
  },
  {
    id: 'errors.status.404',
    source: 'spec: Status codes, 404',
    part: 2,
    says: 'An unknown approval, agentflow or execution is answered 404.',
  },
  {
    id: 'errors.status.405',
    source: 'spec: Status codes, 405',
    part: 2,
    says: 'A known path with another method is answered 405.',
  },
  {
    id: 'errors.status.409',
    source: 'spec: Status codes, 409',
    part: 2,
    says: 'A conflict with the current state is answered 409.',
  },
  {
    id: 'errors.status.422',
    source: 'spec: Status codes, 422',
    part: 2,
    says: 'Input that parses but fails validation is answered 422 at S4, and a failing dry run 422 at S7.',
  },
  {
    id: 'errors.status.429',
    source: 'spec: Status codes, 429',
    part: 2,
    says: 'A call over the request window is answered 429 at S3.',
  },
  {
    id: 'errors.status.502',
    source: 'spec: Status codes, 502',
    part: 2,
    says: 'A downstream service that refuses or cannot be reached is answered 502 with its label.',
  },
  {
    id: 'errors.status.503',
    source: 'spec: Status codes, 503',
    part: 2,
    says: 'A fault of the deployment is answered 503.',
  },
  {
    id: 'errors.status.504',
    source: 'spec: Status codes, 504',
    part: 2,
    says: 'A downstream deadline that passed is 504.',
  },
] as const satisfies readonly Requirement[];
