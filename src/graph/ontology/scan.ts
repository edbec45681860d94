import neo4j, { type ManagedTransaction, type Node, type Relationship } from 'neo4j-driver';
import { entityOf, type StoredEntity } from '../store/entities.js';
import { stampIn } from '../store/provenance.js';
import { relationshipOf, type StoredRelationship } from '../store/relationships.js';
import { idOf, readSealed, type SealedValues } from '../store/sealing.js';

interface Scanned {
  stamp: Record<string, unknown>;
  /** The names of the properties that are currently sealed. */
  sealed: ReadonlySet<string>;
}

export type ScannedEntity = StoredEntity & Scanned;
export type ScannedRelationship = StoredRelationship & Scanned & { fromType: string; toType: string };

/** The last element of a page. Relationships are sorted by their start entity. */
export interface Cursor {
  id: string;
  relationship: string;
}

export const firstCursor: Cursor = { id: '', relationship: '' };

interface Page<T> {
  items: T[];
  /** Undefined on the last page. */
  next: Cursor | undefined;
}

/** Small, because each element may have the maximum size. */
const pageSize = 200;

/** Reads a page of entities with their sealed properties, sorted by id. */
export async function entityPage(
  tx: ManagedTransaction,
  projectId: string,
  after: Cursor,
): Promise<Page<ScannedEntity>> {
  const { records } = await tx.run(
    'MATCH (n:Entity) WHERE n.project_id = $projectId AND n.id > $after RETURN n ORDER BY n.project_id, n.id LIMIT $limit',
    { projectId, after: after.id, limit: neo4j.int(pageSize) },
  );
  const nodes = records.map((record) => record.get('n') as Node);
  const sealed = await readSealed(tx, projectId, 'entity', nodes.map(idOf));
  const items = nodes.map((node) => ({ ...entityOf(node, sealed), ...scannedOf(node, sealed) }));
  const last = items.at(-1);
  return { items, next: last && { id: last.id, relationship: '' } };
}

export async function relationshipPage(
  tx: ManagedTransaction,
  projectId: string,
  after: Cursor,
): Promise<Page<ScannedRelationship>> {
  const { records } = await tx.run(
    `MATCH (a:Entity)-[r]->(b:Entity)
     WHERE a.project_id = $projectId AND a.id >= $id AND (a.id > $id OR r.id > $relationship)
     RETURN r, a.type AS fromType, b.type AS toType ORDER BY a.project_id, a.id, r.id LIMIT $limit`,
    { projectId, ...after, limit: neo4j.int(pageSize) },
  );
  const found = records.map((record) => record.get('r') as Relationship);
  const sealed = await readSealed(tx, projectId, 'relationship', found.map(idOf));
  const items = found.map((each, at) => {
    const types = { fromType: String(records[at]?.get('fromType')), toType: String(records[at]?.get('toType')) };
    return { ...relationshipOf(each, sealed), ...types, ...scannedOf(each, sealed) };
  });
  const last = items.at(-1);
  return { items, next: last && { id: last.from, relationship: last.id } };
}

function scannedOf(element: Node | Relationship, sealed: SealedValues): Scanned {
  const values = sealed.get(idOf(element)) ?? '{}';
  return { stamp: stampIn(element.properties), sealed: new Set(Object.keys(JSON.parse(values) as object)) };
}
