import { AppError, isAppError } from '../../errors.js';
import type { PolicyEvaluation } from '../../governance/policy/decision.js';
import type { ValidatedCall } from '../call.js';

/** S7: a call with `dry_run` ends here with what it would do, and whose approval it would wait for. */
export async function dryRun({ tool, prepared, ctx }: ValidatedCall, { decision, policy_ids, approvers }: PolicyEvaluation): Promise<Record<string, unknown>> {
  const would = await tool.dryRun(prepared, ctx).catch(refuse);
  return { dry_run: true, would: decision === 'require_approval' ? { ...would, approval: { policy_ids, approvers } } : would };
}

/** What the call itself would meet as a conflict is what its dry run found. */
function refuse(error: unknown): never {
  throw isAppError(error) && error.code === 'conflict' ? new AppError('S7:dry-run', error.message, { cause: error }) : error;
}
