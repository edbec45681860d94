import type { Principal } from '../../auth/principal.js';
import type { SecretBox } from '../../auth/secret-box.js';
import { secretTokens } from '../../auth/secret-token.js';
import { sha256Hex } from '../../base/hash.js';
import type { ApprovalDocument, ResumeToken } from './record.js';

export const resumeTokens = secretTokens('svc_rt_');

/** The purpose to which the sealed token is bound. */
export function sealedFor(approvalId: string): string {
  return `resume-token:${approvalId}`;
}

/** `expires_at` in epoch seconds. */
export function mintToken(secrets: Pick<SecretBox, 'seal'>, approvalId: string, expires_at: number): ResumeToken {
  const token = resumeTokens.create();
  const sealed = secrets.seal(token, sealedFor(approvalId));
  return { digest: sha256Hex(token), sealed, expires_at, used_at: null, used_by: null };
}

/**
 * Identifies the caller to whom a token is bound: an API key, a run, or a person with one kind of token and client. It does
 * not contain the access token, which is renewed while a call waits.
 */
export function callerOf({
  kind,
  keyId,
  userId,
  clientId,
  executionId,
}: Pick<Principal, 'kind' | 'keyId' | 'userId' | 'clientId' | 'executionId'>): string {
  return [kind, userId, keyId ?? clientId ?? executionId ?? ''].join(':');
}

const invalid = 'the resume token is not valid for this credential';
const otherPolicies =
  'the policies changed after the approval was given: repeat the call without a resume token to ask again';

/** Why a token is refused, as its holder reads it. The holder of another caller's token learns nothing about it. */
export const refusalTexts = {
  malformed: invalid,
  unknown: invalid,
  other_project: invalid,
  other_caller: invalid,
  other_tool: 'the resume token was given for another operation',
  other_payload:
    'the resume token was given for another payload: the call, or the state that it acts on, differs from what was approved',
  other_policy_version: otherPolicies,
  other_policies: otherPolicies,
  rejected: 'the approval was rejected',
  expired: 'the approval or its resume token has expired: repeat the call without a resume token to ask again',
  used: 'the resume token was already used: its call was executed, or runs now; `used_by` of the approval is the lifecycle of the executed call',
  not_asked:
    'this call needs no approval, because no rule requires one or because it is a dry run: repeat it without a resume token',
};
export type ResumeRefusal = keyof typeof refusalTexts;

export interface ResumedCall {
  caller: string;
  projectId: string;
  tool: string;
  payloadDigest: string;
  policyVersion: number;
  policyIds: readonly string[];
  approvers: number;
  /** Epoch seconds. */
  now: number;
}

/** Returns undefined if the token of the approval permits this call under its current policy decision. */
export function refusalOf(
  approval: ApprovalDocument & { token: ResumeToken },
  call: ResumedCall,
): ResumeRefusal | undefined {
  const { token, policy_ids, required_approvers } = approval;
  if (approval.project_id !== call.projectId) return 'other_project';
  if (approval.caller !== call.caller) return 'other_caller';
  if (approval.tool !== call.tool) return 'other_tool';
  if (approvedDigest(approval) !== call.payloadDigest) return 'other_payload';
  if (approval.policy_version !== call.policyVersion) return 'other_policy_version';
  // The same version can require more than before, for example at another hour or in another mode.
  const covered = call.policyIds.every((id) => policy_ids.includes(id)) && call.approvers <= required_approvers;
  if (!covered) return 'other_policies';
  if (call.now >= token.expires_at) return 'expired';
  if (token.used_at !== null) return 'used';
  return undefined;
}

/** The digest of the call that was approved, with the edits of its approvers. */
function approvedDigest({ payload_digest, edited_payload_digest }: ApprovalDocument): string {
  return edited_payload_digest ?? payload_digest;
}
