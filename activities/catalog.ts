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
import { permitCatalogRun, recordCatalogRun } from '../src/domain/catalog/record-run.js';
import type { CatalogStores } from '../src/domain/catalog/write.js';
import type { Kernel } from '../src/governance/kernel/perform.js';
import type { ServiceRecorderDeps } from '../src/governance/service-record.js';
import type { Metrics } from '../src/observability/metrics.js';
import { createHttpClient } from '../src/outbound/http-client.js';
import type { CatalogRunReference, CatalogSyncActivities } from '../workflows/catalog-sync/activities.js';
import { withHeartbeat } from './with-heartbeat.js';

export interface CatalogActivityDeps extends CatalogStores {
  catalog: CatalogConfig;
  kernel: Kernel;
  audit: ServiceRecorderDeps['audit'];
  metrics: Pick<Metrics, 'syncLag'>;
}

/** Reads the catalog page by page into the graph. Heartbeats carry the current position. */
export function createCatalogActivities(deps: CatalogActivityDeps): CatalogSyncActivities {
  // The operator configures the catalog, which is usually in the operator's own network.
  const client = createCatalogClient(deps.catalog, createHttpClient({ allowPrivateTargets: true }));
  const permitted = async <T>(run: CatalogRunReference, work: () => Promise<T>): Promise<T> => {
    await permitCatalogRun(deps.kernel, run);
    return work();
  };
  return {
    syncCatalogTables: (run) =>
      withHeartbeat((run.cursor as typeof tablesStart) ?? tablesStart, (progress) =>
        permitted(run, () => crawlTables(client, deps, run, progress)),
      ),
    syncCatalogLineage: (run) =>
      withHeartbeat((run.cursor as typeof lineageStart) ?? lineageStart, (progress) =>
        permitted(run, () => crawlLineage(client, deps, run, progress)),
      ),
    removeFromCatalog: (run) =>
      withHeartbeat((run.cursor as typeof removalStart) ?? removalStart, (progress) =>
        permitted(run, () => removeUnseen(deps, run, progress)),
      ),
    recordCatalogRun: (run) => recordCatalogRun({ ...deps, collections: deps.mongo.collections }, run),
  };
}
