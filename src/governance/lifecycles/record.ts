import type { WithId } from 'mongodb';
import { z } from 'zod';
import { principalKinds } from '../../auth/principal.js';

/** How a call ended (contract, lifecycles). */
export const LifecycleStatus = z.enum(['completed', 'denied', 'pending_approval', 'failed', 'dry_run']);
export type LifecycleStatus = z.infer<typeof LifecycleStatus>;

export const LifecycleStage = z.object({
  stage: z.string().meta({ description: 'The stage id; the first failed one refused the call.' }),
  status: z.enum(['ok', 'failed']),
  detail: z.string(),
});
export type LifecycleStage = z.infer<typeof LifecycleStage>;

/** Who called; never a secret. */
export const Caller = z.object({
  user_id: z.string(),
  kind: z.enum(principalKinds),
  key_id: z.string().optional(),
  execution_id: z.string().optional().meta({ description: 'The run that called, of the kind `execution`.' }),
  client_id: z.string().optional(),
});
export type Caller = z.infer<typeof Caller>;

/** One governed call (specification, Lifecycle record). Times are epoch seconds. */
export const Lifecycle = z
  .object({
    lifecycle_id: z.string(),
    tool: z.string(),
    status: LifecycleStatus,
    stages: z.array(LifecycleStage),
    principal: Caller,
    project_id: z.string(),
    organization_id: z.string(),
    trace_id: z.string(),
    created_at: z.number(),
    ended_at: z.number(),
    payload_digest: z.string().nullable().meta({ description: 'SHA-256 of the canonical payload; null when the call ended before it was validated.' }),
    consumed: z.array(z.string()).meta({ description: 'Ids of the graph entities that the answer held.' }),
    approval_id: z.string().nullable(),
    decision_id: z.string().nullable(),
  })
  .meta({ id: 'Lifecycle' });
export type Lifecycle = z.infer<typeof Lifecycle>;

/** `_id` is the lifecycle id, a UUIDv7. Written once, when the call ends. */
export interface LifecycleDocument extends Omit<Lifecycle, 'lifecycle_id' | 'approval_id' | 'decision_id'> {
  _id: string;
  approval_id?: string;
  decision_id?: string;
}

export function lifecycleView({ _id, ...record }: WithId<LifecycleDocument>): Lifecycle {
  return { lifecycle_id: _id, ...record, approval_id: record.approval_id ?? null, decision_id: record.decision_id ?? null };
}
