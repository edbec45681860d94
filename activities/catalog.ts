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
import type { Deps } from '../src/domain/deps.js';
import { createHttpClient } from '../src/outbound/http-client.js';
import type { CatalogRunReference, CatalogSyncActivities } from '../workflows/catalog-sync/activities.js';
import { withHeartbeat } from './with-heartbeat.js';

/** Reads the catalog page by page into the graph. Heartbeats carry the current position. */
export function createCatalogActivities(deps: Deps): CatalogSyncActivities {
  // The operator configures the catalog, which is usually in the operator's own network.
  const client = createCatalogClient(deps.config.catalog, createHttpClient({ allowPrivateTargets: true }));
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
    recordCatalogRun: (run) => recordCatalogRun(deps, run),
  };
}
