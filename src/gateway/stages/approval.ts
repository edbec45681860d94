import type { PolicyEvaluation } from '../../governance/policy/decision.js';
import type { ValidatedCall } from '../call.js';
import type { GatewayDeps } from '../gateway-deps.js';
import type { CallRecord } from '../record.js';
import { onHarness } from './harness.js';

export type Approved = { pending: false } | { pending: true; body: Record<string, unknown> };

/**
 * S6: where a policy asks for approval
 * - without a resume token an approval is requested, and the call ends as pending (202)
 * - with one, it must have been given for exactly this call: anything else is refused
 */
export async function approve(deps: GatewayDeps, call: ValidatedCall, decision: PolicyEvaluation, record: CallRecord): Promise<Approved> {
  const { principal, payloadDigest, resumeToken, dryRun } = call;
  const request = { principal, lifecycleId: call.ctx.lifecycleId, tool: call.tool.name, payloadDigest, decision, resumeToken, dryRun };
  const outcome = await onHarness(() => deps.approvals.stage(request));
  if (outcome.outcome === 'refused') {
    record.refusedBecause = outcome.reason;
    throw outcome.error;
  }
  if (outcome.outcome === 'resumed' || outcome.outcome === 'pending') record.approvalId = outcome.approval_id;
  if (outcome.outcome !== 'pending') return { pending: false };
  const { approval_id, expires_at } = outcome;
  return { pending: true, body: { status: 'pending_approval', approval_id, expires_at } };
}
