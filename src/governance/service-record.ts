import type { Grant } from '../auth/grants.js';
import { memberOf } from '../auth/principal.js';
import { currentTrace } from '../http/trace.js';
import type { Audit } from './audit/audit.js';
import { noteChange } from './change-notes.js';
import type { Checked } from './kernel/call.js';
import { callAs } from './kernel/call-as.js';
import type { Kernel } from './kernel/perform.js';
import { governedRecord } from './kernel/record.js';
import { executeStage } from './kernel/stage-ids.js';
import type { Operation } from './operations/operation.js';
import type { Collections } from '../stores/collections.js';
import { insertOnce } from '../stores/insert-once.js';

/** Work that an event, a schedule or an earlier operation started, and that ends in a workflow or a sweep. */
interface ServiceRun {
  lifecycle_id: string;
  project_id: string;
  organization_id: string;
  /** The target of the writes, as the audit shows it, such as `catalog:catalog`. */
  resource: string;
}

interface ServiceOutcome {
  failed: boolean;
  /** What the run did, or why it failed. */
  detail: string;
  /** Epoch seconds. */
  started_at: number;
}

export interface ServiceRecorderDeps {
  mongo: { collections: Pick<Collections, 'lifecycles' | 'project_news'> };
  governance: { audit: Pick<Audit, 'append' | 'entrySince'> };
}

/**
 * Evaluates the rules for work that an event or a schedule started. A refusal is recorded as the outcome of the run;
 * `recordServiceRun` records every other outcome.
 * @throws AppError `policy_denied`, or `approval_refused` because a service cannot wait for an approval
 */
export async function permitServiceRun(
  kernel: Kernel,
  operation: Operation,
  run: ServiceRun,
  { entrance, input = {} }: { entrance: 'sync' | 'load'; input?: Record<string, unknown> },
): Promise<void> {
  const performed = await kernel.perform(
    callAs(async () => principalOf(operation.name, run, grantsOf(operation)), {
      lifecycleId: run.lifecycle_id,
      operation,
      entrance,
      validate: async () => checkedOf(run, input),
    }),
  );
  if ('error' in performed) throw performed.error;
}

/**
 * Stores the lifecycle and the audit entry of a run of the service with this name, such as `catalog-sync`
 * (`actor-names.ts` has a text for each). Safe to repeat, and after a refusal (docs/decisions/0015).
 */
export async function recordServiceRun(
  { mongo: { collections }, governance: { audit } }: ServiceRecorderDeps,
  name: string,
  run: ServiceRun,
  { failed, detail, started_at }: ServiceOutcome,
): Promise<void> {
  const { lifecycle_id: lifecycleId, organization_id, project_id } = run;
  const { traceId } = currentTrace();
  const record = governedRecord(
    { lifecycleId, name, startedAt: started_at, traceId, checked: checkedOf(run, {}) },
    principalOf(name, run),
    {
      status: failed ? 'failed' : 'completed',
      stages: [{ stage: executeStage, status: failed ? 'failed' : 'ok', detail }],
    },
  );
  const stored = await insertOnce(collections.lifecycles, record.lifecycle);
  // A repeat reads only the end of the chain: if the entry exists, it was written after the run ended.
  if (stored !== record.lifecycle) {
    const entry = await audit.entrySince(organization_id, { lifecycle_id: lifecycleId, since: stored.ended_at });
    if (entry) return;
  }
  await audit.append(record.audit);
  noteChange(collections, project_id, 'lifecycle');
}

/** The same caller whether the run was refused or has ended. */
function principalOf(
  name: string,
  { project_id: projectId, organization_id: organizationId }: ServiceRun,
  grants: readonly Grant[] = [],
) {
  return memberOf({ userId: name, projectId, organizationId }, grants);
}

/** The caller who configured the source needed this grant. */
function grantsOf(operation: Operation): Grant[] {
  return operation.grant === 'any' ? [] : [operation.grant];
}

function checkedOf({ resource }: ServiceRun, input: Record<string, unknown>): Checked {
  const [type = '', ...id] = resource.split(':');
  return { input, resource: { type, id: id.join(':') }, dryRun: false, run: async () => ({ body: null }) };
}
