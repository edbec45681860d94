import type { WithId } from 'mongodb';
import { z } from 'zod';

const ruleId = /^[a-z0-9][a-z0-9._-]{0,99}$/;

/**
 * One rule. Scope and effect are plain data; `when` is a Cedar expression over `principal`, `action`, `resource` and
 * `context` that must hold for the rule to apply.
 */
export const PolicyRule = z
  .strictObject({
    policy_id: z.string().regex(ruleId).meta({ description: 'Lower case letters, digits, dot, dash and underscore.' }),
    description: z.string().max(500).default(''),
    effect: z.enum(['permit', 'forbid', 'require_approval']),
    tools: z.array(z.string().max(100)).min(1).max(100).optional().meta({ description: 'Only for these tools; left out: for every tool.' }),
    projects: z.array(z.string().max(100)).min(1).max(500).optional().meta({ description: 'Only in these projects; left out: in all of the organization.' }),
    when: z.string().max(2000).optional().meta({
      description:
        'A Cedar expression: `principal.user_id`, `.role`, `.kind`, `.grants`; `resource.type`, `.id`; `context.project_id`, `.mode`, `.dry_run`, `.hour` (UTC), `.weekday` (1 is Monday), `.input.<fact of the tool>`.',
    }),
    approvers: z.int().min(1).max(10).optional().meta({ description: 'How many different people must approve; require_approval only.' }),
    approval_ttl_seconds: z.int().min(1).max(30 * 86_400).optional().meta({ description: 'Time to decide, and then to use the resume token; require_approval only.' }),
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
    },
  });
export type PolicyRule = z.infer<typeof PolicyRule>;

export const PolicySet = z
  .object({
    organization_id: z.string(),
    version: z.int().meta({ description: '0: nothing was stored yet, the default set is in force.' }),
    policies: z.array(PolicyRule),
    builtin: z.array(PolicyRule).meta({ description: 'Always in force beside the stored ones.' }),
    created_by: z.string().nullable(),
    created_at: z.number().nullable(),
  })
  .meta({ id: 'PolicySet' });
export type PolicySet = z.infer<typeof PolicySet>;

export const PolicySetVersion = PolicySet.omit({ policies: true, builtin: true }).extend({ rules: z.int() }).meta({ id: 'PolicySetVersion' });
export type PolicySetVersion = z.infer<typeof PolicySetVersion>;

/** One immutable version: `_id` is `<organization>:<version, ten digits>`, so that versions sort and none is written twice. */
export interface PolicyVersionDocument {
  _id: string;
  organization_id: string;
  version: number;
  policies: PolicyRule[];
  created_by: string;
  created_at: number;
}

export function policyVersionId(organizationId: string, version: number): string {
  return `${organizationId}:${String(version).padStart(10, '0')}`;
}

export function policySetVersionView({ organization_id, version, policies, created_by, created_at }: WithId<PolicyVersionDocument>): PolicySetVersion {
  return { organization_id, version, created_by, created_at, rules: policies.length };
}
