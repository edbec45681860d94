/** Why a call to somebody else's server gave no usable answer, and whether the same call may fare better later. */
const mayPass = {
  target_refused: false,
  too_large: false,
  timeout: true,
  unreachable: true,
  action_refused: false,
  action_unavailable: true,
  model_refused: false,
  model_unavailable: true,
  model_answer_unusable: true,
  model_token_limit: false,
} as const satisfies Record<string, boolean>;

export type OutboundCode = keyof typeof mayPass;

export interface OutboundErrorOptions {
  status?: number;
  /** How long the server asks to be left alone. */
  retryAfterMs?: number | undefined;
}

/** Carries neither a cause nor an answer's body: its message goes into workflow histories, where no secret may stand. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  readonly code: OutboundCode;
  readonly retryable: boolean;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: OutboundCode, message: string, options: OutboundErrorOptions = {}) {
    super(message);
    this.code = code;
    this.retryable = mayPass[code];
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Compares by name, not by class, since an error may come from another realm (jest). */
export function isOutboundError(error: unknown): error is OutboundError {
  return typeof error === 'object' && error !== null && 'name' in error && error.name === 'OutboundError';
}
