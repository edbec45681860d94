import { defineCollection } from '../../stores/collections.js';
import { z } from 'zod';
import { deciderRoles } from '../../auth/grants.js';
import { OrganizationId, UserId } from '../../base/ids.js';
import { pickShown } from '../../base/pick.js';
import { EpochSeconds } from '../../base/time.js';
import { PolicyVersion } from '../lifecycles/policy-decision.js';

export const ruleId = /^[a-z0-9][a-z0-9._-]{0,99}$/;

/**
 * One rule. Scope and effect are plain data. `when` is a Cedar expression over `principal`, `action`, `resource` and
 * `context`; the rule applies only if it is true.
 */
export const PolicyRule = z
  .strictObject({
    policy_id: z.string().regex(ruleId).describe('Lower case letters, digits, dot, dash and underscore.'),
    description: z.string().max(500).default(''),
    effect: z.enum(['permit', 'forbid', 'require_approval']),
    tools: z
      .array(z.string().max(100))
      .min(1)
      .max(200)
      .optional()
      .describe(
        'Only for these operations, by their names or as gateway tools; left out: for every operation except `policies.replace` and `approval.decide`, which a rule must name.',
      ),
    projects: z
      .array(z.string().max(100))
      .min(1)
      .max(500)
      .optional()
      .describe('Only in these projects; left out: in all of the organization.'),
    when: z
      .string()
      .max(2000)
      .optional()
      .describe(
        'A Cedar expression: `principal.user_id`, `.role` (the highest), `.roles` (all of them), `.kind`, `.client_id` (of an OAuth client, else empty), `.grants`; `resource.type`, `.id`; `context.project_id`, `.mode`, `.channel` (rest, mcp, console, schedule, agent or callback), `.dry_run`, `.hour` (UTC), `.weekday` (1 is Monday), `.input.<fact of the operation>`.',
      ),
    approvers: z
      .int()
      .min(1)
      .max(10)
      .optional()
      .describe('How many different people must approve; require_approval only.'),
    approval_ttl_seconds: z
      .int()
      .min(1)
      .max(30 * 86_400)
      .optional()
      .describe('Time to decide, and then to use the resume token; require_approval only.'),
    starter_may_decide: z
      .boolean()
      .optional()
      .describe(
        'For acts of a run: whether the people who caused the act may decide, such as the person who started the run or edited its agentflow; require_approval only. Default: false.',
      ),
    approver_roles: z
      .array(z.enum(deciderRoles))
      .min(1)
      .max(deciderRoles.length)
      .optional()
      .describe(
        'Only people with one of these roles in the project may decide, and no API key; require_approval only. Left out: everybody with one of these roles, and keys with `svc:governance.write`.',
      ),
  })
  .meta({
    id: 'PolicyRule',
    example: {
      policy_id: 'agents-ask',
      description: 'Agents ask two people before they write much.',
      effect: 'require_approval',
      tools: ['save-context'],
      when: 'principal.kind == "api_key" && context.input.entities > 100',
      approvers: 2,
      approval_ttl_seconds: 3600,
      approver_roles: ['OWNER', 'ORG_ADMIN'],
    },
  });
export type PolicyRule = z.infer<typeof PolicyRule>;

export const maxRules = 200;

/** The rules of an organization, as a caller sends them. */
export const PolicyRules = z.array(PolicyRule).max(maxRules);

export const PolicySet = z
  .object({
    organization_id: OrganizationId,
    version: PolicyVersion.describe('0 if no policies are stored; then the default set is in force.'),
    policies: z.array(PolicyRule),
    builtin: z.array(PolicyRule).describe('Always in force, in addition to the stored rules.'),
    created_by: UserId.nullable(),
    created_at: EpochSeconds.nullable(),
    reason: z
      .string()
      .nullable()
      .describe('Why the person stored this version.')
      .meta({ example: 'Refunds over 100 EUR went out unseen.' }),
  })
  .meta({ id: 'PolicySet' });
export type PolicySet = z.infer<typeof PolicySet>;

export const PolicySetVersion = PolicySet.omit({ policies: true, builtin: true })
  .extend({ rules: z.int().meta({ example: 4 }) })
  .meta({ id: 'PolicySetVersion' });
export type PolicySetVersion = z.infer<typeof PolicySetVersion>;

/**
 * One immutable version. `_id` is `<organization>:<version, ten digits>`, so that versions sort and each is written
 * once.
 */
export interface PolicyVersionDocument {
  _id: string;
  organization_id: string;
  version: number;
  policies: PolicyRule[];
  created_by: string;
  created_at: number;
  /** Versions of earlier releases have none. */
  reason?: string | null;
}

export function policyVersionId(organizationId: string, version: number): string {
  return `${organizationId}:${String(version).padStart(10, '0')}`;
}

export function toPolicySetVersion(record: PolicyVersionDocument): PolicySetVersion {
  return { ...pickShown(PolicySetVersion, { reason: null, ...record }), rules: record.policies.length };
}

export const policyVersionsCollection = defineCollection('policy_versions', {
  indexes: [{ keys: { organization_id: 1, version: -1 } }, { keys: { organization_id: 1, _id: -1 } }],
  majorityRead: true,
});

declare module '../../stores/collections.js' {
  interface Documents {
    policy_versions: PolicyVersionDocument;
  }
}
