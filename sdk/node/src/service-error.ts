/**
 * The body of an error (specification, Error body). `approval_id` and `expires_at` are present if the call waits for
 * approval.
 */
export interface ErrorBody {
  error?: string;
  error_description?: string;
  lifecycle_id?: string;
  approval_id?: string;
  expires_at?: number;
}

/**
 * The service refused the request (4xx), failed (5xx), or holds the call until it is approved (202, `error` is
 * `pending_approval`). If the service cannot be reached, the runtime throws its own error instead.
 */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly status: number;
  /** A stable code, or the id of the stage that refused. Empty if the response had neither. */
  readonly error: string;
  /** A text for people. Do not parse it. */
  readonly error_description: string;
  readonly lifecycle_id: string | undefined;
  /** The approval that the call waits for. Once it is approved, send the call again with the resume token. */
  readonly approval_id: string | undefined;
  /** The end of the time for approval, in epoch seconds. */
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
