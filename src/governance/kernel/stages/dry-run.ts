import { AppError, isAppError } from '../../../base/errors.js';
import type { StageNote, PermittedCall } from '../call.js';

/** S7: ends a dry run. The answer describes the effect of the call and the approval that it would need. */
export async function dryRun(_deps: unknown, call: PermittedCall): Promise<PermittedCall & StageNote> {
  const { checked, decision } = call;
  if (!checked.dryRun) return { ...call, note: 'not asked for' };
  const would = await (checked.describe?.() ?? Promise.resolve({})).catch(refuse);
  const { policy_ids, approvers, approver_roles } = decision;
  const approval = { policy_ids, approvers, ...(approver_roles && { approver_roles }) };
  const whole = decision.decision === 'require_approval' ? { ...would, approval } : would;
  return { ...call, ending: { status: 'dry_run', body: { dry_run: true, would: whole } } };
}

/** A conflict that the call itself would meet is the result of the dry run. */
function refuse(error: unknown): never {
  throw isAppError(error) && error.code === 'conflict'
    ? new AppError('dry_run_refused', error.message, { cause: error })
    : error;
}
