import type { CatalogConfig } from '../src/config.js';
import { createServiceRecorder, type ServiceRecorderDeps } from '../src/callbacks/service-record.js';
import { createHttpClient } from '../src/outbound/http-client.js';
import type { CatalogRunReference, CatalogSyncActivities } from '../workflows/catalog-sync/activities.js';
import { sightingId } from '../src/callbacks/catalog/sightings.js';
import { createCatalogClient } from './catalog/client.js';
import { elementsOf, lineageOf, tablesIn } from './catalog/mapping.js';
import { removeElements } from './catalog/remove.js';
import { writeElements, type CatalogStores } from './catalog/write.js';
import { asCrawl } from './crawl.js';

export interface CatalogActivityDeps extends CatalogStores {
  catalog: CatalogConfig;
  audit: ServiceRecorderDeps['audit'];
}

const removedAtOnce = 500;
const tablesAtOnce = 100;

/** Reads the catalog page by page into the graph; heartbeats carry the place that was reached. */
export function createCatalogActivities({ catalog, mongo, graph, audit }: CatalogActivityDeps): CatalogSyncActivities {
  const stores = { mongo, graph };
  // The operator names the catalog, which usually stands in the operator's own network.
  const client = createCatalogClient(catalog, createHttpClient({ allowPrivateTargets: true }));
  const record = createServiceRecorder({ collections: mongo.collections, audit });
  const { catalog_sightings: sightings } = mongo.collections;

  return {
    syncCatalogTables: (run) =>
      asCrawl({ after: null as string | null, done: false, tables: 0, entities: 0, relationships: 0 }, async ({ cursor, reached, signal }) => {
        let at = cursor;
        while (!at.done) {
          const page = await client.tables(at.after, signal);
          const living = page.tables.filter(({ deleted }) => deleted !== true);
          const elements = elementsOf(living);
          await writeElements(stores, run, elements);
          at = {
            after: page.after,
            // A catalog that names the same place again would be read for ever.
            done: page.after === null || page.after === at.after,
            tables: at.tables + living.length,
            entities: at.entities + elements.entities.length,
            relationships: at.relationships + elements.relationships.length,
          };
          reached(at);
          signal.throwIfAborted();
        }
        return { tables: at.tables, entities: at.entities, relationships: at.relationships };
      }),

    syncCatalogLineage: (run) =>
      asCrawl({ last: '', lineage: 0 }, async ({ cursor, reached, signal }) => {
        let at = cursor;
        for (;;) {
          const filter = { project_id: run.scope.project_id, _id: { $gt: at.last }, run_id: run.run_id, table_id: { $ne: null } };
          const tables = await sightings.find(filter).sort({ _id: 1 }).limit(tablesAtOnce).toArray();
          for (const { _id, table_id } of tables) {
            at = { last: _id, lineage: at.lineage + (await readLineage(run, table_id ?? '', signal)) };
            reached(at);
            signal.throwIfAborted();
          }
          if (tables.length < tablesAtOnce) return { lineage: at.lineage };
        }
      }),

    removeFromCatalog: ({ scope, run_id }) =>
      asCrawl({ removed: 0 }, async ({ cursor, reached, signal }) => {
        let { removed } = cursor;
        for (;;) {
          const unseen = { project_id: scope.project_id, run_id: { $ne: run_id } };
          const gone = await sightings.find(unseen).limit(removedAtOnce).toArray();
          if (gone.length === 0) return { removed };
          await removeElements(graph, scope.project_id, gone);
          await sightings.deleteMany({ _id: { $in: gone.map(({ _id }) => _id) }, run_id: { $ne: run_id } });
          removed += gone.length;
          reached({ removed });
          signal.throwIfAborted();
        }
      }),

    async recordCatalogRun({ scope, run }) {
      const { counts, failure, events } = run;
      const detail = failure ? failure.message : `${counts.tables} tables, ${counts.entities} entities, ${counts.removed} removed, for ${events} events`;
      await record({
        lifecycle_id: run.run_id,
        tool: 'catalog-sync',
        status: failure ? 'failed' : 'completed',
        ...scope,
        resource: 'catalog:catalog',
        stages: [{ stage: 'S8:execute', status: failure ? 'failed' : 'ok', detail }],
        created_at: run.started_at / 1000,
        ended_at: (run.ended_at ?? run.started_at) / 1000,
      });
    },
  };

  /** How many edges the table's lineage has. */
  async function readLineage(run: CatalogRunReference, tableId: string, signal: AbortSignal): Promise<number> {
    const lineage = await client.lineage(tableId, signal);
    if (!lineage) return 0;
    const ids = tablesIn(lineage).map((id) => sightingId(run.scope.project_id, 'entity', id));
    const known = await sightings.find({ _id: { $in: ids }, run_id: run.run_id }).toArray();
    const tables = new Set(known.map(({ element_id }) => element_id));
    const elements = lineageOf(lineage, (id) => tables.has(id));
    await writeElements(stores, run, elements);
    return elements.relationships.length;
  }
}
