import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';

/** What clients and operators use to work with an `approval` (design, Workflows). */
export const approvalType = 'approval';

export function approvalWorkflowId(approvalId: string): string {
  return `approval/${approvalId}`;
}

type ApprovalStatus = 'pending' | 'approved' | 'rejected' | 'expired';

/** The call that waits, with everything that its resume token will be bound to. Times are epoch seconds. */
export interface ApprovalInput {
  approval_id: string;
  organization_id: string;
  project_id: string;
  lifecycle_id: string;
  tool: string;
  /** The person who makes the call, with any credential. They cannot approve it. */
  requested_by: string;
  /** The credential of the call, which is the only one that may use the resume token. */
  caller: string;
  reason: string;
  policy_ids: string[];
  policy_version: number;
  /** SHA-256 of the canonical payload. The record store has a redacted copy for approvers; the workflow has none. */
  payload_digest: string;
  required_approvers: number;
  created_at: number;
  expires_at: number;
  /** The lifetime of the resume token, counted from the approval. */
  token_ttl_seconds: number;
  /** The execution whose act waits. Its workflow is notified when the approval is settled. Absent for other calls. */
  execution_id?: string;
  /** For an act of a run: other people who caused it (docs/decisions/0022). They cannot decide it. Absent if there are none. */
  caused_by?: string[];
  /** For an act of a run: whether the people who caused it may decide. */
  starter_may_decide?: boolean;
  /** The only roles that may decide, if the rules name any. */
  approver_roles?: string[];
  /** For an act of a run: the fields that an approver can edit, with their types. */
  editable_fields?: Record<string, string>;
  /** For an act that was sent before, and whose answer was lost. */
  after_unknown?: true;
}

/** `accept`: the call, whose outcome is unknown, has taken effect and is not repeated. */
export type ApprovalDecision = 'approve' | 'accept' | 'reject';

/** The roles that may decide if no rule names any (contract, approvals). */
export const defaultApproverRoles = ['OWNER', 'ORG_ADMIN', 'PROJECT_ADMIN', 'APPROVER'] as const;

export interface ApprovalVote {
  user_id: string;
  role: string;
  decision: ApprovalDecision;
  comment: string;
  at: number;
  /** The digest of the call that was voted on. Absent for the call without edits. */
  payload_digest?: string;
}

/** The `decided_by` of an approval whose workflow was cancelled: its run has ended, or an operator withdrew it. */
export const withdrawnBy = 'operator';

/** Plain JSON and complete: the query returns it. */
export interface ApprovalState {
  status: ApprovalStatus;
  votes: ApprovalVote[];
  /** Whose vote decided it; null while pending and after expiry. */
  decided_by: string | null;
  decided_at: number | null;
  /** The digest of the edited call. Absent if nobody has edited it. */
  edited_payload_digest?: string;
  /** When the run of the act was paused; null or absent while the clock runs. */
  clock_stopped_at?: number | null;
  /** The total time for which the clock was stopped. Absent if it never was. */
  delayed_seconds?: number;
  /** A person accepted the call as done; absent otherwise. */
  accepted?: true;
}

export interface DecideRequest {
  approver: { user_id: string; role: string };
  decision: ApprovalDecision;
  comment?: string;
  /** The digest of the call that the approver saw. */
  payload_digest?: string;
  /** The approver edits the call and approves the result, which has this digest. */
  edited_payload_digest?: string;
}

export interface DecideResult {
  approval_id: string;
  status: ApprovalStatus;
  approvals: number;
  required_approvers: number;
}

/** Refused with type `conflict` (no longer pending, or already voted), `access_denied` or `invalid_request`. */
export const decideUpdate = defineUpdate<DecideResult, [DecideRequest]>('decide');

/** Sent by the run whose act waits, when it is paused and when it continues. Ignored for every other call. */
export const stopClockSignal = defineSignal('stopClock');
export const startClockSignal = defineSignal('startClock');

export const stateQuery = defineQuery<ApprovalState>('state');
