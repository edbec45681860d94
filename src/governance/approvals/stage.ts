import { AppError } from '../../errors.js';
import { isId } from '../../ids.js';
import type { Collections } from '../../stores/collections.js';
import { epochSeconds } from '../../time.js';
import { redeemForApproval, redeemResumeToken, type Redemption } from './redeem.js';
import { approvalOfRequest, requestApproval, type ApprovalCall, type RequestDeps } from './request.js';
import { callerOf, type ResumeRefusal } from './resume-token.js';

export interface ApprovalRequest extends ApprovalCall {
  /** The header `X-Resume-Token`, or the id of the approval from a client that has no token. */
  resumeToken: string | undefined;
  dryRun: boolean;
  /** For a caller that cannot store a token: a repeat of the same call uses the approval that was given for it. */
  resumesItself?: boolean;
  /** The approval that a caller without a token uses when it repeats its call. */
  approvalId?: string | undefined;
}

/** `reason` is for the audit chain. The message of `error` is for the holder of the token. */
export type ApprovalOutcome =
  | { outcome: 'not_asked' }
  | { outcome: 'resumed'; approval_id: string; record_id: string; token_id: string }
  | { outcome: 'pending'; approval_id: string; expires_at: number }
  | { outcome: 'refused'; reason: ResumeRefusal; error: AppError };

/**
 * Stage S6. A token is valid only for the call for which it was given. It is refused for a call that needs no approval
 * and for a dry run. A dry run never requests an approval.
 */
export async function approvalStage(deps: RequestDeps, call: ApprovalRequest): Promise<ApprovalOutcome> {
  const { decision, resumeToken, dryRun } = call;
  const isRequired = decision.decision === 'require_approval';
  if (resumeToken === undefined) {
    if (!isRequired || dryRun) return refuseIfRejected(deps.collections, call);
    if (call.approvalId !== undefined) return resumeUnderApproval(deps.collections, call, call.approvalId);
    const approvalId = call.resumesItself ? await approvalOfRequest(deps.collections, call) : undefined;
    const redemption =
      approvalId === undefined
        ? undefined
        : await redeemForApproval(deps.collections, approvalId, redeemingCallOf(call));
    if (redemption?.ok) return resumed(redemption);
    return { outcome: 'pending', ...(await requestApproval(deps, call)) };
  }
  if (!isRequired || dryRun) return refused('not_asked');
  const redemption = await redeemResumeToken(deps.collections, { token: resumeToken, ...redeemingCallOf(call) });
  if (redemption.ok) return resumed(redemption);
  return refused((await reasonOfApproval(deps.collections, call, resumeToken)) ?? redemption.reason);
}

/** A rejection stays in force, even if the rules no longer require an approval. */
async function refuseIfRejected(collections: Collections, call: ApprovalRequest): Promise<ApprovalOutcome> {
  const reason = call.approvalId === undefined ? undefined : await reasonOfApproval(collections, call, call.approvalId);
  return reason === 'rejected' ? refused(reason) : { outcome: 'not_asked' };
}

async function resumeUnderApproval(
  collections: Collections,
  call: ApprovalRequest,
  approvalId: string,
): Promise<ApprovalOutcome> {
  const redemption = await redeemForApproval(collections, approvalId, redeemingCallOf(call));
  if (redemption.ok) return resumed(redemption);
  return refused((await reasonOfApproval(collections, call, approvalId)) ?? redemption.reason);
}

function resumed({ approvalId, recordId, tokenId }: Extract<Redemption, { ok: true }>): ApprovalOutcome {
  return { outcome: 'resumed', approval_id: approvalId, record_id: recordId, token_id: tokenId };
}

function redeemingCallOf({ principal, lifecycleId, tool, payloadDigest, decision }: ApprovalRequest) {
  return {
    lifecycleId,
    caller: callerOf(principal),
    projectId: principal.projectId,
    tool,
    payloadDigest,
    policyVersion: decision.policy_version,
    policyIds: decision.policy_ids,
    approvers: decision.approvers,
    now: epochSeconds(),
  };
}

/** Why the approval with this id has no usable token. Undefined for everybody except the requester. */
async function reasonOfApproval(
  { approvals }: Pick<Collections, 'approvals'>,
  { principal }: ApprovalCall,
  id: string,
): Promise<ResumeRefusal | undefined> {
  const record = isId(id) ? await approvals.findOne({ _id: id }) : null;
  if (record?.project_id !== principal.projectId || record.requested_by !== principal.userId) return undefined;
  const { status } = record;
  return status === 'pending' || status === 'approved' ? undefined : status;
}

const invalid = 'the resume token is not valid for this credential';
const otherPolicies =
  'the policies changed after the approval was given: repeat the call without a resume token to ask again';

/** Message for each reason. The holder of another caller's token learns nothing about it. */
const texts: Record<ResumeRefusal, string> = {
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
  used: 'the resume token was already used',
  not_asked:
    'this call needs no approval, because no rule requires one or because it is a dry run: repeat it without a resume token',
};

function refused(reason: ResumeRefusal): ApprovalOutcome {
  return { outcome: 'refused', reason, error: new AppError('approval_refused', texts[reason]) };
}
