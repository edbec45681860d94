import type { ApprovalInput, ApprovalState } from './messages.js';

/** The activities of an approval. All are safe to repeat. */
export interface ApprovalActivities {
  /** Writes the approval's record, unless it already has a later revision. Only the workflow writes it after the start. */
  publishApproval(approval: { input: ApprovalInput; state: ApprovalState; revision: number }): Promise<void>;
  /** Mints the single resume token of an approved call. The token is never part of the workflow's history. */
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
