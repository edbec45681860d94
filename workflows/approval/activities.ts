import type { ApprovalInput, ApprovalState } from './messages.js';

/** The activities of an approval. All are safe to repeat. */
export interface ApprovalActivities {
  /**
   * Writes this state into the approval's record, unless the record has it or a later one, and mints the single resume token
   * of an approved call with it. The token is never part of the workflow's history.
   */
  recordApproval(approval: { input: ApprovalInput; state: ApprovalState; revision: number }): Promise<void>;
  /** As `recordApproval`, but without the token, for workflows that began with 0.2.0. */
  publishApproval(approval: { input: ApprovalInput; state: ApprovalState; revision: number }): Promise<void>;
  /** Mints the token for workflows that began with 0.2.0. */
  mintResumeToken(approval: {
    input: ApprovalInput;
    approved_at: number;
    /** The digest of the edited call. */
    edited_payload_digest?: string;
    /** The call is accepted as done, and not repeated. */
    is_accepted?: true;
    /** The run is paused: the token does not expire before it can continue. */
    is_clock_stopped?: true;
  }): Promise<void>;
}
