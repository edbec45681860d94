import { randomBytes } from 'node:crypto';
import type { Audit } from './audit/audit.js';
import { noteChange } from './change-notes.js';
import { executeStage } from './kernel/stage-ids.js';
import type { LifecycleDocument } from './lifecycles/record.js';
import { activeSpan } from '../observability/tracing.js';
import type { Collections } from '../stores/collections.js';
import { insertOnce } from '../stores/mongo.js';

export interface ServiceRun {
  lifecycle_id: string;
  /** Such as `catalog-sync`; `actor-names.ts` has a name for each. */
  tool: string;
  project_id: string;
  organization_id: string;
  /** The target of the writes, as the audit shows it. */
  resource: string;
  failed: boolean;
  /** What the run did, or why it failed. */
  detail: string;
  /** Epoch seconds. */
  created_at: number;
  ended_at: number;
}

export interface ServiceRecorderDeps {
  collections: Pick<Collections, 'lifecycles' | 'project_news'>;
  audit: Pick<Audit, 'append' | 'entrySince'>;
}

/** Stores the lifecycle and the audit entry of work that no person requested. Safe to repeat. */
export async function recordServiceRun(
  { collections, audit }: ServiceRecorderDeps,
  { lifecycle_id, resource, failed, detail, ...run }: ServiceRun,
): Promise<void> {
  const actor = `service:${run.tool}`;
  const status = failed ? 'failed' : 'completed';
  const record: LifecycleDocument = {
    _id: lifecycle_id,
    ...run,
    status,
    stages: [{ stage: executeStage, status: failed ? 'failed' : 'ok', detail }],
    principal: { user_id: actor, kind: 'service' },
    trace_id: activeSpan()?.traceId ?? randomBytes(16).toString('hex'),
    payload_digest: null,
    consumed: [],
  };
  const stored = await insertOnce(collections.lifecycles, record);
  // A repeat reads only the end of the chain: if the entry exists, it was written after the run ended.
  if (stored !== record && (await audit.entrySince(run.organization_id, { lifecycle_id, since: stored.ended_at })))
    return;
  await audit.append({
    organization_id: run.organization_id,
    actor,
    action: run.tool,
    resource,
    outcome: status,
    lifecycle_id,
  });
  noteChange(collections, run.project_id, 'lifecycle');
}
