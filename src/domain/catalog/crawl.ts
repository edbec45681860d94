import { lockProject } from '../../graph/ontology/state.js';
import { removeEntities, removeRelationships } from '../../graph/store/remove.js';
import { inWriteTransaction } from '../../graph/store/sessions.js';
import type { Graph } from '../../stores/neo4j.js';
import { sightingId, type CatalogSightingDocument } from './sightings.js';
import { AppError } from '../../base/errors.js';
import { OutboundError } from '../../outbound/outbound-error.js';
import type { CatalogRunReference } from '../../../workflows/catalog-sync/activities.js';
import type { Progress } from '../../temporal/progress.js';
import type { CatalogClient } from './client.js';
import { elementsOf, lineageOf, tablesIn, type Elements } from './mapping.js';
import { writeElements, type CatalogStores } from './write.js';

/** A slice ends soon after this time, so that its workflow can continue as new. */
const sliceMs = 60_000;
const maxRemovalsPerBatch = 500;
const maxTablesPerBatch = 100;
/** The maximum number of elements in one answer. More could not be written before the activity times out. */
const maxElements = 100_000;
/** The maximum number of consecutive pages without a new table. Beyond it, the paging is assumed to be cyclic. */
const maxIdlePages = 200;

export const tablesStart = {
  after: null as string | null,
  done: false,
  idle: 0,
  tables: 0,
  entities: 0,
  relationships: 0,
};
export const lineageStart = { last: '', lineage: 0 };
export const removalStart = { removed: 0 };

function sliceEnd(): () => boolean {
  const end = Date.now() + sliceMs;
  return () => Date.now() > end;
}

/** Pages through the tables. Writes each page before it requests the next one. */
export async function crawlTables(
  client: CatalogClient,
  stores: CatalogStores,
  run: CatalogRunReference,
  progress: Progress<typeof tablesStart>,
) {
  let at = progress.cursor;
  const isOver = sliceEnd();
  while (!at.done && !isOver()) {
    const page = await client.tables(at.after, progress.signal);
    const present = page.tables.filter(({ deleted }) => deleted !== true);
    const elements = elementsOf(present);
    refuseTooMany(elements.entities.length + elements.relationships.length);
    const idle = (await hasNewTables(stores, run, elements)) ? 0 : (at.idle || 0) + 1;
    if (idle > maxIdlePages)
      throw new AppError(
        'validation_failed',
        `the catalog has no last page: ${maxIdlePages} pages in a row brought no new table`,
      );
    await writeElements(stores, run, elements);
    at = {
      after: page.after,
      done: page.after === null,
      idle,
      tables: at.tables + present.length,
      entities: at.entities + elements.entities.length,
      relationships: at.relationships + elements.relationships.length,
    };
    progress.reached(at);
    progress.signal.throwIfAborted();
  }
  return { tables: at.tables, entities: at.entities, relationships: at.relationships, next: at.done ? null : at };
}

async function hasNewTables(
  { mongo }: CatalogStores,
  run: CatalogRunReference,
  { tableIds }: Elements,
): Promise<boolean> {
  const ids = [...tableIds.keys()].map((id) => sightingId(run.scope.project_id, 'entity', id));
  const seen = await mongo.collections.catalog_sightings.countDocuments({ _id: { $in: ids }, run_id: run.run_id });
  return seen < ids.length;
}

function refuseTooMany(elements: number): void {
  if (elements > maxElements)
    throw new OutboundError('action_unavailable', `the catalog's answer contains more than ${maxElements} elements`);
}

/** Reads the lineage of every table that this run has seen, in the order of their records. */
export async function crawlLineage(
  client: CatalogClient,
  stores: CatalogStores,
  run: CatalogRunReference,
  progress: Progress<typeof lineageStart>,
) {
  const { catalog_sightings: sightings } = stores.mongo.collections;
  let at = progress.cursor;
  const isOver = sliceEnd();
  for (;;) {
    const filter = {
      project_id: run.scope.project_id,
      _id: { $gt: at.last },
      run_id: run.run_id,
      table_id: { $ne: null },
    };
    const tables = await sightings.find(filter).sort({ _id: 1 }).limit(maxTablesPerBatch).toArray();
    for (const { _id, table_id } of tables) {
      at = {
        last: _id,
        lineage: at.lineage + (await readLineage(client, stores, run, table_id ?? '', progress.signal)),
      };
      progress.reached(at);
      progress.signal.throwIfAborted();
      if (isOver()) return { lineage: at.lineage, next: at };
    }
    if (tables.length < maxTablesPerBatch) return { lineage: at.lineage, next: null };
  }
}

/** Reads the lineage of one table and returns the number of its edges. */
async function readLineage(
  client: CatalogClient,
  stores: CatalogStores,
  run: CatalogRunReference,
  tableId: string,
  signal: AbortSignal,
): Promise<number> {
  const lineage = await client.lineage(tableId, signal);
  if (!lineage) return 0;
  const tableIds = tablesIn(lineage);
  refuseTooMany(tableIds.length);
  const ids = tableIds.map((id) => sightingId(run.scope.project_id, 'entity', id));
  const known = await stores.mongo.collections.catalog_sightings
    .find({ _id: { $in: ids }, run_id: run.run_id })
    .toArray();
  const tables = new Set(known.map(({ element_id }) => element_id));
  const elements = lineageOf(lineage, (id) => tables.has(id));
  await writeElements(stores, run, elements);
  return elements.relationships.length;
}

/** Removes what earlier runs wrote and this run has not seen. Call it only after the whole catalog was read. */
export async function removeUnseen(
  { mongo, graph }: CatalogStores,
  { scope, run_id }: CatalogRunReference,
  progress: Progress<typeof removalStart>,
) {
  const { catalog_sightings: sightings } = mongo.collections;
  let { removed } = progress.cursor;
  const isOver = sliceEnd();
  for (;;) {
    const gone = await sightings
      .find({ project_id: scope.project_id, run_id: { $ne: run_id } })
      .limit(maxRemovalsPerBatch)
      .toArray();
    if (gone.length === 0) return { removed, next: null };
    if (isOver()) return { removed, next: { removed } };
    await removeElements(graph, scope.project_id, gone);
    await sightings.deleteMany({ _id: { $in: gone.map(({ _id }) => _id) }, run_id: { $ne: run_id } });
    removed += gone.length;
    progress.reached({ removed });
    progress.signal.throwIfAborted();
  }
}

/** Removes elements, entities with their relationships and facts. Ignores elements that no longer exist. */
function removeElements(graph: Graph, projectId: string, gone: readonly CatalogSightingDocument[]): Promise<void> {
  return inWriteTransaction(graph, projectId, async (tx) => {
    await lockProject(tx, projectId);
    await removeRelationships(
      tx,
      projectId,
      gone.flatMap(({ ends }) => ends ?? []),
    );
    await removeEntities(
      tx,
      projectId,
      gone.filter(({ kind }) => kind === 'entity').map(({ element_id }) => element_id),
    );
  });
}
