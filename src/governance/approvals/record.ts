import { defineCollection } from '../../stores/collections.js';
import { z } from 'zod';
import type { ApprovalInput, ApprovalState } from '../../../workflows/approval/messages.js';
import { Id, UserId } from '../../base/ids.js';
import { Digest } from '../../base/hash.js';
import { pick } from '../../base/pick.js';
import { EpochSeconds, Expiry } from '../../base/time.js';
import { PolicyIds, PolicyVersion } from '../lifecycles/policy-decision.js';

/** `used`: approved, and the call has been executed. */
export const ApprovalStatus = z.enum(['pending', 'approved', 'rejected', 'expired', 'used']);

/** How a call is shown to one kind of caller. */
export const PayloadView = z
  .object({
    is_redacted: z.boolean().describe('Personal data is hidden: for API keys, OAuth clients and MCP clients.'),
    has_hidden: z.boolean().describe('A part is hidden: a secret, or personal data if `is_redacted`.'),
    is_shortened: z.boolean().describe('Long texts and lists are shortened.'),
  })
  .meta({ id: 'PayloadView' });
export type PayloadView = z.infer<typeof PayloadView>;

/** An approval as its project sees it (contract, approvals). Times are epoch seconds. */
export const Approval = z
  .object({
    approval_id: Id,
    lifecycle_id: Id.nullable().describe('The call that waits; null for a preview.'),
    tool: z.string().describe('`execution.preview` for a preview of a run.').meta({ example: 'save-context' }),
    summary: z
      .string()
      .describe(
        'What the call does, in one line. People who may decide and auditors read recipients, accounts and amounts in it; for other callers it is made from the redacted call.',
      )
      .meta({ example: 'Pay refund: order 88201, amount 120 EUR, to ada@example.com' }),
    requested_by: UserId,
    reason: z.string().meta({ example: 'Agents ask two people before they write much.' }),
    policy_ids: PolicyIds,
    policy_version: PolicyVersion,
    payload_digest: Digest.describe(
      'SHA-256 (hex) of the canonical JSON (RFC 8785) of `{tool, input}`, and of `bound` where the operation acts on state that its input does not name.',
    ),
    edited_payload_digest: Digest.nullable()
      .describe(
        'The digest of the call as an approver edited it, which is the call that is sent: SHA-256 (hex) of the canonical JSON of `{tool, input: {edited: <payload_digest>, edits}}`. Null if nobody edited it.',
      )
      .meta({ example: null }),
    editable_fields: z
      .record(z.string(), z.string())
      .nullable()
      .describe(
        'For an act of a run: the fields that its approvers can edit, with their types. Null for every other call.',
      )
      .meta({ example: null }),
    outcome_unknown: z
      .boolean()
      .describe(
        'The act was approved before and sent, but its answer was lost. Approving repeats it, `POST /v1/approvals/{id}/accept` accepts it as done, and rejecting fails it.',
      )
      .meta({ example: false }),
    status: ApprovalStatus,
    required_approvers: z.int().meta({ example: 1 }),
    approver_roles: z
      .array(z.string())
      .nullable()
      .describe(
        'Only people with one of these roles in the project may decide; null: everybody with `svc:governance.write`.',
      )
      .meta({ example: null }),
    votes: z.array(
      z.object({
        user_id: UserId,
        role: z.string().meta({ example: 'OWNER' }),
        decision: z.enum(['approve', 'accept', 'reject']),
        comment: z.string().meta({ example: 'As agreed' }),
        at: EpochSeconds,
        payload_digest: Digest.optional().describe('The digest of the edited call that was voted on.'),
      }),
    ),
    approvals_given: z
      .int()
      .describe('The number of approvals of the call as it is now. Approvals from before an edit do not count.')
      .meta({ example: 0 }),
    created_at: EpochSeconds,
    expires_at: Expiry.describe(
      'The approval can be decided until then. A pause of the run moves it by the length of the pause.',
    ),
    clock_stopped_at: EpochSeconds.nullable()
      .describe('When the run whose act waits was paused: the approval does not expire until it continues.')
      .meta({ example: null }),
    decided_by: UserId.nullable(),
    decided_at: EpochSeconds.nullable(),
    used_at: EpochSeconds.nullable().describe('When the call was executed.').meta({ example: null }),
    execution_id: Id.nullable()
      .describe('The run whose act or preview waits; null for every other call.')
      .meta({ example: null }),
    used_by: Id.nullable().describe('The lifecycle of the call that was executed.').meta({ example: null }),
    may_decide: z.boolean().describe('Whether the caller may decide it now.'),
    may_not_decide_reason: z
      .string()
      .nullable()
      .describe('Why the caller may not decide it; null if the caller may.')
      .meta({ example: null }),
    may_see_payload: z.boolean().describe('Whether the caller can see the call itself at `GET /v1/approvals/{id}`.'),
    payload_view: PayloadView.nullable().describe(
      'How the caller sees the call; null if the caller does not see it. If a part is hidden or shortened, approving needs `payload_digest`.',
    ),
  })
  .meta({ id: 'Approval' });
