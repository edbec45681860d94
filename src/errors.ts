/** Codes of the contract and of the specification's error table that are not lifecycle stages. */
export type PlainCode =
  | 'invalid_request'
  | 'invalid_token'
  | 'access_denied'
  | 'plan_limit'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'payload_too_large'
  | 'validation_failed'
  | 'too_many_requests'
  | 'unconfigured'
  | 'unavailable'
  | 'internal_error'
  | 'invalid_signature'
  | 'unauthorized'
  | 'repo_not_bound'
  | 'upstream_unreachable'
  | 'upstream_timeout'
  | 'harness_unreachable'
  | 'data_service_unreachable';

/** Stage ids of the governed pipeline; a refusal at a stage has the stage id as its code. */
export type StageId =
  | 'S1:authenticate'
  | 'S2:resolve-scope'
  | 'S3:rate-quota'
  | 'S4:validate-input'
  | 'S5:policy'
  | 'S6:approval'
  | 'S7:dry-run'
  | 'S8:execute';

export type ErrorCode = PlainCode | StageId;

/** The status of each code where a route does not say another (specification, Errors: status codes). */
const statusOfCode: Record<ErrorCode, number> = {
  invalid_request: 400,
  invalid_token: 401,
  access_denied: 403,
  plan_limit: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  payload_too_large: 413,
  validation_failed: 422,
  too_many_requests: 429,
  unconfigured: 503,
  unavailable: 503,
  internal_error: 500,
  invalid_signature: 401,
  unauthorized: 401,
  repo_not_bound: 404,
  upstream_unreachable: 502,
  upstream_timeout: 504,
  harness_unreachable: 502,
  data_service_unreachable: 502,
  'S1:authenticate': 401,
  'S2:resolve-scope': 403,
  'S3:rate-quota': 429,
  'S4:validate-input': 422,
  'S5:policy': 403,
  'S6:approval': 403,
  'S7:dry-run': 422,
  'S8:execute': 502,
};

export interface AppErrorOptions {
  status?: number;
  headers?: Record<string, string>;
  lifecycleId?: string;
  cause?: unknown;
}

/**
 * The one error of the product. `description` is shown to the caller, so it never carries a secret or
 * an internal detail; `cause` is only logged.
 */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly lifecycleId: string | undefined;

  constructor(code: ErrorCode, description: string, options: AppErrorOptions = {}) {
    super(description, { cause: options.cause });
    this.code = code;
    this.status = options.status ?? statusOfCode[code];
    this.headers = options.headers ?? {};
    this.lifecycleId = options.lifecycleId;
  }
}

/** Compares by `code`, not by class, since an error may come from another realm (jest, workflow sandbox). */
export function isAppError(error: unknown): error is AppError {
  return error instanceof Error && error.name === 'AppError' && 'code' in error && 'status' in error;
}

/** Whether the system refused with that code, such as ENOENT. By the code alone: the error may come from another realm (jest). */
export function hasCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}

export function notFound(what: string): AppError {
  return new AppError('not_found', `${what} was not found`);
}
