import { withGrantsOfRoles } from '../../../auth/principal.js';
import { AppError } from '../../../base/errors.js';
import { checksAt } from '../entrances.js';
import { refusal, type CheckedCall, type DecidedCall, type Resource } from '../call.js';
import type { Recheck } from '../../operations/recheck.js';
import type { KernelDeps } from '../kernel-deps.js';
import { causedBy, factsOf } from '../../operations/operation.js';
import { strictestOf, type PolicyEvaluation } from '../../policy/decision.js';
import { mayRead } from '../../policy/reads.js';
import { factsToKeep } from '../../policy/recorded-call.js';
import { requirePermissionFor } from './resolve-scope.js';

type Caused = CheckedCall['caused'];

/**
 * S5: decides by the rules in force on the operation and on everything that the call causes. Refuses a forbidden call with
 * the names of the rules.
 */
export async function applyPolicies(deps: KernelDeps, call: CheckedCall): Promise<DecidedCall> {
  const { principal, operation, caused, entrance } = call;
  const { channel, approval } = checksAt(entrance);
  const [rules, found] = await Promise.all([deps.policies.current(principal.organizationId), call.checked.lookUp?.()]);
  const possible = [operation, ...(operation.causes ?? []).map((cause) => cause.operation)];
  const isModeKnown = possible.some(({ name }) => mayRead(rules.read(name), 'context.mode'));
  const mode = isModeKnown ? await deps.projectMode(principal.projectId) : 'simple';
  const { dryRun, resource } = call.checked;
  const input = found?.facts ? { ...(call.checked.input as object), ...found.facts } : call.checked.input;
  const checked = { ...call.checked, resource: found?.resource ?? resource };
  const shared = { principal: withGrantsOfRoles(principal), channel, mode, dryRun, at: new Date() };
  const request = { ...shared, operation, resource: checked.resource, input, facts: factsOf(operation, input) };
  const decideAll = (facts: typeof request.facts, calls: Caused): PolicyEvaluation =>
    strictestOf([
      deps.policies.decide(rules, { ...request, facts }),
      ...calls.map((each) =>
        deps.policies.decide(rules, {
          ...shared,
          operation: each.operation,
          resource: each.resource ?? anyOf(each.operation.name),
          input: each.input,
          facts: factsOf(each.operation, each.input),
        }),
      ),
    ]);
  const decision = decideAll(request.facts, caused);
  const policyFacts = () => factsToKeep(request, { name: call.name, isModeKnown });
  const recheck: Recheck = (what, changed) => {
    const nowCaused = causedBy(operation, { ...(call.checked.input as object), ...changed }, call.subjectRecord);
    for (const each of nowCaused) requirePermissionFor(principal, each.operation);
    const other = decideAll(factsOf(operation, { ...(input as object), ...changed }), nowCaused);
    const isApproved =
      other.decision === 'require_approval' && other.policy_ids.every((id) => decision.policy_ids.includes(id));
    if (other.decision === 'permit' || isApproved) return;
    const error =
      other.decision === 'require_approval' && typeof approval === 'object'
        ? new AppError('approval_refused', approval.refused)
        : new AppError('policy_denied', `${what}: ${other.reason}`);
    throw refusal(error, { ...call, checked, decision: other, policyFacts, recheck });
  };
  const decided = { ...call, checked, decision, policyFacts, recheck };
  if (decision.decision === 'forbid') throw refusal(new AppError('policy_denied', decision.reason), decided);
  return decided;
}

function anyOf(operation: string): Resource {
  return { type: operation.split('.')[0] ?? operation, id: '*' };
}
