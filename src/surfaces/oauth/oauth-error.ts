/** The error codes of RFC 6749, 7009, 7591, 8628 and 8707 that this server returns, with their HTTP statuses. */
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
  authorization_pending: 400,
  slow_down: 400,
  expired_token: 400,
  access_denied: 403,
  too_many_requests: 429,
  server_error: 500,
  temporarily_unavailable: 503,
} as const;

type OauthErrorCode = keyof typeof statusOf;

/** An error in the format of OAuth. The client or the person sees `message`, so it must not contain a secret. */
export class OauthError extends Error {
  override readonly name = 'OauthError';
  readonly code: OauthErrorCode;
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(
    code: OauthErrorCode,
    description: string,
    options: { status?: number; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(description, { cause: options.cause });
    this.code = code;
    this.status = options.status ?? statusOf[code];
    this.headers = options.headers ?? {};
  }
}

export function isOauthError(error: unknown): error is OauthError {
  return error instanceof OauthError;
}
