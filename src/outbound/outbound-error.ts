/** Maps the causes of a failed call to a third-party server to whether a retry may succeed. */
const isRetryable = {
  target_refused: false,
  too_large: false,
  timeout: true,
  unreachable: true,
  action_refused: false,
  action_unavailable: true,
  tool_not_accepted: false,
  tool_suspended: false,
  authorization_needed: false,
  outcome_unknown: false,
  model_refused: false,
  model_unavailable: true,
  model_answer_unusable: true,
  model_token_limit: false,
} as const satisfies Record<string, boolean>;

export type OutboundCode = keyof typeof isRetryable;

interface OutboundErrorOptions {
  status?: number;
  /** The delay that the server requests. */
  retryAfterMs?: number | undefined;
  /** The request did not reach its receiver. */
  isUnsent?: boolean;
  /** The number of attempts that such an error permits. Without it, attempts are repeated for as long as the caller allows. */
  maxAttempts?: number;
}

/** The message is stored in workflow histories. It must not contain secrets, and the error has no cause. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  readonly code: OutboundCode;
  readonly retryable: boolean;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly isUnsent: boolean;
  readonly maxAttempts: number | undefined;

  constructor(code: OutboundCode, message: string, options: OutboundErrorOptions = {}) {
    super(message);
    this.code = code;
    this.retryable = isRetryable[code];
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
    this.isUnsent = options.isUnsent ?? false;
    this.maxAttempts = options.maxAttempts;
  }
}

export function isOutboundError(error: unknown): error is OutboundError {
  return error instanceof OutboundError;
}

/** Returns the same error, marked as one of a request before the call itself (true) or after it (false). */
export function withUnsent(error: unknown, isUnsent: boolean): unknown {
  if (!isOutboundError(error) || error.isUnsent === isUnsent) return error;
  const { code, message, status, retryAfterMs } = error;
  return new OutboundError(code, message, { ...(status !== undefined && { status }), retryAfterMs, isUnsent });
}

/** The system codes of failures to connect. */
export const beforeConnecting: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/** Converts a connection error. Reports only the code, because the messages of system errors contain addresses. */
export function unreachable(error: unknown): OutboundError {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'no code';
  if (code === 'UND_ERR_CONNECT_TIMEOUT')
    return new OutboundError('timeout', 'no connection within 10 s', { isUnsent: true });
  const isUnsent = beforeConnecting.has(code);
  return new OutboundError('unreachable', `the target could not be reached or closed the connection (${code})`, {
    isUnsent,
  });
}
