import type { CatalogConfig } from '../src/config.js';
import { createCatalogClient } from '../src/domain/catalog/client.js';
import {
  crawlLineage,
  crawlTables,
  lineageStart,
  removalStart,
  removeUnseen,
  tablesStart,
} from '../src/domain/catalog/crawl.js';
import { recordCatalogRun } from '../src/domain/catalog/record-run.js';
import type { CatalogStores } from '../src/domain/catalog/write.js';
import type { ServiceRecorderDeps } from '../src/governance/service-record.js';
import type { Metrics } from '../src/observability/metrics.js';
import { createHttpClient } from '../src/outbound/http-client.js';
import type { CatalogSyncActivities } from '../workflows/catalog-sync/activities.js';
import { withHeartbeat } from './with-heartbeat.js';

export interface CatalogActivityDeps extends CatalogStores {
  catalog: CatalogConfig;
  audit: ServiceRecorderDeps['audit'];
  metrics: Pick<Metrics, 'syncLag'>;
}

/** Reads the catalog page by page into the graph. Heartbeats carry the current position. */
export function createCatalogActivities(deps: CatalogActivityDeps): CatalogSyncActivities {
  // The operator configures the catalog, which is usually in the operator's own network.
  const client = createCatalogClient(deps.catalog, createHttpClient({ allowPrivateTargets: true }));
  return {
    syncCatalogTables: (run) =>
      withHeartbeat((run.cursor as typeof tablesStart) ?? tablesStart, (progress) =>
        crawlTables(client, deps, run, progress),
      ),
    syncCatalogLineage: (run) =>
      withHeartbeat((run.cursor as typeof lineageStart) ?? lineageStart, (progress) =>
        crawlLineage(client, deps, run, progress),
      ),
    removeFromCatalog: (run) =>
      withHeartbeat((run.cursor as typeof removalStart) ?? removalStart, (progress) =>
        removeUnseen(deps, run, progress),
      ),
    recordCatalogRun: (run) => recordCatalogRun({ ...deps, collections: deps.mongo.collections }, run),
  };
}
