import type { ManagedTransaction } from 'neo4j-driver';
import { elementKey, type VectorKind } from '../vectors/elements.js';
import { forgetVectors } from '../vectors/noting.js';
import { storeSealed } from './sealing.js';

/** Removes relationships. Ignores those that no longer exist. */
export async function removeRelationships(
  tx: ManagedTransaction,
  projectId: string,
  edges: readonly { from: string; type: string; to: string }[],
): Promise<void> {
  if (edges.length === 0) return;
  const { records } = await tx.run(
    `UNWIND $edges AS edge
     MATCH (a:Entity {project_id: $projectId, id: edge.from}), (b:Entity {project_id: $projectId, id: edge.to})
     MATCH (a)-[r]->(b) WHERE type(r) = edge.type WITH r, r.id AS id DELETE r RETURN id`,
    { edges: [...edges], projectId },
  );
  await forgetAll(tx, projectId, 'relationship', idsIn(records));
}

/** Removes entities with their relationships and facts. */
export async function removeEntities(tx: ManagedTransaction, projectId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const parameters = { ids: [...ids], projectId };
  const edges = await tx.run(
    'UNWIND $ids AS id MATCH (n:Entity {project_id: $projectId, id: id})-[r]-() RETURN DISTINCT r.id AS id',
    parameters,
  );
  const facts = await tx.run(
    'UNWIND $ids AS id MATCH (f:Fact {project_id: $projectId, subject: id}) WITH f, f.id AS id DETACH DELETE f RETURN id',
    parameters,
  );
  await tx.run('UNWIND $ids AS id MATCH (n:Entity {project_id: $projectId, id: id}) DETACH DELETE n', parameters);
  await forgetAll(tx, projectId, 'relationship', idsIn(edges.records));
  await forgetAll(tx, projectId, 'fact', idsIn(facts.records));
  await forgetAll(tx, projectId, 'entity', ids);
}

/** Deletes the data that is stored apart from the elements: sealed values, vectors and notes. */
async function forgetAll(
  tx: ManagedTransaction,
  projectId: string,
  kind: VectorKind,
  ids: readonly string[],
): Promise<void> {
  const gone = ids.map((id) => ({ id, sealed: null }));
  await storeSealed(tx, projectId, kind, gone);
  await forgetVectors(
    tx,
    ids.map((id) => elementKey(projectId, kind, id)),
  );
}

function idsIn(records: readonly { get(key: string): unknown }[]): string[] {
  return records.map((record) => record.get('id')).filter((id) => typeof id === 'string');
}
