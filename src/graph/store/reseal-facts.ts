import neo4j, { type ManagedTransaction, type Node } from 'neo4j-driver';
import type { Cursor } from '../ontology/scan.js';
import { elementKey } from '../vectors/elements.js';
import { forgetVectors, noting } from '../vectors/noting.js';
import { factOf, linkFacts, sealFacts, shownObject, type StoredFact } from './facts.js';
import { idOf, readSealed } from './sealing.js';

const pageSize = 500;

/** Seals and unseals one page of a project's facts, including superseded ones. Returns the last fact as a cursor. */
export async function resealFactPage(
  tx: ManagedTransaction,
  projectId: string,
  after: Cursor,
  { personal, embeds }: { personal: ReadonlySet<string>; embeds: boolean },
): Promise<Cursor | undefined> {
  const { records } = await tx.run(
    'MATCH (f:Fact) WHERE f.project_id = $projectId AND f.id > $after RETURN f ORDER BY f.project_id, f.id LIMIT $limit',
    { projectId, after: after.id, limit: neo4j.int(pageSize) },
  );
  const nodes = records.map((record) => record.get('f') as Node);
  const sealed = await readSealed(tx, projectId, 'fact', nodes.map(idOf));
  const facts = nodes.map((node) => factOf(node, sealed));
  const changed = facts.filter(({ id, predicate }) => personal.has(predicate) !== sealed.has(id));
  if (changed.length > 0) await reseal(tx, projectId, changed, { personal, embeds });
  const last = facts.at(-1);
  return last && { id: last.id, relationship: '' };
}

async function reseal(
  tx: ManagedTransaction,
  projectId: string,
  facts: readonly StoredFact[],
  { personal, embeds }: { personal: ReadonlySet<string>; embeds: boolean },
): Promise<void> {
  const names = await namesIn(tx, projectId, facts);
  const rows = facts.map((fact) => ({ id: fact.id, properties: shownObject(fact, personal, names) }));
  const keys = facts.map(({ id }) => elementKey(projectId, 'fact', id));
  await forgetVectors(tx, keys);
  await tx.run(
    `UNWIND $rows AS row MATCH (f:Fact {project_id: $projectId, id: row.id})
     SET f += row.properties${noting('f', embeds)}
     WITH f WHERE f.superseded_at IS NOT NULL REMOVE f._search, f._words`,
    { projectId, rows },
  );
  const hidden = facts.filter(({ predicate }) => personal.has(predicate)).map(({ id }) => id);
  await tx.run('UNWIND $hidden AS id MATCH (f:Fact {project_id: $projectId, id: id})-[r:FACT_OBJECT]->() DELETE r', {
    projectId,
    hidden,
  });
  await linkFacts(tx, projectId, facts, personal);
  await sealFacts(tx, projectId, facts, personal);
}

/** Returns the names of the entities in the facts. */
async function namesIn(
  tx: ManagedTransaction,
  projectId: string,
  facts: readonly StoredFact[],
): Promise<ReadonlyMap<string, string>> {
  const terms = facts.flatMap(({ subject, object }) => (typeof object === 'string' ? [subject, object] : [subject]));
  const { records } = await tx.run(
    'UNWIND $ids AS id MATCH (e:Entity {project_id: $projectId, id: id}) RETURN id, e.name AS name',
    { projectId, ids: [...new Set(terms)] },
  );
  return new Map(records.map((record) => [record.get('id') as string, record.get('name') as string]));
}
