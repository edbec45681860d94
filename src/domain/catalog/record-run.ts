import type { CatalogRunReference, CatalogSyncActivities } from '../../../workflows/catalog-sync/activities.js';
import type { Kernel } from '../../governance/kernel/perform.js';
import { permitServiceRun, recordServiceRun, type ServiceRecorderDeps } from '../../governance/service-record.js';
import type { Metrics } from '../../observability/metrics.js';
import { catalogSync } from '../service-operations.js';

const resource = 'catalog:catalog';

/** Called for each slice of a run, so that a new rule also stops a long run. @throws AppError if the rules refuse it */
export function permitCatalogRun(kernel: Kernel, { scope, run_id }: CatalogRunReference): Promise<void> {
  return permitServiceRun(kernel, catalogSync, { lifecycle_id: run_id, ...scope, resource }, { entrance: 'sync' });
}

/** Stores the lifecycle and the audit entry of a run, and measures how long the catalog's changes took. */
export async function recordCatalogRun(
  { metrics, ...deps }: ServiceRecorderDeps & { metrics: Pick<Metrics, 'syncLag'> },
  { scope, run }: Parameters<CatalogSyncActivities['recordCatalogRun']>[0],
): Promise<void> {
  const { counts, failure, events } = run;
  const endedAt = run.ended_at ?? run.started_at;
  const detail = failure
    ? failure.message
    : `${counts.tables} tables, ${counts.entities} entities, ${counts.removed} removed, for ${events} events`;
  await recordServiceRun(
    deps,
    catalogSync.name,
    { lifecycle_id: run.run_id, ...scope, resource },
    { failed: Boolean(failure), detail, started_at: run.started_at / 1000 },
  );
  metrics.syncLag((endedAt - (run.first_event_at ?? run.started_at)) / 1000, failure ? 'failed' : 'completed');
}
