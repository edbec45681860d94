import { AppError } from '../../errors.js';
import type { PolicyEvaluation } from '../../governance/policy/decision.js';
import type { ValidatedCall } from '../call.js';
import type { GatewayDeps } from '../gateway-deps.js';
import type { CallRecord } from '../record.js';

/** S5: the rules in force decide; a forbid is a refusal that names them. */
export async function decide(deps: GatewayDeps, call: ValidatedCall, record: CallRecord): Promise<PolicyEvaluation> {
  const [rules, mode] = await Promise.all([deps.policies.inForce(call.ctx.organizationId), deps.projectMode(call.ctx.projectId)]);
  const decision = deps.policies.decide(rules, {
    principal: call.principal,
    tool: call.tool.name,
    resource: call.resource,
    mode,
    dryRun: call.dryRun,
    input: call.validInput,
    at: new Date(),
  });
  record.decision = decision;
  if (decision.decision === 'forbid') throw new AppError('S5:policy', decision.reason);
  return decision;
}
