import { sightingId } from '../../src/callbacks/catalog/sightings.js';
import type { CatalogRunReference } from '../../workflows/catalog-sync/activities.js';
import type { Progress } from '../with-heartbeat.js';
import type { CatalogClient } from './client.js';
import { elementsOf, lineageOf, tablesIn } from './mapping.js';
import { removeElements } from './remove.js';
import { writeElements, type CatalogStores } from './write.js';

const removedAtOnce = 500;
const tablesAtOnce = 100;

export const tablesStart = { after: null as string | null, done: false, tables: 0, entities: 0, relationships: 0 };
export const lineageStart = { last: '', lineage: 0 };
export const removalStart = { removed: 0 };

/** Pages through the tables and writes each page before it asks for the next. */
export async function crawlTables(client: CatalogClient, stores: CatalogStores, run: CatalogRunReference, progress: Progress<typeof tablesStart>) {
  let at = progress.cursor;
  while (!at.done) {
    const page = await client.tables(at.after, progress.signal);
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
    progress.reached(at);
    progress.signal.throwIfAborted();
  }
  return { tables: at.tables, entities: at.entities, relationships: at.relationships };
}

/** Asks for the lineage of every table that this run has seen, in the order of their records. */
export async function crawlLineage(client: CatalogClient, stores: CatalogStores, run: CatalogRunReference, progress: Progress<typeof lineageStart>) {
  const { catalog_sightings: sightings } = stores.mongo.collections;
  let at = progress.cursor;
  for (;;) {
    const filter = { project_id: run.scope.project_id, _id: { $gt: at.last }, run_id: run.run_id, table_id: { $ne: null } };
    const tables = await sightings.find(filter).sort({ _id: 1 }).limit(tablesAtOnce).toArray();
    for (const { _id, table_id } of tables) {
      at = { last: _id, lineage: at.lineage + (await readLineage(client, stores, run, table_id ?? '', progress.signal)) };
      progress.reached(at);
      progress.signal.throwIfAborted();
    }
    if (tables.length < tablesAtOnce) return { lineage: at.lineage };
  }
}

/** How many edges the table's lineage has. */
async function readLineage(client: CatalogClient, stores: CatalogStores, run: CatalogRunReference, tableId: string, signal: AbortSignal): Promise<number> {
  const lineage = await client.lineage(tableId, signal);
  if (!lineage) return 0;
  const ids = tablesIn(lineage).map((id) => sightingId(run.scope.project_id, 'entity', id));
  const known = await stores.mongo.collections.catalog_sightings.find({ _id: { $in: ids }, run_id: run.run_id }).toArray();
  const tables = new Set(known.map(({ element_id }) => element_id));
  const elements = lineageOf(lineage, (id) => tables.has(id));
  await writeElements(stores, run, elements);
  return elements.relationships.length;
}

/** Takes out what earlier runs wrote and this one has not seen. Only after the whole catalog was read. */
export async function removeUnseen({ mongo, graph }: CatalogStores, { scope, run_id }: CatalogRunReference, progress: Progress<typeof removalStart>) {
  const { catalog_sightings: sightings } = mongo.collections;
  let { removed } = progress.cursor;
  for (;;) {
    const gone = await sightings.find({ project_id: scope.project_id, run_id: { $ne: run_id } }).limit(removedAtOnce).toArray();
    if (gone.length === 0) return { removed };
    await removeElements(graph, scope.project_id, gone);
    await sightings.deleteMany({ _id: { $in: gone.map(({ _id }) => _id) }, run_id: { $ne: run_id } });
    removed += gone.length;
    progress.reached({ removed });
    progress.signal.throwIfAborted();
  }
}
