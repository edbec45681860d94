/** What calls about lifecycles, approvals and the audit chain give. Times are epoch seconds. */

export type LifecycleStatus = 'completed' | 'denied' | 'pending_approval' | 'failed' | 'dry_run';

/** One governed call; the first failed stage refused it. */
export interface Lifecycle {
  lifecycle_id: string;
  tool: string;
  status: LifecycleStatus;
  stages: { stage: string; status: 'ok' | 'failed'; detail: string }[];
  principal: { user_id: string; kind: string; key_id?: string; execution_id?: string; client_id?: string };
  project_id: string;
  organization_id: string;
  trace_id: string;
  created_at: number;
  ended_at: number;
  payload_digest: string | null;
  consumed: string[];
  approval_id: string | null;
  decision_id: string | null;
}

export type ApprovalStatus = 'pending' | 'approved' | 'rejected' | 'expired';

export interface Approval {
  approval_id: string;
  lifecycle_id: string;
  tool: string;
  requested_by: string;
  reason: string;
  policy_ids: string[];
  policy_version: number;
  payload_digest: string;
  status: ApprovalStatus;
  required_approvers: number;
  votes: { user_id: string; role: string; decision: 'approve' | 'reject'; comment: string; at: number }[];
  created_at: number;
  expires_at: number;
  decided_by: string | null;
  decided_at: number | null;
}

/** For its requester, once it is approved: send the same call again with the token. */
export interface ApprovalWithToken extends Approval {
  resume_token?: string;
  resume_token_expires_at?: number;
}

export interface AuditEntry {
  entry_id: string;
  seq: number;
  at: number;
  actor: string;
  action: string;
  resource: string;
  outcome: string;
  lifecycle_id: string | null;
  prev_hash: string;
  hash: string;
}

/** A signed statement of the chain's length and head. */
export interface AuditCheckpoint {
  organization: string;
  number: number;
  entries: number;
  head_hash: string;
  at: number;
  previous: string | null;
  /** A compact JWS over the other fields. */
  statement: string;
}

export interface AuditVerification {
  valid: boolean;
  entries: number;
  head_hash: string;
  first_broken_seq: number | null;
  /** The last sound one. */
  checkpoint: AuditCheckpoint | null;
  reason: string | null;
}

export interface PolicyDecision {
  decision_id: string;
  lifecycle_id: string;
  decision: 'permit' | 'forbid' | 'require_approval';
  policy_ids: string[];
  policy_version: number;
  at: number;
}
