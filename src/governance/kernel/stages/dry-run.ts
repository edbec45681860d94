import { AppError, isAppError } from '../../../errors.js';
import type { Noted, PermittedCall } from '../call.js';

/** S7: a call with `dry_run` ends here with what it would do, and whose approval it would wait for. */
export async function dryRun(_deps: unknown, call: PermittedCall): Promise<PermittedCall & Noted> {
  const { checked, decision } = call;
  if (!checked.dryRun) return { ...call, note: 'not asked for' };
  const would = await (checked.describe?.() ?? Promise.resolve({})).catch(refuse);
  const { policy_ids, approvers, approver_roles } = decision;
  const approval = { policy_ids, approvers, ...(approver_roles && { approver_roles }) };
  const whole = decision.decision === 'require_approval' ? { ...would, approval } : would;
  return { ...call, ending: { status: 'dry_run', body: { dry_run: true, would: whole } } };
}

/** What the call itself would meet as a conflict is what its dry run found. */
function refuse(error: unknown): never {
  throw isAppError(error) && error.code === 'conflict'
    ? new AppError('dry_run_refused', error.message, { cause: error })
    : error;
}
