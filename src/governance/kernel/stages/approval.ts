import { AppError } from '../../../errors.js';
import { refusal, type DecidedCall, type PermittedCall } from '../call.js';
import type { KernelDeps } from '../kernel-deps.js';
import { digestOnce } from './validate-input.js';

/**
 * S6: where a policy asks for approval
 * - without a resume token an approval is requested, and the call ends as pending (202)
 * - with one, it must have been given for exactly this call: anything else is refused
 */
export async function holdOrResume(deps: KernelDeps, given: DecidedCall): Promise<PermittedCall> {
  const { decision, resumeToken, checked, principal, lifecycleId, name } = given;
  const asked = decision.decision === 'require_approval';
  if (asked && given.cannotWait !== undefined) throw refusal(new AppError('approval_refused', given.cannotWait), given);
  if (!asked && resumeToken === undefined && given.approvalId === undefined) return given;
  const held = asked && !checked.dryRun;
  const bound = held ? await checked.binds?.() : undefined;
  const call: DecidedCall =
    bound === undefined
      ? given
      : { ...given, payloadDigest: digestOnce(name, checked.digested ?? checked.input, bound) };
  const shown = async () => ({
    input: checked.input,
    ...(checked.shows && { about: await checked.shows() }),
    ...(bound !== undefined && { bound }),
  });
  const request = {
    principal,
    lifecycleId,
    tool: name,
    payloadDigest: call.payloadDigest(),
    decision,
    resumeToken,
    dryRun: checked.dryRun,
    shown,
    resumesItself: given.resumesItself ?? false,
    approvalId: given.approvalId,
    editable: checked.editable,
    afterUnknown: checked.afterUnknown,
    asksOnce: given.asksOnce,
  };
  const outcome = await deps.approvals.stage(request);
  if (outcome.outcome === 'refused') throw refusal(outcome.error, call, outcome.reason);
  if (outcome.outcome === 'not_asked') return call;
  const approvalId = outcome.approval_id;
  if (outcome.outcome === 'resumed')
    return { ...call, bound, approvalId, recordId: outcome.record_id, tokenId: outcome.token_id };
  const body = { status: 'pending_approval', approval_id: approvalId, expires_at: outcome.expires_at };
  return { ...call, approvalId, ending: { status: 'pending_approval', body } };
}
