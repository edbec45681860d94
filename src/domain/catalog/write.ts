import { save } from '../../graph/save/save.js';
import type { Stamp } from '../../graph/store/provenance.js';
import { relationshipId } from '../../graph/store/relationships.js';
import type { Graph } from '../../stores/neo4j.js';
import type { Mongo } from '../../stores/mongo.js';
import { epochSeconds } from '../../base/time.js';
import { sightingId, type CatalogSightingDocument } from './sightings.js';
import type { CatalogRunReference } from '../../../workflows/catalog-sync/activities.js';
import { batches } from '../batches.js';
import type { Elements } from './mapping.js';

export interface CatalogStores {
  mongo: Pick<Mongo, 'collections'>;
  graph: Graph;
}

/** Upserts the elements with provenance, and records that this run has seen them. */
export async function writeElements(
  { mongo, graph }: CatalogStores,
  { scope, run_id }: CatalogRunReference,
  elements: Elements,
): Promise<void> {
  const { project_id } = scope;
  const stamp: Stamp = {
    saved_by: 'service:catalog-sync',
    source: 'catalog',
    recorded_at: epochSeconds(),
    lifecycle_id: run_id,
  };
  for (const entities of batches(elements.entities))
    await save(graph, project_id, { entities, relationships: [], facts: [] }, stamp);
  const relationships = elements.relationships.map((edge) => ({ ...edge, properties: {} }));
  for (const batch of batches(relationships))
    await save(graph, project_id, { entities: [], relationships: batch, facts: [] }, stamp);
  const seen = sightingsOf(project_id, run_id, elements);
  for (const batch of batches(seen)) {
    await mongo.collections.catalog_sightings.bulkWrite(
      batch.map(({ _id, ...sighting }) => ({
        updateOne: { filter: { _id }, update: { $set: sighting }, upsert: true },
      })),
      { ordered: false },
    );
  }
}

function sightingsOf(
  project_id: string,
  run_id: string,
  { entities, relationships, tableIds }: Elements,
): CatalogSightingDocument[] {
  const sighting = (kind: CatalogSightingDocument['kind'], element_id: string) => ({
    _id: sightingId(project_id, kind, element_id),
    project_id,
    kind,
    element_id,
    run_id,
  });
  const all = [
    ...entities.map(({ id }) => ({ ...sighting('entity', id), table_id: tableIds.get(id) ?? null, ends: null })),
    ...relationships.map((ends) => ({
      ...sighting('relationship', relationshipId(ends.from, ends.type, ends.to)),
      table_id: null,
      ends,
    })),
  ];
  // One write per element, because two concurrent writes to one key can collide.
  return [...new Map(all.map((each) => [each._id, each])).values()];
}
