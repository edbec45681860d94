import neo4j, { type ManagedTransaction, type Node } from 'neo4j-driver';
import type { Cursor } from '../ontology/scan.js';
import { placeholder } from '../redaction/span.js';
import { elementKey } from '../vectors/elements.js';
import { forgetVectors, noting } from '../vectors/noting.js';
import { searchText } from './entities.js';
import { factOf, linkFacts } from './facts.js';
import { idOf, readSealed, storeSealed } from './sealing.js';
import { toStored } from './values.js';

const pageSize = 500;

/** Seals and unseals one page of a project's facts, including superseded ones. Returns the last fact as a cursor. */
export async function resealFactPage(
  tx: ManagedTransaction,
  projectId: string,
  after: Cursor,
  { personal, embeds }: { personal: ReadonlySet<string>; embeds: boolean },
): Promise<Cursor | undefined> {
  const page = await tx.run(
    `MATCH (f:Fact) WHERE f.project_id = $projectId AND f.id > $after
     RETURN f.id AS id, f.predicate AS predicate ORDER BY f.project_id, f.id LIMIT $limit`,
    { projectId, after: after.id, limit: neo4j.int(pageSize) },
  );
  const found = page.records.map((record) => record.toObject() as { id: string; predicate: string });
  const ids = found.map(({ id }) => id);
  const sealed = await readSealed(tx, projectId, 'fact', ids);
  const changed = found.filter(({ id, predicate }) => personal.has(predicate) !== sealed.has(id));
  await reseal(
    tx,
    projectId,
    changed.map(({ id }) => id),
    { personal, embeds },
  );
  const last = ids.at(-1);
  return last === undefined ? undefined : { id: last, relationship: '' };
}

async function reseal(
  tx: ManagedTransaction,
  projectId: string,
  ids: readonly string[],
  { personal, embeds }: { personal: ReadonlySet<string>; embeds: boolean },
): Promise<void> {
  if (ids.length === 0) return;
  const { records } = await tx.run(
    `UNWIND $ids AS id MATCH (f:Fact {project_id: $projectId, id: id})
     OPTIONAL MATCH (e:Entity {project_id: $projectId, id: f.subject}) RETURN f, e.name AS name`,
    { projectId, ids: [...ids] },
  );
  const nodes = records.map((record) => record.get('f') as Node);
  const sealed = await readSealed(tx, projectId, 'fact', nodes.map(idOf));
  const rows = records.map((record, at) => {
    const fact = factOf(nodes[at] as Node, sealed);
    const hidden = personal.has(fact.predicate);
    const visible = hidden ? placeholder('personal') : fact.object;
    const subject = (record.get('name') as string | null) ?? fact.subject;
    return {
      fact,
      hidden,
      id: fact.id,
      properties: { ...toStored({ object: visible }), _search: searchText([subject, fact.predicate], { '': visible }) },
    };
  });
  const write = `UNWIND $rows AS row MATCH (f:Fact {project_id: $projectId, id: row.id})
    SET f += row.properties, f._search = CASE WHEN f.superseded_at IS NULL THEN row.properties._search END${noting('f', embeds)}`;
  await forgetVectors(
    tx,
    ids.map((id) => elementKey(projectId, 'fact', id)),
  );
  await tx.run(write, { projectId, rows: rows.map(({ id, properties }) => ({ id, properties })) });
  const hidden = rows.filter((row) => row.hidden).map(({ id }) => id);
  await tx.run('UNWIND $hidden AS id MATCH (f:Fact {project_id: $projectId, id: id})-[r:FACT_OBJECT]->() DELETE r', {
    projectId,
    hidden,
  });
  await linkFacts(
    tx,
    projectId,
    rows
      .filter((row) => !row.hidden)
      .map(({ fact }) => ({ ...fact, object: typeof fact.object === 'string' ? fact.object : null })),
  );
  await storeSealed(
    tx,
    projectId,
    'fact',
    rows.map(({ id, hidden: isHidden, fact }) => ({ id, sealed: isHidden ? { object: fact.object } : null })),
  );
}
