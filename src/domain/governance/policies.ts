import { z } from 'zod';
import { PolicyRules, PolicySet, PolicySetVersion } from '../../governance/policy/rule.js';
import { listOf, ListQuery } from '../../stores/lists.js';
import { queryNumber } from '../../query-number.js';
import { defineOperation } from '../operation.js';

const NewPolicies = z.strictObject({
  policies: PolicyRules,
  expected_version: z
    .int()
    .min(0)
    .optional()
    .describe('The version to replace, as in the header `If-Match`.')
    .meta({ example: 2 }),
});

const read = { effect: 'read', grant: 'svc:governance.read' } as const;

export const readPolicies = defineOperation({
  ...read,
  name: 'policies.read',
  output: PolicySet,
  run: ({ deps, ctx }) => deps.governance.policies.read(ctx.principal),
});

export const replacePolicies = defineOperation({
  name: 'policies.replace',
  effect: 'write',
  grant: 'svc:governance.write',
  input: NewPolicies,
  output: PolicySet,
  errors: ['conflict', 'validation_failed', 'scope_denied'],
  run: ({ deps, ctx, input: { policies, expected_version } }) =>
    deps.governance.policies.replace(ctx.principal, policies, expected_version),
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
  run: ({ deps, ctx, key: { version } }) => deps.governance.policies.version(ctx.principal, version),
});
