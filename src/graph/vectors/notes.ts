import neo4j, { type ManagedTransaction, type Relationship } from 'neo4j-driver';
import { searchText } from '../store/entities.js';
import { isOwnRelationshipProperty } from '../store/relationships.js';
import { placeholder } from '../redaction/span.js';
import { fromStored, type Json } from '../store/values.js';
import { elementKey, type VectorKind } from './elements.js';
import { noteRelationships, type RelationshipKey } from './noting.js';

/** An element to embed. If its text is empty, its vector is removed. */
export interface ElementToEmbed {
  kind: VectorKind;
  id: string;
  element: string;
  text: string;
  /** The ends and the type of a relationship, and the stamp of the note. */
  link?: Omit<RelationshipKey, 'id'> & { stamp: string };
}

export async function readNotes(tx: ManagedTransaction, projectId: string, limit: number): Promise<ElementToEmbed[]> {
  const nodes = await tx.run(
    `MATCH (n:_Unembedded {project_id: $projectId}) WITH n LIMIT $limit
     RETURN CASE WHEN n:Fact THEN 'fact' ELSE 'entity' END AS kind, n.id AS id, coalesce(n._search, '') AS text`,
    { projectId, limit: neo4j.int(limit) },
  );
  const notes = nodes.records.map((record) => {
    const { kind, id, text } = record.toObject() as { kind: VectorKind; id: string; text: string };
    return { kind, id, text, element: elementKey(projectId, kind, id) };
  });
  return notes.length >= limit ? notes : [...notes, ...(await readLinkNotes(tx, projectId, limit - notes.length))];
}

async function readLinkNotes(tx: ManagedTransaction, projectId: string, limit: number): Promise<ElementToEmbed[]> {
  const { records } = await tx.run(
    `MATCH (l:_UnembeddedLink {project: $projectId}) WITH l LIMIT $limit
     OPTIONAL MATCH (a:Entity {project_id: $projectId, id: l.from})-[r]->(b:Entity {project_id: $projectId, id: l.to})
     WHERE r.id = l.id
     RETURN l.key AS element, l.id AS id, l.from AS from, l.type AS type, l.to AS to, l.stamp AS stamp, r,
       a.name AS fromName, b.name AS toName`,
    { projectId, limit: neo4j.int(limit) },
  );
  return records.map((record) => {
    const text = (key: string) => String(record.get(key) ?? '');
    const relationship = record.get('r') as Relationship | null;
    return {
      kind: 'relationship' as const,
      id: text('id'),
      element: text('element'),
      text: relationship ? relationshipText(relationship, text('fromName'), text('toName')) : '',
      link: { from: text('from'), type: text('type'), to: text('to'), stamp: text('stamp') },
    };
  });
}

/**
 * Returns the text of a relationship, or an empty string if it has none of its own. Sealed values are not stored in the
 * relationship (decision 0024).
 */
function relationshipText({ type, properties }: Relationship, from: string, to: string): string {
  const own = fromStored(properties, isOwnRelationshipProperty);
  return Object.values(own).some(isText) ? searchText([from, type, to], own) : '';
}

function isText(value: Json): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some(isText);
  return typeof value === 'string' && value !== placeholder('personal');
}

/** The position where noting all elements of a project continues. */
export interface NotingCursor {
  kind: VectorKind;
  id: string;
  relationship: string;
}

export const firstNoting: NotingCursor = { kind: 'entity', id: '', relationship: '' };
const pageSize = 2000;

/** Notes a page of the project's elements. Returns the start of the next page, or null at the end. */
export async function notePage(
  tx: ManagedTransaction,
  projectId: string,
  { kind, id, relationship }: NotingCursor,
): Promise<NotingCursor | null> {
  const parameters = { projectId, id, relationship, limit: neo4j.int(pageSize) };
  if (kind === 'relationship') {
    const { records } = await tx.run(
      `MATCH (a:Entity)-[r]->(b:Entity)
       WHERE a.project_id = $projectId AND a.id >= $id AND (a.id > $id OR r.id > $relationship)
       RETURN r.id AS id, a.id AS from, type(r) AS type, b.id AS to ORDER BY a.project_id, a.id, r.id LIMIT $limit`,
      parameters,
    );
    const found = records.map((record) => record.toObject() as RelationshipKey);
    await noteRelationships(tx, projectId, found);
    const last = found.at(-1);
    return last === undefined ? null : { kind, id: last.from, relationship: last.id };
  }
  const { records } = await tx.run(
    `MATCH (n:${kind === 'entity' ? 'Entity' : 'Fact'}) WHERE n.project_id = $projectId AND n.id > $id
     WITH n ORDER BY n.project_id, n.id LIMIT $limit SET n:_Unembedded WITH n.id AS id RETURN max(id) AS last`,
    parameters,
  );
  const last = records[0]?.get('last') as string | null | undefined;
  if (last != null) return { kind, id: last, relationship: '' };
  return { kind: kind === 'entity' ? 'fact' : 'relationship', id: '', relationship: '' };
}
