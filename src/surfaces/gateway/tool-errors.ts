import { errorEntry, type ErrorCode } from '../../base/error-catalog.js';
import { answeredCode, statusOf } from '../rest/error-answers.js';

/** The errors of a tool call in the order of the stages, followed by those of S8. */
export const toolErrors: readonly ErrorCode[] = [
  'invalid_request',
  'invalid_token',
  'scope_denied',
  'quota_exceeded',
  'invalid_input',
  'policy_denied',
  'approval_refused',
  'dry_run_refused',
  'call_failed',
  'call_timed_out',
  'not_found',
  'conflict',
  'payload_too_large',
  'validation_failed',
  'plan_limit',
  'data_service_unreachable',
  'harness_unreachable',
  'unavailable',
];

/** The content of the topic `errors` of the tool `docs`. */
export const errorDocs = toolErrors.map((code) => {
  const { when, retry } = errorEntry(code);
  return { error: answeredCode(code), status: statusOf({ code }), when, retry };
});
