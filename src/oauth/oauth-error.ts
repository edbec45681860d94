/** The error codes of RFC 6749, 7009, 7591 and 8707 that this server answers, with their status at an endpoint. */
const statusOf = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  unauthorized_client: 400,
  unsupported_grant_type: 400,
  unsupported_response_type: 400,
  invalid_scope: 400,
  invalid_target: 400,
  invalid_redirect_uri: 400,
  invalid_client_metadata: 400,
  request_not_supported: 400,
  request_uri_not_supported: 400,
  access_denied: 403,
  too_many_requests: 429,
  server_error: 500,
  temporarily_unavailable: 503,
} as const;

export type OauthErrorCode = keyof typeof statusOf;

/** A refusal in OAuth's own form; `message` is shown to the client or the person, so it never carries a secret. */
export class OauthError extends Error {
  override readonly name = 'OauthError';
  readonly code: OauthErrorCode;
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(code: OauthErrorCode, description: string, options: { status?: number; headers?: Record<string, string>; cause?: unknown } = {}) {
    super(description, { cause: options.cause });
    this.code = code;
    this.status = options.status ?? statusOf[code];
    this.headers = options.headers ?? {};
  }
}

/** Compares by name, not by class, since an error may come from another realm (jest). */
export function isOauthError(error: unknown): error is OauthError {
  return error instanceof Error && error.name === 'OauthError' && 'code' in error && 'status' in error;
}
