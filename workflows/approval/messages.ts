import { defineQuery, defineUpdate } from '@temporalio/workflow';

/** What a client or an operator needs to talk to an `approval` (design, Workflows). */
export const approvalType = 'approval';

export function approvalWorkflowId(approvalId: string): string {
  return `approval/${approvalId}`;
}

export type ApprovalStatus = 'pending' | 'approved' | 'rejected' | 'expired';

/** The one call that waits: everything that its resume token will be bound to. Times are epoch seconds. */
export interface ApprovalInput {
  approval_id: string;
  organization_id: string;
  project_id: string;
  lifecycle_id: string;
  tool: string;
  /** The person who asks, with whichever credential: never an approver of this call. */
  requested_by: string;
  /** The credential that asked, the only one that may use the resume token. */
  caller: string;
  reason: string;
  policy_ids: string[];
  policy_version: number;
  /** SHA-256 of the canonical payload; the payload itself stays with the caller. */
  payload_digest: string;
  required_approvers: number;
  created_at: number;
  expires_at: number;
  /** How long the resume token can be used, counted from the approval. */
  token_ttl_seconds: number;
}

export interface ApprovalVote {
  user_id: string;
  role: string;
  decision: 'approve' | 'reject';
  comment: string;
  at: number;
}

/** Plain JSON and complete: what the query answers. */
export interface ApprovalState {
  status: ApprovalStatus;
  votes: ApprovalVote[];
  /** Whose vote settled it; null while pending and after expiry. */
  decided_by: string | null;
  decided_at: number | null;
}

export interface DecideRequest {
  approver: { user_id: string; role: string };
  decision: 'approve' | 'reject';
  comment?: string;
}

export interface DecideResult {
  approval_id: string;
  status: ApprovalStatus;
  approvals: number;
  required_approvers: number;
}

/** Refused with type `conflict` (no longer pending, voted before), `access_denied` or `invalid_request`. */
export const decideUpdate = defineUpdate<DecideResult, [DecideRequest]>('decide');

export const stateQuery = defineQuery<ApprovalState>('state');
