import { z } from 'zod';
import { Id } from '../../base/ids.js';
import { EpochSeconds } from '../../base/time.js';

export const PolicyIds = z.array(z.string().meta({ example: 'no-personal-data' }));
export const PolicyVersion = z.int().meta({ example: 3 });

/** The policy decision on one call, with the rules that determined it (contract, policy-decisions). */
export const PolicyDecision = z
  .object({
    decision_id: Id,
    lifecycle_id: Id,
    decision: z.enum(['permit', 'forbid', 'require_approval']),
    policy_ids: PolicyIds,
    policy_version: PolicyVersion,
    at: EpochSeconds,
  })
  .meta({ id: 'PolicyDecision' });
export type PolicyDecision = z.infer<typeof PolicyDecision>;

/** Stored in the lifecycle of its call, so that one write stores both. */
export interface StoredDecision extends Omit<PolicyDecision, 'decision_id' | 'lifecycle_id'> {
  /** The project again, so that one index lists the calls that have a decision. */
  project_id: string;
}

/** A call has at most one decision, so the decision has the id of the lifecycle. */
export function toPolicyDecision(_id: string, { project_id: _project, ...decision }: StoredDecision): PolicyDecision {
  return { decision_id: _id, lifecycle_id: _id, ...decision };
}
