import { defineCollection } from '../../stores/collections.js';
import type { WithId } from 'mongodb';
import { z } from 'zod';
import { principalKinds } from '../../auth/principal.js';
import { PolicyDecision, type StoredDecision } from './policy-decision.js';
import type { PolicyFacts } from './policy-facts.js';
import { Id, OrganizationId, ProjectId, UserId } from '../../base/ids.js';
import { Digest } from '../../base/hash.js';
import { EpochSeconds } from '../../base/time.js';

/** How a call ended (contract, lifecycles). */
export const LifecycleStatus = z.enum(['completed', 'denied', 'pending_approval', 'failed', 'dry_run']);
export type LifecycleStatus = z.infer<typeof LifecycleStatus>;

const LifecycleStage = z.object({
  stage: z.string().describe('The stage id; the first failed one refused the call.').meta({ example: 'S8:execute' }),
  status: z.enum(['ok', 'failed']),
  detail: z.string().meta({ example: 'bearer credential accepted' }),
});

/** The caller; never contains a secret. */
const Caller = z.object({
  user_id: UserId,
  kind: z.enum([...principalKinds, 'service']).describe('`service`: a task of the product itself, such as a sync.'),
  key_id: Id.optional(),
  execution_id: Id.optional().describe('Only for the kind `execution`: the run that made the call.'),
  client_id: z.string().optional().meta({ example: 'https://app.acme.dev/client.json' }),
});

/** How an act ended. */
export const ActRecord = z
  .object({
    idempotency_key: z.string().meta({ example: 'execution/agent_1/turn-1/0' }),
    outcome: z.enum(['answered', 'refused', 'unknown', 'unsent', 'held', 'accepted']),
  })
  .describe(
    'Only for acts of runs. `unknown`: the call may have taken effect, but its answer was lost. `unsent`: it did not reach its receiver. `accepted`: a person accepted it as done.',
  );
export type ActRecord = z.infer<typeof ActRecord>;

/** One governed call (specification, Lifecycle record). Times are epoch seconds. */
export const Lifecycle = z
  .object({
    lifecycle_id: Id,
    tool: z.string().meta({ example: 'query-context' }),
    status: LifecycleStatus,
    stages: z.array(LifecycleStage),
    principal: Caller,
    project_id: ProjectId,
    organization_id: OrganizationId,
    trace_id: z.string().meta({ example: '4bf92f3577b34da6a3ce929d0e0e4736' }),
    created_at: EpochSeconds,
    ended_at: EpochSeconds,
    payload_digest: Digest.nullable().describe(
      'SHA-256 of the canonical payload; null when the call ended before it was validated.',
    ),
    consumed: z.array(z.string().meta({ example: 'table-1' })).describe('Ids of the graph entities in the answer.'),
    approval_id: Id.nullable(),
    continued_by: Id.optional().describe(
      'For a held call that was approved: the lifecycle of the call that was executed.',
    ),
    decision_id: Id.nullable(),
    act: ActRecord.optional(),
  })
  .meta({ id: 'Lifecycle' });
export type Lifecycle = z.infer<typeof Lifecycle>;

/** Only the route of one call returns the decision, because a list of calls would repeat the list of decisions. */
export const DecidedLifecycle = Lifecycle.extend({
  decision: PolicyDecision.nullable().describe('Null if the call ended before S5.'),
}).meta({ id: 'DecidedLifecycle' });
export type DecidedLifecycle = z.infer<typeof DecidedLifecycle>;

/**
 * `_id` is the lifecycle id, a UUIDv7. The record is written when the call ends. The record of a held call is updated
 * when its approval is used, rejected or expired.
 */
export interface LifecycleDocument extends Omit<Lifecycle, 'lifecycle_id' | 'approval_id' | 'decision_id'> {
  _id: string;
  approval_id?: string;
  decision?: StoredDecision;
  /** Only for calls that S5 decided, like the decision. */
  facts?: PolicyFacts;
}

export function toLifecycle({ _id, decision, facts: _facts, ...record }: WithId<LifecycleDocument>): Lifecycle {
  return { lifecycle_id: _id, ...record, approval_id: record.approval_id ?? null, decision_id: decision ? _id : null };
}

export const lifecyclesCollection = defineCollection('lifecycles', {
  indexes: [
    { keys: { project_id: 1, _id: -1 } },
    { keys: { project_id: 1, tool: 1, _id: -1 } },
    { keys: { project_id: 1, status: 1, _id: -1 } },
    { keys: { project_id: 1, created_at: -1 } },
    { keys: { 'decision.project_id': 1, _id: -1 } },
    { keys: { approval_id: 1 }, options: { sparse: true } },
    { keys: { organization_id: 1, _id: -1 } },
    { keys: { organization_id: 1, tool: 1, _id: -1 } },
  ],
});

declare module '../../stores/collections.js' {
  interface Documents {
    lifecycles: LifecycleDocument;
  }
}