export type Approval = z.infer<typeof Approval>;

export const ApprovalWithToken = Approval.extend({
  resume_token: z
    .string()
    .optional()
    .describe('Only for the requester, while it can be used. Send it as `X-Resume-Token` with the same call.')
    .meta({ example: 'svc_rt_Jq3v0Yx8uR2m' }),
  resume_token_expires_at: Expiry.optional(),
  payload: z
    .unknown()
    .optional()
    .describe(
      'The call, for approvers and auditors, also after the decision: `input`, what it is `about`, the state that it is `bound` to, and `edits` if an approver changed it. Secrets are hidden; `payload_view` says what else is.',
    ),
}).meta({ id: 'ApprovalWithToken' });
export type ApprovalWithToken = z.infer<typeof ApprovalWithToken>;

/** The fields that a record lacks until they have a value. */
export const absent = {
  ...{ execution_id: null, approver_roles: null, edited_payload_digest: null, editable_fields: null },
  ...{ clock_stopped_at: null, used_at: null, used_by: null },
};

/** The fields that depend on the caller, or have another name or type in the record. */
type Derived =
  | 'approval_id'
  | 'lifecycle_id'
  | 'outcome_unknown'
  | 'approvals_given'
  | 'summary'
  | 'may_see_payload'
  | 'payload_view'
  | `may_${string}`;

/** Permits the approved call once. Its caller sends it, except for runs and people in the console, who name the approval. */
export interface ResumeToken {
  /** The SHA-256 of the token. */
  digest: string;
  /** The encrypted token for its requester. */
  sealed: string;
  /** Epoch seconds. Zero if it may not be used any more. */
  expires_at: number;
  /** When and for which lifecycle a call used it; null again if that call did not complete. */
  used_at: number | null;
  used_by: string | null;
  /** The id for a record that the call creates, set at its first attempt. */
  record_id?: string;
}

/**
 * The one record of an approval. Only its workflow changes its state, only calls use its token. `_id` is the approval id, a
 * UUIDv7. What it was asked for, with edits and answer, is kept sealed beside it and never changes.
 */
export interface ApprovalDocument extends Omit<Approval, keyof typeof absent | Derived> {
  _id: string;
  lifecycle_id: string;
  /** Absent until the call has been executed. */
  used_at?: number | null;
  used_by?: string | null;
  /** Only for an act of a run, like the next two. */
  execution_id?: string;
  starter_may_decide?: boolean;
  caused_by?: string[];
  /** Only if a rule names roles. */
  approver_roles?: string[];
  edited_payload_digest?: string;
  editable_fields?: Record<string, string>;
  clock_stopped_at?: number | null;
  after_unknown?: true;
  /** Zero until its workflow has written it. Increases with each change, so that a late write never overwrites a newer one. */
  revision: number;
  /** The credential to which the token is bound. Records of 0.2.0 lack it and the next one until they are approved. */
  caller?: string;
  token_ttl_seconds?: number;
  /** The hash of caller and call. Only the latest approval of a call has it, so identical calls that wait share one approval. */
  call?: string;
  /** Present once it is approved. */
  token?: ResumeToken;
  /** When a sweep continues it: starts its workflow if nobody has, or ends the calls of its unused token. Epoch seconds. */
  due_at?: number;
  /** How often a sweep has tried. */
  attempts?: number;
  organization_id: string;
  project_id: string;
  /** When its workflow last wrote it, in epoch milliseconds. */
  changed_at?: number;
}

