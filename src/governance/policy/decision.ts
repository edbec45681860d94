import type { AuthorizationAnswer } from '@cedar-policy/cedar-wasm/nodejs';
import type { PolicyRule } from './rule.js';

/** What the policies in force say about one call, with the rules that say it. */
export interface PolicyEvaluation {
  decision: 'permit' | 'forbid' | 'require_approval';
  policy_ids: string[];
  policy_version: number;
  /** How many different people must approve; 0 where no approval is asked. */
  approvers: number;
  approval_ttl_seconds: number;
  reason: string;
}

const defaultApprovalTtlSeconds = 86_400;

/**
 * A forbid wins over all, then an approval that is asked for, then a permit; a call that no rule permits is forbidden.
 * A rule that could not be evaluated forbids as well: it may have been one that forbids.
 */
export function decisionOf(answer: AuthorizationAnswer, rules: ReadonlyMap<string, PolicyRule>, version: number): PolicyEvaluation {
  if (answer.type === 'failure') {
    throw new Error(`the policy engine refused the request: ${answer.errors.map(({ message }) => message).join('; ')}`);
  }
  const { decision, diagnostics } = answer.response;
  const broken = diagnostics.errors.map(({ policyId }) => policyId);
  if (broken.length > 0) return outcome('forbid', broken, version, `${broken.join(', ')} could not be evaluated`);
  const determining = diagnostics.reason.map((id) => rules.get(id)).filter((rule) => rule !== undefined);
  if (decision === 'deny') {
    return determining.length > 0 ? because('forbid', determining, version) : outcome('forbid', [], version, 'no policy permits this call');
  }
  const asking = determining.filter(({ effect }) => effect === 'require_approval');
  return asking.length > 0 ? because('require_approval', asking, version) : because('permit', determining, version);
}

function because(decision: PolicyEvaluation['decision'], rules: readonly PolicyRule[], version: number): PolicyEvaluation {
  const reasons = rules.map(({ policy_id, description }) => description || policy_id);
  const ids = rules.map(({ policy_id }) => policy_id).sort();
  const base = outcome(decision, ids, version, reasons.sort().join(' ').slice(0, 1000));
  if (decision !== 'require_approval') return base;
  return {
    ...base,
    approvers: Math.max(...rules.map(({ approvers }) => approvers ?? 1)),
    approval_ttl_seconds: Math.min(...rules.map(({ approval_ttl_seconds }) => approval_ttl_seconds ?? defaultApprovalTtlSeconds)),
  };
}

function outcome(decision: PolicyEvaluation['decision'], policy_ids: string[], policy_version: number, reason: string): PolicyEvaluation {
  return { decision, policy_ids, policy_version, approvers: 0, approval_ttl_seconds: 0, reason };
}
