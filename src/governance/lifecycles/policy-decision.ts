import type { WithId } from 'mongodb';
import { z } from 'zod';

/** What the policies said about one call, with the rules that said it (contract, policy-decisions). */
export const PolicyDecision = z
  .object({
    decision_id: z.string(),
    lifecycle_id: z.string(),
    decision: z.enum(['permit', 'forbid', 'require_approval']),
    policy_ids: z.array(z.string()),
    policy_version: z.int(),
    at: z.number(),
  })
  .meta({ id: 'PolicyDecision' });
export type PolicyDecision = z.infer<typeof PolicyDecision>;

/** `_id` is the decision id, a UUIDv7. */
export interface PolicyDecisionDocument extends Omit<PolicyDecision, 'decision_id'> {
  _id: string;
  project_id: string;
  organization_id: string;
}

export function policyDecisionView({ _id, lifecycle_id, decision, policy_ids, policy_version, at }: WithId<PolicyDecisionDocument>): PolicyDecision {
  return { decision_id: _id, lifecycle_id, decision, policy_ids, policy_version, at };
}
