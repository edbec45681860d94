import { defineCollection, type Collections } from '../../stores/collections.js';
import type { PolicyDecision, StoredDecision } from './policy-decision.js';

/** A decision of an earlier release, which stored it apart from its lifecycle. `_id` was the decision id. */
interface PolicyDecisionDocument extends Omit<PolicyDecision, 'decision_id'>, StoredDecision {
  _id: string;
  organization_id: string;
}

const perStep = 500;

/**
 * Moves the decisions of earlier releases into their lifecycles. Several processes can do so at the same time. A crash
 * loses no decision.
 */
export async function moveDecisions({
  lifecycles,
  policy_decisions,
}: Pick<Collections, 'lifecycles' | 'policy_decisions'>): Promise<void> {
  for (;;) {
    const found = await policy_decisions.find().limit(perStep).toArray();
    if (found.length === 0) return;
    const moves = found.map(({ _id, lifecycle_id, organization_id: _organization, ...decision }) => ({
      updateOne: { filter: { _id: lifecycle_id }, update: { $set: { decision } } },
    }));
    await lifecycles.bulkWrite(moves, { ordered: false });
    await policy_decisions.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } });
  }
}

export const policyDecisionsCollection = defineCollection('policy_decisions', {});

declare module '../../stores/collections.js' {
  interface Documents {
    policy_decisions: PolicyDecisionDocument;
  }
}
