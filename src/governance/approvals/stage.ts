import { AppError } from '../../base/errors.js';
import { isId } from '../../base/ids.js';
import type { Collections } from '../../stores/collections.js';
import { epochSeconds } from '../../base/time.js';
import { redeem, redeemResumeToken, type Redeemed } from './redeem.js';
import {
  approvedRequest,
  requestApproval,
  type ApprovalCall,
  type PendingApproval,
  type RequestDeps,
} from './request.js';
import { callerOf, refusalTexts, type ResumeRefusal } from './resume-token.js';

export interface ApprovalRequest extends ApprovalCall {
  /** The header `X-Resume-Token`, or the id of the approval from a client that has no token. */
  resumeToken?: string | undefined;
  dryRun: boolean;
  /** For a caller that cannot store a token: a repeat of the same call uses the approval that was given for it. */
  resumesItself?: boolean;
  /** The approval that a caller without a token uses when it repeats its call. */
  approvalId?: string | undefined;
}

/** `reason` is for the audit chain. The message of `error` is for the holder of the token. */
type ApprovalOutcome =
  | { outcome: 'not_asked' }
  | ({ outcome: 'resumed' } & Redeemed)
  | ({ outcome: 'pending' } & PendingApproval)
  | { outcome: 'refused'; reason: ResumeRefusal; error: AppError };

/**
 * Stage S6. A token is valid only for the call for which it was given. It is refused for a call that needs no approval
 * and for a dry run. A dry run never requests an approval.
 */
export async function approvalStage(deps: RequestDeps, call: ApprovalRequest): Promise<ApprovalOutcome> {
  const { decision, resumeToken, approvalId, dryRun } = call;
  const { collections } = deps;
  if (decision.decision !== 'require_approval' || dryRun)
    return resumeToken === undefined ? refuseIfRejected(collections, call) : refused('not_asked');
  const redeeming = redeemingCallOf(call);
  if (resumeToken !== undefined) {
    const redemption = await redeemResumeToken(collections, { token: resumeToken, ...redeeming });
    return resumedOrRefused(collections, call, redemption, resumeToken);
  }
  if (approvalId !== undefined)
    return resumedOrRefused(collections, call, await redeem(collections, { approvalId }, redeeming), approvalId);
  const approved = call.resumesItself ? await approvedRequest(collections, call) : undefined;
  const redemption = approved && (await redeem(collections, { approvalId: approved }, redeeming));
  if (typeof redemption === 'object') return { outcome: 'resumed', ...redemption };
  return { outcome: 'pending', ...(await requestApproval(deps, call)) };
}

/** A rejection stays in force, even if the rules no longer require an approval. */
async function refuseIfRejected(collections: Collections, call: ApprovalRequest): Promise<ApprovalOutcome> {
  const reason = call.approvalId === undefined ? undefined : await reasonOfApproval(collections, call, call.approvalId);
  return reason === 'rejected' ? refused(reason) : { outcome: 'not_asked' };
}

/** `approvalId` is what the caller sent: a client without a token sends the id of its approval as the token. */
async function resumedOrRefused(
  collections: Collections,
  call: ApprovalRequest,
  redemption: Redeemed | ResumeRefusal,
  approvalId: string,
): Promise<ApprovalOutcome> {
  if (typeof redemption === 'object') return { outcome: 'resumed', ...redemption };
  return refused((await reasonOfApproval(collections, call, approvalId)) ?? redemption);
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

function refused(reason: ResumeRefusal): ApprovalOutcome {
  return { outcome: 'refused', reason, error: new AppError('approval_refused', refusalTexts[reason]) };
}
