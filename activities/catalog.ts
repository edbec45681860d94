import { createServiceRecorder, type ServiceRecorderDeps } from '../src/callbacks/service-record.js';
import type { CatalogConfig } from '../src/config.js';
import type { Metrics } from '../src/observability/metrics.js';
import { createHttpClient } from '../src/outbound/http-client.js';
import type { CatalogSyncActivities } from '../workflows/catalog-sync/activities.js';
import { createCatalogClient } from './catalog/client.js';
import { crawlLineage, crawlTables, lineageStart, removalStart, removeUnseen, tablesStart } from './catalog/crawl-catalog.js';
import type { CatalogStores } from './catalog/write.js';
import { withHeartbeat } from './with-heartbeat.js';

export interface CatalogActivityDeps extends CatalogStores {
  catalog: CatalogConfig;
  audit: ServiceRecorderDeps['audit'];
  metrics: Pick<Metrics, 'syncLag'>;
}

/** Reads the catalog page by page into the graph; heartbeats carry the place that was reached. */
export function createCatalogActivities({ catalog, mongo, graph, audit, metrics }: CatalogActivityDeps): CatalogSyncActivities {
  const stores = { mongo, graph };
  // The operator names the catalog, which usually stands in the operator's own network.
  const client = createCatalogClient(catalog, createHttpClient({ allowPrivateTargets: true }));
  const record = createServiceRecorder({ collections: mongo.collections, audit });

  return {
    syncCatalogTables: (run) => withHeartbeat(tablesStart, (progress) => crawlTables(client, stores, run, progress)),
    syncCatalogLineage: (run) => withHeartbeat(lineageStart, (progress) => crawlLineage(client, stores, run, progress)),
    removeFromCatalog: (run) => withHeartbeat(removalStart, (progress) => removeUnseen(stores, run, progress)),
    async recordCatalogRun({ scope, run }) {
      const { counts, failure, events } = run;
      const endedAt = run.ended_at ?? run.started_at;
      const detail = failure ? failure.message : `${counts.tables} tables, ${counts.entities} entities, ${counts.removed} removed, for ${events} events`;
      await record({
        lifecycle_id: run.run_id,
        tool: 'catalog-sync',
        status: failure ? 'failed' : 'completed',
        ...scope,
        resource: 'catalog:catalog',
        stages: [{ stage: 'S8:execute', status: failure ? 'failed' : 'ok', detail }],
        created_at: run.started_at / 1000,
        ended_at: endedAt / 1000,
      });
      metrics.syncLag((endedAt - (run.first_event_at ?? run.started_at)) / 1000, failure ? 'failed' : 'completed');
    },
  };
}
