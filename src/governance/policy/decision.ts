import type { AuthorizationAnswer } from '@cedar-policy/cedar-wasm/nodejs';
import { deciderRoles, type DeciderRole } from '../../auth/grants.js';
import type { PolicyRule } from './rule.js';

/** The decision of the policies in force on one call, with the rules that determined it. */
export interface PolicyEvaluation {
  decision: 'permit' | 'forbid' | 'require_approval';
  policy_ids: string[];
  policy_version: number;
  /** The number of different people who must approve; 0 if no approval is required. */
  approvers: number;
  approval_ttl_seconds: number;
  /** Whether every rule that requires the approval lets the person who started the run decide on an act of the run. */
  starter_may_decide: boolean;
  /** The roles that all rules with roles have in common; null if no rule names roles. */
  approver_roles: DeciderRole[] | null;
  reason: string;
}

export const noRole = 'the rules that ask for approval have no approver role in common';
const defaultApprovalTtlSeconds = 86_400;

/**
 * A forbid takes precedence over a required approval, and this over a permit. A call that no rule permits is forbidden.
 * A forbid or a required approval that cannot be evaluated counts as matching, because it could match.
 */
export function decisionOf(
  answer: AuthorizationAnswer,
  rules: ReadonlyMap<string, PolicyRule>,
  version: number,
): PolicyEvaluation {
  if (answer.type === 'failure') {
    throw new Error(`the policy engine refused the request: ${answer.errors.map(({ message }) => message).join('; ')}`);
  }
  const { decision, diagnostics } = answer.response;
  const named = (ids: readonly string[]) => ids.map((id) => rules.get(id)).filter((rule) => rule !== undefined);
  const broken = named(diagnostics.errors.map(({ policyId }) => policyId));
  const notEvaluated = (ids: readonly string[]) => `${ids.join(', ')} could not be evaluated`;
  const brokenForbids = idsOf(broken.filter(({ effect }) => effect === 'forbid'));
  if (brokenForbids.length > 0) return outcome('forbid', brokenForbids, version, notEvaluated(brokenForbids));
  const determining = named(diagnostics.reason);
  if (decision === 'deny' && determining.length > 0) return because('forbid', determining, version);
  const asking = [...determining, ...broken].filter(({ effect }) => effect === 'require_approval');
  if (asking.length > 0) return because('require_approval', asking, version);
  if (decision === 'allow') return because('permit', determining, version);
  const noPermit = 'no policy permits this call';
  return outcome(
    'forbid',
    [],
    version,
    [noPermit, ...(broken.length > 0 ? [notEvaluated(idsOf(broken))] : [])].join(': '),
  );
}

function idsOf(rules: readonly PolicyRule[]): string[] {
  return rules.map(({ policy_id }) => policy_id).sort();
}

function because(
  decision: PolicyEvaluation['decision'],
  rules: readonly PolicyRule[],
  version: number,
): PolicyEvaluation {
  const reasons = rules.map(({ policy_id, description }) => description || policy_id);
  const ids = idsOf(rules);
  const base = outcome(decision, ids, version, reasons.sort().join(' ').slice(0, 1000));
  if (decision !== 'require_approval') return base;
  const approver_roles = commonRoles(rules);
  if (approver_roles?.length === 0) return outcome('forbid', ids, version, noRole);
  return {
    ...base,
    approvers: Math.max(...rules.map(({ approvers }) => approvers ?? 1)),
    approval_ttl_seconds: Math.min(
      ...rules.map(({ approval_ttl_seconds }) => approval_ttl_seconds ?? defaultApprovalTtlSeconds),
    ),
    starter_may_decide: rules.every(({ starter_may_decide }) => starter_may_decide === true),
    approver_roles,
  };
}

/**
 * The decision on a call that several decisions concern: a forbid takes precedence over required approvals, and these over
 * a permit. A required approval must satisfy all rules that require one.
 */
export function strictestOf(all: readonly [PolicyEvaluation, ...PolicyEvaluation[]]): PolicyEvaluation {
  const forbidden = all.find(({ decision }) => decision === 'forbid');
  if (forbidden) return forbidden;
  const [first, ...others] = all.filter(({ decision }) => decision === 'require_approval');
  return first ? others.reduce(bothApprovals, first) : all[0];
}

function bothApprovals(a: PolicyEvaluation, b: PolicyEvaluation): PolicyEvaluation {
  const { approver_roles: ours } = a;
  const { approver_roles: theirs } = b;
  const approver_roles = ours && theirs ? ours.filter((role) => theirs.includes(role)) : (ours ?? theirs);
  const policy_ids = [...new Set([...a.policy_ids, ...b.policy_ids])].sort();
  if (approver_roles?.length === 0) return outcome('forbid', policy_ids, a.policy_version, noRole);
  return {
    ...a,
    policy_ids,
    approver_roles,
    approvers: Math.max(a.approvers, b.approvers),
    approval_ttl_seconds: Math.min(a.approval_ttl_seconds, b.approval_ttl_seconds),
    starter_may_decide: a.starter_may_decide && b.starter_may_decide,
    reason: [...new Set([a.reason, b.reason])].join(' ').slice(0, 1000),
  };
}

/** The roles that may decide if all these rules require an approval; null if none of them names roles. */
export function commonRoles(rules: readonly PolicyRule[]): DeciderRole[] | null {
  const named = rules.flatMap(({ approver_roles }) => (approver_roles ? [approver_roles] : []));
  return named.length === 0 ? null : deciderRoles.filter((role) => named.every((roles) => roles.includes(role)));
}

function outcome(
  decision: PolicyEvaluation['decision'],
  policy_ids: string[],
  policy_version: number,
  reason: string,
): PolicyEvaluation {
  return {
    decision,
    policy_ids,
    policy_version,
    approvers: 0,
    approval_ttl_seconds: 0,
    starter_may_decide: false,
    approver_roles: null,
    reason,
  };
}
