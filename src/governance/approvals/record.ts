import { z } from 'zod';
import type { ApprovalInput, ApprovalState } from '../../../workflows/approval/messages.js';

export const ApprovalStatus = z.enum(['pending', 'approved', 'rejected', 'expired']);

/** An approval as its project sees it (contract, approvals). Times are epoch seconds. */
export const Approval = z
  .object({
    approval_id: z.string(),
    lifecycle_id: z.string(),
    tool: z.string(),
    requested_by: z.string(),
    reason: z.string(),
    policy_ids: z.array(z.string()),
    policy_version: z.int(),
    payload_digest: z.string().meta({ description: 'SHA-256 (hex) of the canonical payload (RFC 8785).' }),
    status: ApprovalStatus,
    required_approvers: z.int(),
    votes: z.array(z.object({ user_id: z.string(), role: z.string(), decision: z.enum(['approve', 'reject']), comment: z.string(), at: z.number() })),
    created_at: z.number(),
    expires_at: z.number().meta({ description: 'Until then it can be decided.' }),
    decided_by: z.string().nullable(),
    decided_at: z.number().nullable(),
  })
  .meta({ id: 'Approval' });
export type Approval = z.infer<typeof Approval>;

export const ApprovalWithToken = Approval.extend({
  resume_token: z.string().optional().meta({ description: 'For the requester, while it can be used: send it as `X-Resume-Token` with the same call.' }),
  resume_token_expires_at: z.number().optional(),
}).meta({ id: 'ApprovalWithToken' });
export type ApprovalWithToken = z.infer<typeof ApprovalWithToken>;

/** `_id` is the approval id, a UUIDv7. */
export interface ApprovalDocument extends Omit<Approval, 'approval_id'> {
  _id: string;
  /** Grows with each change, so that a write that comes late never undoes a later one. */
  revision: number;
  organization_id: string;
  project_id: string;
}

/** `_id` is the hash of who asks for what: identical calls that wait share one approval. */
export interface ApprovalRequestDocument {
  _id: string;
  request: ApprovalInput;
  forget_at: Date;
}

/** `_id` is the SHA-256 of the token; `sealed` is the token for its requester. */
export interface ResumeTokenDocument {
  _id: string;
  approval_id: string;
  project_id: string;
  caller: string;
  tool: string;
  payload_digest: string;
  policy_version: number;
  policy_ids: string[];
  required_approvers: number;
  sealed: string;
  expires_at: number;
  used_at: number | null;
  /** The lifecycle of the call that used it. */
  used_by: string | null;
}

export function approvalRecord(input: ApprovalInput, state: ApprovalState, revision: number): ApprovalDocument {
  const { approval_id, organization_id, project_id, lifecycle_id, tool, requested_by, reason, policy_ids } = input;
  const { policy_version, payload_digest, required_approvers, created_at, expires_at } = input;
  const call = { organization_id, project_id, lifecycle_id, tool, requested_by, reason, policy_ids, policy_version, payload_digest };
  return { _id: approval_id, revision, ...call, required_approvers, created_at, expires_at, ...state };
}

export function approvalView({ _id, revision: _revision, organization_id: _organization, project_id: _project, ...record }: ApprovalDocument): Approval {
  return { approval_id: _id, ...record };
}
