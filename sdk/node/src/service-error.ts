/** The body of a refusal (specification, Error body); `approval_id` and `expires_at` where a call waits for approval. */
export interface ErrorBody {
  error?: string;
  error_description?: string;
  lifecycle_id?: string;
  approval_id?: string;
  expires_at?: number;
}

/**
 * The service did not do what it was asked: it refused (4xx), failed (5xx), or holds the call until it is approved (202,
 * `error` is `pending_approval`). A service that cannot be reached is the runtime's own error, not this one.
 */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly status: number;
  /** A stable code, or the id of the stage that refused; empty where the answer had none. */
  readonly error: string;
  /** For people; not to be parsed. */
  readonly error_description: string;
  readonly lifecycle_id: string | undefined;
  /** Of a call that waits: approve it, then send it again with the resume token. */
  readonly approval_id: string | undefined;
  /** Epoch seconds until which the approval can be given. */
  readonly expires_at: number | undefined;

  constructor(status: number, body: ErrorBody = {}) {
    super(`${status} ${[body.error, body.error_description].filter(Boolean).join(': ')}`.trim());
    this.status = status;
    this.error = body.error ?? '';
    this.error_description = body.error_description ?? '';
    this.lifecycle_id = body.lifecycle_id;
    this.approval_id = body.approval_id;
    this.expires_at = body.expires_at;
  }
}
