import type { ManagedTransaction } from 'neo4j-driver';
import { newId } from '../../base/ids.js';
import { elementKey } from './elements.js';

/*
 * A write notes what it changed, and the worker embeds it afterwards. The note of an entity or a fact is a label, so
 * that a save has no more to write and a deleted element has no note. The note of a relationship is a node.
 */

/** Returns the part of a SET clause that notes a node. Empty if nothing is embedded. */
export function noting(variable: string, embeds: boolean): string {
  return embeds ? `, ${variable}:_Unembedded` : '';
}

export interface RelationshipKey {
  id: string;
  from: string;
  type: string;
  to: string;
}

export async function noteRelationships(
  tx: ManagedTransaction,
  projectId: string,
  relationships: readonly RelationshipKey[],
): Promise<void> {
  if (relationships.length === 0) return;
  const rows = relationships.map(({ id, from, type, to }) => ({
    key: elementKey(projectId, 'relationship', id),
    properties: { project: projectId, id, from, type, to, stamp: newId() },
  }));
  await tx.run('UNWIND $rows AS row MERGE (l:_UnembeddedLink {key: row.key}) SET l += row.properties', { rows });
}

/** Deletes the vectors and notes of elements, in the transaction that deletes or seals the elements. */
export async function forgetVectors(tx: ManagedTransaction, elements: readonly string[]): Promise<void> {
  if (elements.length === 0) return;
  const parameters = { elements: [...elements] };
  await tx.run('UNWIND $elements AS element MATCH (v:_Vector {element: element}) DELETE v', parameters);
  await tx.run('UNWIND $elements AS element MATCH (l:_UnembeddedLink {key: element}) DELETE l', parameters);
}
