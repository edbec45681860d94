import { randomBytes } from 'node:crypto';
import type { Audit } from '../governance/audit/audit.js';
import { idsAfter } from '../governance/audit/entry.js';
import type { LifecycleDocument } from '../governance/lifecycles/record.js';
import { activeSpan } from '../observability/tracing.js';
import type { Collections } from '../stores/collections.js';
import { insertOnce } from '../stores/mongo.js';

export interface ServiceRun {
  lifecycle_id: string;
  /** `catalog-sync`, `code-sync` or `catalog-ingest`. */
  tool: string;
  status: LifecycleDocument['status'];
  project_id: string;
  organization_id: string;
  /** What was written to, as the audit shows it. */
  resource: string;
  stages: LifecycleDocument['stages'];
  /** Epoch seconds. */
  created_at: number;
  ended_at: number;
}

export interface ServiceRecorderDeps {
  collections: Pick<Collections, 'lifecycles' | 'audit_entries'>;
  audit: Pick<Audit, 'append'>;
}

export type RecordServiceRun = (run: ServiceRun) => Promise<void>;

/** Stores the lifecycle and the audit entry of work that no person called for; a repeat changes nothing. */
export function createServiceRecorder({ collections, audit }: ServiceRecorderDeps): RecordServiceRun {
  return async ({ lifecycle_id, resource, ...run }) => {
    const actor = `service:${run.tool}`;
    const record: LifecycleDocument = {
      _id: lifecycle_id,
      ...run,
      principal: { user_id: actor, kind: 'api_key' },
      trace_id: activeSpan()?.traceId ?? randomBytes(16).toString('hex'),
      payload_digest: null,
      consumed: [],
    };
    const stored = await insertOnce(collections.lifecycles, record);
    if (stored !== record && (await isAudited(collections, run.organization_id, lifecycle_id))) return;
    await audit.append({ organization_id: run.organization_id, actor, action: run.tool, resource, outcome: run.status, lifecycle_id });
  };
}

/** Asked only on a repeat, so that it may take the long way over the organization's chain. */
async function isAudited({ audit_entries }: Pick<Collections, 'audit_entries'>, organizationId: string, lifecycleId: string): Promise<boolean> {
  return (await audit_entries.findOne({ _id: idsAfter(organizationId, 0), lifecycle_id: lifecycleId })) !== null;
}
