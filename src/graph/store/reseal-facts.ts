import neo4j, { type ManagedTransaction, type Node } from 'neo4j-driver';
import type { Cursor } from '../ontology/scan.js';
import { placeholder } from '../redaction/span.js';
import { elementKey } from '../vectors/elements.js';
import { forgetVectors, noting } from '../vectors/noting.js';
import { readSealed, searchText } from './entities.js';
import { factOf, linkFacts } from './facts.js';
import { sealedKey, storeSealed } from './sealing.js';
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
    `MATCH (f:Fact) WHERE f.project_id = $projectId AND f.id > $after WITH f ORDER BY f.project_id, f.id LIMIT $limit
     OPTIONAL MATCH (s:Sealed {key: $prefix + f.id + $suffix})
     RETURN f.id AS id, f.predicate AS predicate, s IS NOT NULL AS sealed`,
    { projectId, after: after.id, limit: neo4j.int(pageSize), ...keyParts(projectId) },
  );
  const found = page.records.map((record) => record.toObject() as { id: string; predicate: string; sealed: boolean });
  await reseal(
    tx,
    projectId,
    found.filter(({ predicate, sealed }) => personal.has(predicate) !== sealed).map(({ id }) => id),
    { personal, embeds },
  );
  const last = found.at(-1);
  return last && { id: last.id, relationship: '' };
}

/** Returns the parts of a sealed key before and after the fact id. Fact ids need no escaping. */
function keyParts(projectId: string): { prefix: string; suffix: string } {
  const [prefix = '', suffix = ''] = sealedKey(projectId, 'fact', '\u0000').split(
    JSON.stringify('\u0000').slice(1, -1),
  );
  return { prefix, suffix };
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
  const sealed = await readSealed(
    tx,
    nodes.map(({ properties }) => sealedKey(projectId, 'fact', String(properties.id))),
  );
  const rows = records.map((record, at) => {
    const fact = factOf(projectId, nodes[at] as Node, sealed);
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
    rows.map((row) => ({
      key: sealedKey(projectId, 'fact', row.id),
      sealed: row.hidden ? { object: row.fact.object } : null,
    })),
  );
}