/** `_id` is the approval id. Kept as long as the audit chain, until its project is deleted. */
export interface ApprovalPayloadDocument {
  _id: string;
  project_id: string;
  /** The call without secrets, sealed. */
  whole: string;
  /** The redacted and shortened call, sealed. */
  sealed: string;
  /** The summaries of both, sealed. */
  summaries: string;
  /** What both summaries are made from, sealed, for the summaries of edited calls. */
  summary_sources: string;
  views: Readonly<Record<'whole' | 'redacted', PayloadView>>;
}

/** The fields of the call that the record contains. */
const callFields = [
  ...['organization_id', 'project_id', 'lifecycle_id', 'tool', 'requested_by', 'reason', 'policy_ids'],
  ...['policy_version', 'payload_digest', 'required_approvers', 'created_at'],
  ...['execution_id', 'caused_by', 'approver_roles', 'editable_fields', 'after_unknown', 'caller', 'token_ttl_seconds'],
] as const satisfies readonly (keyof ApprovalInput)[];

export function toApprovalDocument(input: ApprovalInput, state: ApprovalState, revision: number): ApprovalDocument {
  const { approval_id: _id, execution_id, starter_may_decide = false } = input;
  const { delayed_seconds = 0, accepted: _inVotes, ...shown } = state;
  const expires_at = input.expires_at + delayed_seconds;
  const call = { ...pick(input, ...callFields), ...(execution_id !== undefined && { starter_may_decide }) };
  return { _id, revision, ...call, expires_at, ...shown };
}

/** What the workflow of an approval begins with. Undefined for a record of 0.2.0, which was stored after its workflow had begun. */
export function inputOf(record: ApprovalDocument): ApprovalInput | undefined {
  const { _id: approval_id, caller, token_ttl_seconds } = record;
  if (caller === undefined || token_ttl_seconds === undefined) return undefined;
  const call = pick(record, ...callFields, 'expires_at', 'starter_may_decide');
  return { ...call, approval_id, caller, token_ttl_seconds };
}

/** Whether it can still be decided, even if its workflow has not recorded its expiry yet. */
export function isOpen(
  { status, expires_at, clock_stopped_at }: Pick<ApprovalDocument, 'status' | 'expires_at' | 'clock_stopped_at'>,
  now: number,
): boolean {
  return status === 'pending' && (typeof clock_stopped_at === 'number' || expires_at > now);
}

export const approvalsCollection = defineCollection('approvals', {
  indexes: [
    { keys: { project_id: 1, created_at: -1, _id: -1 } },
    { keys: { project_id: 1, status: 1, created_at: -1, _id: -1 } },
    { keys: { project_id: 1, requested_by: 1, created_at: -1, _id: -1 } },
    { keys: { project_id: 1, requested_by: 1, status: 1, created_at: -1, _id: -1 } },
    { keys: { project_id: 1, changed_at: 1 } },
    { keys: { execution_id: 1 }, options: { sparse: true } },
    { keys: { call: 1 }, options: { unique: true, sparse: true } },
    { keys: { 'token.digest': 1 }, options: { unique: true, sparse: true } },
    { keys: { 'token.used_by': 1 }, options: { sparse: true } },
    { keys: { due_at: 1 }, options: { sparse: true } },
  ],
  majorityRead: true,
});
export const approvalPayloadsCollection = defineCollection('approval_payloads', {
  indexes: [{ keys: { project_id: 1 } }],
});

declare module '../../stores/collections.js' {
  interface Documents {
    approvals: ApprovalDocument;
    approval_payloads: ApprovalPayloadDocument;
  }
}
