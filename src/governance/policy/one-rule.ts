import canonicalize from 'canonicalize';
import { z } from 'zod';
import { AppError, notFound } from '../../base/errors.js';
import type { ChangeOfRules } from './replace-policies.js';
import { maxRules, PolicyRule } from './rule.js';

const { shape } = PolicyRule;
const toNull = 'Null removes the field.';

/** The fields of a rule that a caller changes. The others stay. */
export const PolicyRuleChanges = z
  .strictObject({
    description: z.string().max(500).optional(),
    effect: shape.effect.optional(),
    tools: shape.tools.nullable().describe('Null: for every operation that a rule need not name.'),
    projects: shape.projects.nullable().describe('Null: in all projects of the organization.'),
    when: shape.when.nullable().describe('Null: without a condition.'),
    approvers: shape.approvers.nullable().describe(toNull),
    approval_ttl_seconds: shape.approval_ttl_seconds.nullable().describe(toNull),
    starter_may_decide: shape.starter_may_decide.nullable().describe(toNull),
    approver_roles: shape.approver_roles.nullable().describe(toNull),
  })
  .meta({ id: 'PolicyRuleChanges', example: { when: 'context.input.entities > 200', approvers: null } });
export type PolicyRuleChanges = z.infer<typeof PolicyRuleChanges>;

/** A set with more text could not be sent with `PUT /v1/policies`. */
const maxSetBytes = 900_000;

/**
 * Adds a rule behind the others. Adding the same rule again changes nothing.
 * @throws AppError `conflict` if another rule has its id; `validation_failed` if the set becomes too large
 */
export function addRule(rule: PolicyRule): ChangeOfRules {
  return (present) => {
    const known = present.find(({ policy_id }) => policy_id === rule.policy_id);
    if (!known) return withinLimits([...present, rule]);
    if (canonicalize(known) === canonicalize(rule)) return [...present];
    throw new AppError(
      'conflict',
      `the policies already have another rule ${rule.policy_id}: change it with PATCH /v1/policies/rules/${rule.policy_id}, or use another policy_id`,
    );
  };
}

/** @throws AppError `not_found`; `validation_failed` if the set becomes too large */
export function changeRule(policyId: string, changes: PolicyRuleChanges): ChangeOfRules {
  return (present) => {
    requireRule(present, policyId);
    return withinLimits(present.map((rule) => (rule.policy_id === policyId ? changed(rule, changes) : rule)));
  };
}

/** @throws AppError `not_found` */
export function deleteRule(policyId: string): ChangeOfRules {
  return (present) => {
    requireRule(present, policyId);
    return present.filter(({ policy_id }) => policy_id !== policyId);
  };
}

function changed(rule: PolicyRule, changes: PolicyRuleChanges): PolicyRule {
  const fields = Object.entries({ ...rule, ...changes });
  return PolicyRule.parse(Object.fromEntries(fields.filter(([, value]) => value !== null && value !== undefined)));
}

function requireRule(rules: readonly PolicyRule[], policyId: string): void {
  if (!rules.some(({ policy_id }) => policy_id === policyId)) throw notFound(`the rule ${policyId}`);
}

function withinLimits(rules: PolicyRule[]): PolicyRule[] {
  if (rules.length > maxRules)
    throw new AppError(
      'validation_failed',
      `an organization has at most ${maxRules} rules: delete or merge some first`,
    );
  if (Buffer.byteLength(JSON.stringify(rules)) > maxSetBytes)
    throw new AppError('validation_failed', `all rules together must have at most ${maxSetBytes} bytes as JSON`);
  return rules;
}
