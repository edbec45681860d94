import { AppError } from '../../errors.js';
import { epochSeconds } from '../../time.js';
import { redeemResumeToken } from './redeem.js';
import { requestApproval, type ApprovalCall } from './request.js';
import { callerOf, type ResumeRefusal } from './resume-token.js';
import type { Collections } from '../../stores/collections.js';
import type { Temporal } from '../../temporal/client.js';

export interface ApprovalRequest extends ApprovalCall {
  /** The header `X-Resume-Token`. */
  resumeToken: string | undefined;
  dryRun: boolean;
}

/** `error` is what the caller gets, the same for every reason; `reason` is for the audit chain. */
export type ApprovalOutcome =
  | { outcome: 'not_asked' }
  | { outcome: 'resumed'; approval_id: string }
  | { outcome: 'pending'; approval_id: string; expires_at: number }
  | { outcome: 'refused'; reason: ResumeRefusal; error: AppError };

/**
 * S6. A token counts for the call that it was given for and for nothing else: with a call that no policy holds, and with
 * a dry run, it is refused. A dry run changes nothing, so it asks nobody.
 */
export async function approvalStage(deps: { collections: Collections; temporal: Temporal }, call: ApprovalRequest): Promise<ApprovalOutcome> {
  const { principal, lifecycleId, tool, payloadDigest, decision, resumeToken, dryRun } = call;
  const asked = decision.decision === 'require_approval';
  if (resumeToken === undefined) {
    if (!asked || dryRun) return { outcome: 'not_asked' };
    return { outcome: 'pending', ...(await requestApproval(deps, call)) };
  }
  if (!asked || dryRun) return refused('not_asked');
  const redemption = await redeemResumeToken(deps.collections, {
    token: resumeToken,
    lifecycleId,
    caller: callerOf(principal),
    projectId: principal.projectId,
    tool,
    payloadDigest,
    policyVersion: decision.policy_version,
    policyIds: decision.policy_ids,
    approvers: decision.approvers,
    now: epochSeconds(),
  });
  return redemption.ok ? { outcome: 'resumed', approval_id: redemption.approvalId } : refused(redemption.reason);
}

function refused(reason: ResumeRefusal): ApprovalOutcome {
  return { outcome: 'refused', reason, error: new AppError('S6:approval', 'the resume token does not allow this call') };
}
