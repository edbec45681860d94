import { defineQuery, defineUpdate } from '@temporalio/workflow';

/** What clients and operators use to work with an `approval` (design, Workflows). */
export const approvalType = 'approval';

export function approvalWorkflowId(approvalId: string): string {
  return `approval/${approvalId}`;
}

export type ApprovalStatus = 'pending' | 'approved' | 'rejected' | 'expired';

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
  /** Only for an act of a run, which waits: its workflow is told when the approval is settled. */
  execution_id?: string;
  /** For an act of a run: whether the person who started the run may decide. */
  starter_may_decide?: boolean;
  /** The only roles that may decide, if the rules name any. */
  approver_roles?: string[];
}

export interface ApprovalVote {
  user_id: string;
  role: string;
  decision: 'approve' | 'reject';
  comment: string;
  at: number;
}

/** Plain JSON and complete: the query returns it. */
export interface ApprovalState {
  status: ApprovalStatus;
  votes: ApprovalVote[];
  /** Whose vote decided it; null while pending and after expiry. */
  decided_by: string | null;
  decided_at: number | null;
}

export interface DecideRequest {
  approver: { user_id: string; role: string };
  decision: 'approve' | 'reject';
  comment?: string;
  /** An HMAC over `decisionText`, made by the API, which has authenticated the approver. */
  signature?: string;
}

/** The text that a decision's signature covers. */
export function decisionText(approvalId: string, { approver, decision, comment = '' }: DecideRequest): string {
  return JSON.stringify([approvalId, approver.user_id, approver.role, decision, comment]);
}

export interface DecideResult {
  approval_id: string;
  status: ApprovalStatus;
  approvals: number;
  required_approvers: number;
}

/** Refused with type `conflict` (no longer pending, or already voted), `access_denied` or `invalid_request`. */
export const decideUpdate = defineUpdate<DecideResult, [DecideRequest]>('decide');

export const stateQuery = defineQuery<ApprovalState>('state');
