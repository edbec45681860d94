import { memberOf } from '../auth/principal.js';
import { currentTrace } from '../http/trace.js';
import type { Audit } from './audit/audit.js';
import { noteChange } from './change-notes.js';
import type { Channel } from './kernel/call.js';
import { callAs } from './kernel/call-as.js';
import type { Kernel } from './kernel/perform.js';
import { executeStage } from './kernel/stage-ids.js';
import type { LifecycleDocument } from './lifecycles/record.js';
import type { Operation } from './operations/operation.js';
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

export const serviceCannotWait = 'the policies require an approval, but a service cannot wait for one';

/**
 * Evaluates the rules for work that an event or a schedule started. A refusal is recorded as the outcome of the run;
 * `recordServiceRun` records every other outcome.
 * @throws AppError `policy_denied`, or `approval_refused` because a service cannot wait for an approval
 */
export async function permitServiceRun(
  kernel: Kernel,
  operation: Operation,
  run: Pick<ServiceRun, 'lifecycle_id' | 'project_id' | 'organization_id' | 'resource'>,
  { channel, input = {} }: { channel: Channel; input?: Record<string, unknown> },
): Promise<void> {
  const [type = '', ...id] = run.resource.split(':');
  const place = { projectId: run.project_id, organizationId: run.organization_id };
  const performed = await kernel.perform(
    callAs(async () => memberOf({ userId: operation.name, ...place }, []), {
      lifecycleId: run.lifecycle_id,
      operation,
      channel,
      cannotWait: serviceCannotWait,
      recordsOnlyRefusals: true,
      likelyOrganizationId: run.organization_id,
      validate: async () => ({
        input,
        resource: { type, id: id.join(':') },
        dryRun: false,
        run: async () => ({ body: null }),
      }),
    }),
  );
  if ('error' in performed) throw performed.error;
}

/** Stores the lifecycle and the audit entry of work that no person requested. Safe to repeat, and after a refusal. */
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
    trace_id: currentTrace().traceId,
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
