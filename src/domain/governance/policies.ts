import { z } from 'zod';
import { text, type Facts } from '../../governance/operations/operation.js';
import { addRule, changeRule, deleteRule, PolicyRuleChanges } from '../../governance/policy/one-rule.js';
import { PolicyRule, PolicyRules, PolicySet, PolicySetVersion, ruleId } from '../../governance/policy/rule.js';
import { listOf, ListQuery } from '../../stores/lists.js';
import { queryNumber } from '../../base/validation.js';
import { defineOperation } from '../operation.js';

const version = z.int().min(0);
const what = 'The version that the caller read, as in the header `If-Match`; 409 if another one is in force.';
const expected_version = version.optional().describe(what).meta({ example: 2 });

const reason = z
  .string()
  .trim()
  .min(1)
  .max(500)
  .optional()
  .describe('Why the rules change; the list of versions shows it.')
  .meta({ example: 'Refunds over 100 EUR went out unseen.' });
const change = { expected_version, reason };

const NewPolicies = z.strictObject({ policies: PolicyRules, ...change });
const NewRule = PolicyRule.extend(change).meta({ id: 'PolicyRuleInput', example: PolicyRule.meta()?.example });
const RuleChanges = PolicyRuleChanges.extend(change).meta({
  id: 'PolicyRuleChanges',
  example: PolicyRuleChanges.meta()?.example,
});
const RuleKey = z.object({ policy_id: z.string().regex(ruleId).meta({ example: 'agents-ask' }) });

const read = { effect: 'read', grant: 'svc:governance.read' } as const;

const facts: Facts = { operation: text('operation'), policy_id: text('policy_id') };

/**
 * Every change of the policies is the operation `policies.replace`, so a rule that names it covers all of them. The fact
 * `operation` tells them apart.
 */
const write = {
  name: 'policies.replace',
  effect: 'write',
  grant: 'svc:governance.write',
  facts,
  output: PolicySet,
} as const;

export const readPolicies = defineOperation({
  ...read,
  name: 'policies.read',
  output: PolicySet,
  run: ({ deps, ctx }) => deps.governance.policies.read(ctx.principal),
});

export const replacePolicies = defineOperation({
  ...write,
  input: NewPolicies,
  errors: ['conflict', 'validation_failed', 'scope_denied'],
  fixedFacts: { operation: 'replace' },
  run: ({ deps, ctx, input }) =>
    deps.governance.policies.replace(ctx.principal, input.policies, {
      expectedVersion: input.expected_version,
      reason: input.reason,
    }),
});

export const addPolicyRule = defineOperation({
  ...write,
  input: NewRule,
  errors: ['conflict', 'validation_failed', 'scope_denied'],
  fixedFacts: { operation: 'add' },
  lookUp: async ({ input: { policy_id: id } }) => ({ resource: { type: 'policies', id } }),
  run: ({ deps, ctx, input: { expected_version: expectedVersion, reason: why, ...rule } }) =>
    deps.governance.policies.changeRules(ctx.principal, addRule(rule), { expectedVersion, reason: why }),
});

export const changePolicyRule = defineOperation({
  ...write,
  key: RuleKey,
  input: RuleChanges,
  errors: ['conflict', 'validation_failed', 'scope_denied'],
  fixedFacts: { operation: 'change' },
  approvalContext: async ({ deps, ctx, key }) => ({
    present: await deps.governance.policies.ruleInForce(ctx.principal.organizationId, key.policy_id),
  }),
  run: ({ deps, ctx, key: { policy_id }, input: { expected_version: expectedVersion, reason: why, ...changes } }) =>
    deps.governance.policies.changeRules(ctx.principal, changeRule(policy_id, changes), {
      expectedVersion,
      reason: why,
    }),
});

export const deletePolicyRule = defineOperation({
  ...write,
  key: RuleKey.extend({ expected_version: queryNumber(version).optional().describe(what), reason }),
  errors: ['conflict', 'validation_failed', 'scope_denied'],
  fixedFacts: { operation: 'delete' },
  approvalContext: async ({ deps, ctx, key }) => ({
    present: await deps.governance.policies.ruleInForce(ctx.principal.organizationId, key.policy_id),
  }),
  run: ({ deps, ctx, key: { policy_id, expected_version: expectedVersion, reason: why } }) =>
    deps.governance.policies.changeRules(ctx.principal, deleteRule(policy_id), { expectedVersion, reason: why }),
});

export const listPolicyVersions = defineOperation({
  ...read,
  name: 'policies.list-versions',
  input: ListQuery,
  output: listOf(PolicySetVersion),
  errors: ['scope_denied'],
  run: ({ deps, ctx, input }) => deps.governance.policies.versions(ctx.principal, input),
});

export const readPolicyVersion = defineOperation({
  ...read,
  name: 'policies.read-version',
  key: z.object({ version: queryNumber(z.int().min(1).max(9_999_999_999)) }),
  output: PolicySet,
  errors: ['scope_denied'],
  run: ({ deps, ctx, key: { version: number } }) => deps.governance.policies.version(ctx.principal, number),
});
