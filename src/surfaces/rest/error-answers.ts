import type { ErrorRequestHandler } from 'express';
import type { ErrorCode } from '../../base/error-catalog.js';
import { logLevelOf, type AppError, type ErrorFacts } from '../../base/errors.js';
import { publicCode, type StageId } from '../../governance/kernel/stage-ids.js';
import { toAppError } from '../../http/errors.js';

/** The HTTP status of each code (specification, Errors: status codes). */
const statuses: Record<ErrorCode, number> = {
  invalid_request: 400,
  invalid_token: 401,
  invalid_signature: 401,
  unauthorized: 401,
  access_denied: 403,
  scope_denied: 403,
  no_authority: 403,
  policy_denied: 403,
  approval_refused: 403,
  plan_limit: 403,
  not_found: 404,
  repo_not_bound: 404,
  method_not_allowed: 405,
  conflict: 409,
  precondition_failed: 412,
  payload_too_large: 413,
  range_not_satisfiable: 416,
  invalid_input: 422,
  dry_run_refused: 422,
  validation_failed: 422,
  output_invalid: 422,
  quota_exceeded: 429,
  too_many_requests: 429,
  internal_error: 500,
  call_failed: 502,
  upstream_unreachable: 502,
  harness_unreachable: 502,
  data_service_unreachable: 502,
  unconfigured: 503,
  unavailable: 503,
  call_timed_out: 504,
  upstream_timeout: 504,
};

type AnsweredCode = ErrorCode | StageId;

/** The codes of a surface that differ from those of the gateway. */
export type OwnCodes = Partial<Record<ErrorCode, AnsweredCode>>;

/** These codes have their own HTTP status, so the body contains the general code. */
const invalidRequests: OwnCodes = { precondition_failed: 'invalid_request', range_not_satisfiable: 'invalid_request' };

export function statusOf({ code }: Pick<AppError, 'code'>): number {
  return statuses[code];
}

export function answeredCode(code: ErrorCode, ownCodes: OwnCodes = {}): AnsweredCode {
  return ownCodes[code] ?? invalidRequests[code] ?? publicCode(code);
}

/** Converts every error to a response (specification, Error body). Responses with 5xx have generic texts. */
export const errorHandler: ErrorRequestHandler = (error, req, res, next) => {
  const appError = toAppError(error);
  const status = statusOf(appError);
  if (status >= 500) req.log[logLevelOf(appError)]({ err: error as unknown, req }, 'request failed');
  if (res.headersSent) {
    next(error);
    return;
  }
  res
    .status(status)
    .set(headersOf(appError))
    .json(errorBody(appError, res.locals.ownCodes as OwnCodes | undefined));
};

export function errorBody({ code, message, facts }: AppError, ownCodes?: OwnCodes): Record<string, string> {
  return {
    error: answeredCode(code, ownCodes),
    error_description: message,
    ...(facts.lifecycleId === undefined ? {} : { lifecycle_id: facts.lifecycleId }),
  };
}

export function headersOf({ facts }: AppError): Record<string, string> {
  const { retryAfterSeconds, allowedMethods, sizeBytes } = facts;
  return {
    ...(retryAfterSeconds !== undefined && { 'Retry-After': String(retryAfterSeconds) }),
    ...(allowedMethods !== undefined && { Allow: allowedMethods }),
    ...(sizeBytes !== undefined && { 'Content-Range': `bytes */${sizeBytes}` }),
    ...challengeOf(facts),
  };
}

/**
 * Returns the header that shows a client where to get a credential (RFC 9728, 5.1) or which scope to request (RFC 6750,
 * 3.1; MCP authorization, step-up).
 */
function challengeOf({ resourceMetadata, credentialRefused, scopes, neededScope }: ErrorFacts): Record<string, string> {
  const metadata = resourceMetadata === undefined ? '' : `resource_metadata="${resourceMetadata}"`;
  const scope = scopes === undefined ? '' : `, scope="${scopes.join(' ')}"`;
  if (neededScope !== undefined)
    return {
      'WWW-Authenticate': `Bearer error="insufficient_scope"${scope}${metadata && `, ${metadata}`}, error_description="this call needs the scope ${neededScope}"`,
    };
  if (metadata === '') return {};
  return { 'Www-Authenticate': `Bearer ${credentialRefused ? 'error="invalid_token", ' : ''}${metadata}${scope}` };
}
