const afterRetryAfter = 'after Retry-After, plus a small random time';

interface ErrorEntry {
  /** When the product returns this code. */
  when: string;
  /** An example of an `error_description`. */
  example: string;
  /** Whether the caller can repeat the call (specification, Errors: retry rules). */
  retry: 'never' | 're-read the state first' | 'with backoff' | typeof afterRetryAfter;
  /** Whether the product or a server that it needs failed. Otherwise, the product refused the call. */
  isFault?: true;
}

const failed = 'the call failed or exceeded its timeout';

/**
 * All error codes of the product. `src/surfaces/rest/error-answers.ts` maps them to HTTP. OpenAPI and `/v1/docs` also
 * use this list.
 */
const errorCatalog = {
  invalid_request: {
    when: 'a field is missing, unknown or of the wrong type, or the body is not JSON',
    example: 'goal: must be a string',
    retry: 'never',
  },
  precondition_failed: {
    when: 'the condition of the request does not match the file',
    example: 'the file does not match the condition of the request',
    retry: 'never',
  },
  range_not_satisfiable: {
    when: 'the requested range begins after the end of the file',
    example: 'the range must start before the end of the file',
    retry: 'never',
  },
  invalid_token: {
    when: 'the credential is missing, malformed, revoked or of the wrong kind',
    example: 'api key invalid or revoked',
    retry: 'never',
  },
  access_denied: {
    when: 'the credential lacks the grant or the role, or does not reach that project',
    example: 'this call needs the grant svc:orchestrate.write',
    retry: 'never',
  },
  no_authority: {
    when: 'the person for whom a run acts has no role any more that permits the call',
    example: 'the person user_2 has no role on the project any more',
    retry: 'never',
  },
  scope_denied: {
    when: 'the credential does not reach the workspace, or lacks the grant',
    example: 'the credential does not reach this workspace',
    retry: 'never',
  },
  quota_exceeded: {
    when: 'the request window of the project or the organization is used up',
    example: 'the request quota of the project is used up',
    retry: afterRetryAfter,
  },
  invalid_input: {
    when: 'the payload or the query does not pass validation',
    example: 'the query may only read: it contains CREATE',
    retry: 'never',
  },
  policy_denied: { when: 'a policy forbids the call', example: 'a policy forbids this call', retry: 'never' },
  approval_refused: {
    when: 'the resume token is rejected',
    example: 'the resume token is not valid for this call',
    retry: 'never',
  },
  dry_run_refused: {
    when: 'the dry run found that the call would be refused',
    example: 'the execution is completed: pause needs running',
    retry: 'never',
  },
  call_failed: {
    when: failed,
    example: 'the query ran past its timeout and was stopped',
    retry: 'never',
    isFault: true,
  },
  call_timed_out: {
    when: failed,
    example: 'the query ran past its timeout and was stopped',
    retry: 'with backoff',
    isFault: true,
  },
  plan_limit: {
    when: 'the plan of the organization does not allow another record, or does not include the feature',
    example: 'number_of_coworkers: the plan allows 5 and 5 are in use',
    retry: 'never',
  },
  not_found: { when: 'there is no such record in the project', example: 'the execution was not found', retry: 'never' },
  method_not_allowed: {
    when: 'the path does not accept this method',
    example: 'this path accepts GET, POST',
    retry: 'never',
  },
  conflict: {
    when: 'the state of the record does not allow the call, or the Idempotency-Key was used with another body',
    example: 'this Idempotency-Key was used with another body',
    retry: 're-read the state first',
  },
  payload_too_large: {
    when: 'the body is larger than the route accepts',
    example: 'the body is larger than 1048576 bytes',
    retry: 'never',
  },
  validation_failed: {
    when: 'each field has the right type, but the values do not fit together or do not fit the stored records',
    example: 'initial_agent: no agent has this id',
    retry: 'never',
  },
  output_invalid: {
    when: 'the output of an agent or a run does not match its `output_schema`',
    example: 'output.total: must be a number',
    retry: 'never',
  },
  too_many_requests: {
    when: 'too many requests, open connections or failed attempts; wait for the seconds in `Retry-After`',
    example: 'the credential sent more than 6000 requests in 60 s; retry in 12 s',
    retry: afterRetryAfter,
  },
  unconfigured: {
    when: 'this deployment is not configured for the call; do not repeat it',
    example: 'this receiver is not configured',
    retry: 'never',
    isFault: true,
  },
  unavailable: {
    when: 'a server that the call needs does not answer; clients do not repeat the call automatically. A change may still take effect: read the present state, or repeat the request with the same Idempotency-Key to get its outcome',
    example: 'the record store does not answer',
    retry: 'never',
    isFault: true,
  },
  internal_error: {
    when: 'an unexpected failure; the log contains the cause under the X-Request-Id',
    example: 'the server failed to answer this request',
    retry: 'with backoff',
    isFault: true,
  },
  invalid_signature: {
    when: 'the signature does not match the received bytes',
    example: 'the signature does not match',
    retry: 'never',
  },
  unauthorized: {
    when: 'the server key is missing or wrong',
    example: 'the server key is missing or wrong',
    retry: 'never',
  },
  repo_not_bound: {
    when: 'no project is bound to the repository',
    example: 'no project is bound to this repository',
    retry: 'never',
  },
  upstream_unreachable: {
    when: 'the downstream service does not answer',
    example: 'the downstream service does not answer',
    retry: 'with backoff',
    isFault: true,
  },
  upstream_timeout: {
    when: 'the downstream service did not answer in time',
    example: 'the downstream service did not answer in time',
    retry: 'with backoff',
    isFault: true,
  },
  harness_unreachable: {
    when: 'the workflow service does not answer',
    example: 'the workflow service does not answer',
    retry: 'with backoff',
    isFault: true,
  },
  data_service_unreachable: {
    when: 'the graph database does not answer',
    example: 'the graph database does not answer',
    retry: 'with backoff',
    isFault: true,
  },
} satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errorCatalog;

export function errorEntry(code: ErrorCode): ErrorEntry {
  return errorCatalog[code];
}
