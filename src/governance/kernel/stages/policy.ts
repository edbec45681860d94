import { AppError } from '../../../errors.js';
import { refusal, type CheckedCall, type DecidedCall } from '../call.js';
import type { Recheck } from '../../operations/recheck.js';
import type { KernelDeps } from '../kernel-deps.js';
import { factsOf } from '../../operations/operation.js';
import { mayRead } from '../../policy/reads.js';
import { factsToKeep } from '../../policy/recorded-call.js';

/** S5: decides by the rules in force. Refuses a forbidden call with the names of the rules. */
export async function applyPolicies(deps: KernelDeps, call: CheckedCall): Promise<DecidedCall> {
  const { principal, channel, operation } = call;
  const [rules, found] = await Promise.all([deps.policies.inForce(principal.organizationId), call.checked.lookUp?.()]);
  const isModeKnown = mayRead(rules.read(operation.name), 'context.mode');
  const mode = isModeKnown ? await deps.projectMode(principal.projectId) : 'simple';
  const { dryRun, resource } = call.checked;
  const input = found?.facts ? { ...(call.checked.input as object), ...found.facts } : call.checked.input;
  const checked = { ...call.checked, resource: found?.resource ?? resource };
  const request = {
    principal,
    channel,
    operation,
    resource: checked.resource,
    mode,
    dryRun,
    input,
    facts: factsOf(operation, input),
    at: new Date(),
  };
  const decision = deps.policies.decide(rules, request);
  const policyFacts = () => factsToKeep(request, { name: call.name, isModeKnown });
  const recheck: Recheck = (what, changed) => {
    const facts = factsOf(operation, { ...(input as object), ...changed });
    const other = deps.policies.decide(rules, { ...request, facts });
    const isApproved =
      other.decision === 'require_approval' && other.policy_ids.every((id) => decision.policy_ids.includes(id));
    if (other.decision === 'permit' || isApproved) return;
    throw new AppError('policy_denied', `${what}: ${other.reason} (${other.policy_ids.join(', ')})`);
  };
  const decided = { ...call, checked, decision, policyFacts, recheck };
  if (decision.decision === 'forbid') throw refusal(new AppError('policy_denied', decision.reason), decided);
  return decided;
}
