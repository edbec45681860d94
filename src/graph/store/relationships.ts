import type { ManagedTransaction, Relationship } from 'neo4j-driver';
import { personalOf } from '../ontology/definition.js';
import { noteRelationships } from '../vectors/noting.js';
import type { WriteOptions } from './entities.js';
import { derivedId, internalProperties } from './names.js';
import { idOf, readSealed, seal, storeSealed, unseal, type SealedValues } from './sealing.js';
import { validityIn, validityProperties, type OwnValidity } from './validity.js';
import { fromStored, toStored, type JsonMap } from './values.js';

/**
 * A stored relationship. `from` and `to` are entity ids. There is at most one relationship of a type from one entity to
 * another.
 */
export interface StoredRelationship extends OwnValidity {
  id: string;
  from: string;
  type: string;
  to: string;
  properties: JsonMap;
}

export function relationshipId(from: string, type: string, to: string): string {
  return derivedId('relationship', from, type, to);
}

export function isOwnRelationshipProperty(name: string): boolean {
  return name === 'id' || name === 'project_id' || internalProperties.has(name);
}

/** Reads the existing relationships for the keys. */
export async function readRelationships(
  tx: ManagedTransaction,
  projectId: string,
  keys: readonly { from: string; type: string; to: string }[],
): Promise<StoredRelationship[]> {
  if (keys.length === 0) return [];
  const { records } = await tx.run(
    `UNWIND $keys AS key
     MATCH (a:Entity {project_id: $projectId, id: key.from}), (b:Entity {project_id: $projectId, id: key.to})
     MATCH (a)-[r]->(b) WHERE type(r) = key.type RETURN r`,
    { keys: [...keys], projectId },
  );
  const found = records.map((record) => record.get('r') as Relationship);
  const sealed = await readSealed(tx, projectId, 'relationship', found.map(idOf));
  return found.map((relationship) => relationshipOf(relationship, sealed));
}

export function relationshipOf(relationship: Relationship, sealed: SealedValues): StoredRelationship {
  const { type, properties } = relationship;
  const id = idOf(relationship);
  const shown = fromStored(properties, isOwnRelationshipProperty);
  const ends = { from: String(properties._from), to: String(properties._to) };
  return { id, type, ...ends, properties: unseal(shown, sealed.get(id)), ...validityIn(properties) };
}

/** Replaces each relationship. Both ends must be entities of the project. */
export async function writeRelationships(
  tx: ManagedTransaction,
  projectId: string,
  relationships: readonly (StoredRelationship & { stamp: Record<string, unknown> })[],
  { ontology, embeds }: WriteOptions,
): Promise<void> {
  if (relationships.length === 0) return;
  const parted = relationships.map((each) => ({
    each,
    id: each.id,
    ...seal(each.properties, personalOf(ontology, 'relationship_types', each.type)),
  }));
  const rows = parted.map(({ each, shown }) => ({
    id: each.id,
    from: each.from,
    type: each.type,
    to: each.to,
    properties: {
      ...toStored(shown),
      ...each.stamp,
      id: each.id,
      project_id: projectId,
      _from: each.from,
      _to: each.to,
      ...validityProperties(each),
    },
  }));
  await tx.run(
    `UNWIND $rows AS row
     MATCH (a:Entity {project_id: $projectId, id: row.from}), (b:Entity {project_id: $projectId, id: row.to})
     MERGE (a)-[r:$(row.type)]->(b) SET r = row.properties`,
    { rows, projectId },
  );
  if (embeds) await noteRelationships(tx, projectId, relationships.filter(mayHaveText));
  // Without an ontology, nothing was ever sealed.
  if (ontology) await storeSealed(tx, projectId, 'relationship', parted);
}

/** Returns whether the relationship may have or have had a text. Only a new relationship never had one before. */
function mayHaveText(relationship: StoredRelationship & { action?: string }): boolean {
  if (relationship.action !== 'create') return true;
  return Object.values(relationship.properties).some((value) => typeof value === 'string' || typeof value === 'object');
}
