import { AppError } from '../../../base/errors.js';
import { isJsonObject } from '../../../base/json.js';
import { titleOfOperation } from '../../approvals/summary.js';
import { checksAt } from '../entrances.js';
import { refusal, type DecidedCall, type PermittedCall } from '../call.js';
import type { KernelDeps } from '../kernel-deps.js';
import { digestOnce } from './validate-input.js';

/**
 * S6, if a policy requires an approval:
 * - without a resume token, requests an approval and ends the call as pending (202)
 * - with a resume token, refuses the call unless the token was given for exactly this call
 */
export async function holdOrResume(deps: KernelDeps, decided: DecidedCall): Promise<PermittedCall> {
  const { decision, resumeToken, checked, name } = decided;
  const { approval } = checksAt(decided.entrance);
  const isRequired = decision.decision === 'require_approval';
  if (isRequired && typeof approval === 'object')
    throw refusal(new AppError('approval_refused', approval.refused), decided);
  if (!isRequired && resumeToken === undefined && decided.approvalId === undefined) return decided;
  const held = isRequired && !checked.dryRun;
  const bound = held ? await checked.boundState?.() : undefined;
  const call: DecidedCall =
    bound === undefined
      ? decided
      : { ...decided, payloadDigest: digestOnce(name, checked.digested ?? checked.input, bound) };
  const forApprovers = async () => ({
    input: checked.input,
    ...(checked.approvalContext && { about: await checked.approvalContext() }),
    ...(bound !== undefined && { bound }),
  });
  const outcome = await deps.approvals.stage({
    ...call,
    tool: name,
    resumesItself: approval === 'repeat',
    payloadDigest: call.payloadDigest(),
    dryRun: checked.dryRun,
    forApprovers,
    summary: checked.summary?.() ?? {
      title: titleOfOperation(name),
      fields: isJsonObject(checked.input) ? checked.input : {},
    },
    editable: checked.editable,
    afterUnknown: checked.afterUnknown,
  });
  if (outcome.outcome === 'refused') throw refusal(outcome.error, call, outcome.reason);
  if (outcome.outcome === 'not_asked') return call;
  const { approvalId } = outcome;
  if (outcome.outcome === 'resumed') return { ...call, bound, approvalId, recordId: outcome.recordId };
  const body = { status: 'pending_approval', approval_id: approvalId, expires_at: outcome.expiresAt };
  return { ...call, approvalId, ending: { status: 'pending_approval', body } };
}
