import type { ManagedTransaction, Relationship } from 'neo4j-driver';
import { checkRelationship } from '../ontology/check.js';
import type { OntologyDefinition } from '../ontology/definition.js';
import type { WriteOptions } from '../store/entities.js';
import { removeRelationships } from '../store/remove.js';
import { relationshipId, writeRelationships } from '../store/relationships.js';
import type { StoredStatement } from '../store/reconcile.js';
import { keepNames, planNames } from './names-of-project.js';

/** What a fact says about two entities: the same as a relationship of its predicate. */
export type Triple = Pick<StoredStatement, 'object'> & { subject: string; predicate: string };

interface Options extends WriteOptions {
  /** The definitions that a new relationship must match, or null if facts get no relationships of their own. */
  definitions: readonly (OntologyDefinition | null)[] | null;
  stamp: Record<string, unknown>;
}

interface Edge {
  from: string;
  type: string;
  to: string;
}

interface Followed extends Edge {
  fromType: string;
  toType: string;
  relationship: Relationship | null;
  /** The last period in which the facts say so, or undefined if none does any more. */
  period: Period | undefined;
}

interface Period {
  valid_from: number;
  valid_to: number | null;
}

/**
 * Gives the relationships between the entities of these facts the validity of the facts, after the facts are written. A
 * relationship that facts created (`_of_facts`) is removed with its last fact. One that another save wrote keeps its start,
 * and gets the end that facts state for it later (`_end_of_facts`). Returns the number of new relationships.
 */
export async function followFacts(
  tx: ManagedTransaction,
  projectId: string,
  triples: readonly Triple[],
  { definitions, stamp, ...options }: Options,
): Promise<number> {
  const followed = await readFollowed(tx, projectId, triples);
  const mayBe = ({ type, fromType, toType }: Followed, definition: OntologyDefinition | null) =>
    definition !== null && checkRelationship(definition, { type, fromType, toType, properties: {} }).length === 0;
  const created = followed.filter(
    (each) => !each.relationship && each.period && definitions?.every((definition) => mayBe(each, definition)),
  );
  const names = { entities: [], relationships: created.map(({ type }) => ({ type, properties: {} })) };
  if (created.length > 0) await keepNames(tx, projectId, await planNames(tx, projectId, names));
  const stamped = { ...stamp, _of_facts: true };
  await writeRelationships(
    tx,
    projectId,
    created.map(({ from, type, to, period }) => ({
      ...{ id: relationshipId(from, type, to), from, type, to, properties: {}, action: 'create' as const },
      ...{ valid_from: period?.valid_from ?? null, valid_to: period?.valid_to ?? null, stamp: stamped },
    })),
    options,
  );
  const ofFacts = followed.filter(({ relationship }) => relationship?.properties._of_facts === true);
  await removeRelationships(
    tx,
    projectId,
    ofFacts.filter(({ period }) => !period).map(({ from, type, to }) => ({ from, type, to })),
  );
  const changed = followed.flatMap((each) => validityOf(each, definitions !== null) ?? []);
  await setValidity(tx, projectId, changed);
  return created.length;
}

async function readFollowed(
  tx: ManagedTransaction,
  projectId: string,
  triples: readonly Triple[],
): Promise<Followed[]> {
  const rows = new Map<string, Edge>();
  for (const { subject, predicate, object } of triples)
    if (typeof object === 'string')
      rows.set(JSON.stringify([subject, predicate, object]), { from: subject, type: predicate, to: object });
  if (rows.size === 0) return [];
  const { records } = await tx.run(
    `UNWIND $rows AS row
     MATCH (a:Entity {project_id: $projectId, id: row.from}), (b:Entity {project_id: $projectId, id: row.to})
     OPTIONAL MATCH (a)-[r]->(b) WHERE type(r) = row.type
     OPTIONAL MATCH (f:Fact {project_id: $projectId, subject: row.from})
       WHERE f.predicate = row.type AND f.object = row.to AND f.superseded_at IS NULL
     WITH row, a, b, r, f ORDER BY f.valid_from DESC
     RETURN row, a.type AS fromType, b.type AS toType, r,
       collect(CASE WHEN f IS NOT NULL THEN {valid_from: f.valid_from, valid_to: f.valid_to} END)[0] AS period`,
    { rows: [...rows.values()], projectId },
  );
  return records.map((record) => ({
    ...(record.get('row') as Edge),
    fromType: record.get('fromType') as string,
    toType: record.get('toType') as string,
    relationship: record.get('r') as Relationship | null,
    period: (record.get('period') as Period | null) ?? undefined,
  }));
}

interface Validity extends Edge {
  since: unknown;
  until: number | null;
  /** Whether the end is that of the facts, for a relationship that another save wrote. */
  endOfFacts: true | null;
}

/** Returns the validity that a stored relationship gets, or undefined if it does not follow the facts. */
function validityOf({ from, type, to, relationship, period }: Followed, isOfText: boolean): Validity | undefined {
  if (!relationship) return undefined;
  const { _of_facts, _end_of_facts, _since, _until, _recorded_at } = relationship.properties;
  const edge = { from, type, to };
  if (_of_facts === true)
    return period && { ...edge, since: period.valid_from, until: period.valid_to, endOfFacts: null };
  const end = period?.valid_to ?? null;
  if (_end_of_facts === true) return { ...edge, since: _since, until: end, endOfFacts: end === null ? null : true };
  const isLater = end !== null && end >= Number(_since ?? _recorded_at);
  return isOfText && _until == null && isLater ? { ...edge, since: _since, until: end, endOfFacts: true } : undefined;
}

async function setValidity(tx: ManagedTransaction, projectId: string, rows: readonly Validity[]): Promise<void> {
  if (rows.length === 0) return;
  await tx.run(
    `UNWIND $rows AS row
     MATCH (a:Entity {project_id: $projectId, id: row.from}), (b:Entity {project_id: $projectId, id: row.to})
     MATCH (a)-[r]->(b) WHERE type(r) = row.type
     SET r._since = row.since, r._until = row.until, r._end_of_facts = row.endOfFacts`,
    { rows: [...rows], projectId },
  );
}
