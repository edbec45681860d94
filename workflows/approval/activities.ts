import type { ApprovalInput, ApprovalState } from './messages.js';

/** The outside of an approval. Both are safe to repeat. */
export interface ApprovalActivities {
  /** Writes the approval's record, of which the workflow is the only writer once it runs, unless a later revision is there. */
  publishApproval(approval: { input: ApprovalInput; state: ApprovalState; revision: number }): Promise<void>;
  /** Mints the one resume token of an approved call. The token never passes through the workflow's history. */
  mintResumeToken(approval: { input: ApprovalInput; approved_at: number }): Promise<void>;
}
