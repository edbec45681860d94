import type { ManagedTransaction, Node } from 'neo4j-driver';
import { placeholder } from '../redaction/span.js';
import { readSealed, searchText } from './entities.js';
import { factOf, linkFacts } from './facts.js';
import { sealedKey, storeSealed } from './sealing.js';
import { toStored } from './values.js';

/** Seals or opens all facts of these predicates, those too that are not believed any more. */
export async function resealFacts(tx: ManagedTransaction, projectId: string, predicates: readonly string[], personal: ReadonlySet<string>): Promise<void> {
  if (predicates.length === 0) return;
  const { records } = await tx.run(
    `MATCH (f:Fact) WHERE f.project_id = $projectId AND f.predicate IN $predicates
     OPTIONAL MATCH (e:Entity {project_id: $projectId, id: f.subject}) RETURN f, e.name AS name`,
    { projectId, predicates: [...predicates] },
  );
  const nodes = records.map((record) => record.get('f') as Node);
  const sealed = await readSealed(tx, nodes.map(({ properties }) => sealedKey(projectId, 'fact', String(properties.id))));
  const rows = records.map((record, at) => {
    const fact = factOf(projectId, nodes[at] as Node, sealed);
    const hidden = personal.has(fact.predicate);
    const shown = hidden ? placeholder('personal') : fact.object;
    const subject = (record.get('name') as string | null) ?? fact.subject;
    return { fact, hidden, id: fact.id, properties: { ...toStored({ object: shown }), _search: searchText([subject, fact.predicate], { '': shown }) } };
  });
  await tx.run('UNWIND $rows AS row MATCH (f:Fact {project_id: $projectId, id: row.id}) SET f += row.properties', {
    projectId,
    rows: rows.map(({ id, properties }) => ({ id, properties })),
  });
  const hidden = rows.filter((row) => row.hidden).map(({ id }) => id);
  await tx.run('UNWIND $hidden AS id MATCH (f:Fact {project_id: $projectId, id: id})-[r:FACT_OBJECT]->() DELETE r', { projectId, hidden });
  await linkFacts(tx, projectId, rows.filter((row) => !row.hidden).map(({ fact }) => ({ ...fact, object: typeof fact.object === 'string' ? fact.object : null })));
  await storeSealed(tx, rows.map((row) => ({ key: sealedKey(projectId, 'fact', row.id), sealed: row.hidden ? { object: row.fact.object } : null })));
}
