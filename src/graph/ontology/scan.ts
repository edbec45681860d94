import neo4j, { type ManagedTransaction, type Node, type Relationship } from 'neo4j-driver';
import { entityOf, readSealed, type StoredEntity } from '../store/entities.js';
import { stampIn } from '../store/provenance.js';
import { relationshipOf, type StoredRelationship } from '../store/relationships.js';
import { sealedKey } from '../store/sealing.js';

export interface ScannedRelationship extends StoredRelationship {
  fromType: string;
  toType: string;
  stamp: Record<string, unknown>;
}

export interface Page {
  entities: (StoredEntity & { stamp: Record<string, unknown> })[];
  /** Those that leave these entities. */
  relationships: ScannedRelationship[];
}

const pageSize = 2000;

/** All entities and relationships of a project with what is sealed of them, page by page. */
export async function* scan(tx: ManagedTransaction, projectId: string): AsyncGenerator<Page> {
  for (let after = ''; ; ) {
    const nodes = await entityPage(tx, projectId, after);
    const last = nodes.at(-1);
    if (!last) return;
    after = String(last.properties.id);
    yield await pageOf(tx, projectId, nodes);
  }
}

async function entityPage(tx: ManagedTransaction, projectId: string, after: string): Promise<Node[]> {
  const { records } = await tx.run(
    'MATCH (n:Entity) WHERE n.project_id = $projectId AND n.id > $after RETURN n ORDER BY n.project_id, n.id LIMIT $limit',
    { projectId, after, limit: neo4j.int(pageSize) },
  );
  return records.map((record) => record.get('n') as Node);
}

async function pageOf(tx: ManagedTransaction, projectId: string, nodes: readonly Node[]): Promise<Page> {
  const ids = nodes.map(({ properties }) => String(properties.id));
  const { records } = await tx.run(
    `UNWIND $ids AS id MATCH (a:Entity {project_id: $projectId, id: id})-[r]->(b:Entity)
     RETURN r, a.type AS fromType, b.type AS toType`,
    { ids, projectId },
  );
  const found = records.map((record) => ({
    relationship: record.get('r') as Relationship,
    types: { fromType: record.get('fromType') as string, toType: record.get('toType') as string },
  }));
  const sealed = await readSealed(tx, [
    ...ids.map((id) => sealedKey(projectId, 'entity', id)),
    ...found.map(({ relationship }) => sealedKey(projectId, 'relationship', String(relationship.properties.id))),
  ]);
  return {
    entities: nodes.map((node) => ({ ...entityOf(projectId, node, sealed), stamp: stampIn(node.properties) })),
    relationships: found.map(({ relationship, types }) => ({
      ...relationshipOf(projectId, relationship, sealed),
      ...types,
      stamp: stampIn(relationship.properties),
    })),
  };
}
