import type { ManagedTransaction, Node } from 'neo4j-driver';
import { placeholder } from '../redaction/span.js';
import { indexing, type Analyzer } from '../language/analyzers.js';
import { searchedProperties } from '../language/searched.js';
import { noting } from '../vectors/noting.js';
import { searchText } from './entities.js';
import { scopeTerm } from './names.js';
import { stampIn } from './provenance.js';
import type { FactObject, StoredStatement } from './reconcile.js';
import { idOf, readSealed, storeSealed, type SealedValues } from './sealing.js';
import { toStored } from './values.js';

/**
 * A stored fact. `subject` is the id of an entity, or a text that names no entity. `object` can also be a number or
 * boolean.
 */
export interface StoredFact extends StoredStatement {
  subject: string;
  predicate: string;
  stamp: Record<string, unknown>;
}

/** Reads the facts that are not superseded, with any validity, for pairs of subject and predicate. */
export async function readFacts(
  tx: ManagedTransaction,
  projectId: string,
  pairs: readonly { subject: string; predicate: string }[],
): Promise<StoredFact[]> {
  if (pairs.length === 0) return [];
  const { records } = await tx.run(
    `UNWIND $pairs AS pair MATCH (f:Fact {project_id: $projectId, subject: pair.subject})
     WHERE f.predicate = pair.predicate AND f.superseded_at IS NULL RETURN f`,
    { pairs: [...pairs], projectId },
  );
  const nodes = records.map((record) => record.get('f') as Node);
  const sealed = await readSealed(tx, projectId, 'fact', nodes.map(idOf));
  return nodes
    .map((node) => factOf(node, sealed))
    .sort((a, b) => a.valid_from - b.valid_from || (a.id < b.id ? -1 : 1));
}

export function factOf(node: Node, sealed: SealedValues): StoredFact {
  const p = node.properties;
  const id = idOf(node);
  const values = sealed.get(id);
  const hidden = values === undefined ? undefined : (JSON.parse(values) as { object: FactObject });
  return {
    id,
    subject: String(p.subject),
    predicate: String(p.predicate),
    object: hidden ? hidden.object : (p.object as FactObject),
    confidence: Number(p.confidence),
    valid_from: Number(p.valid_from),
    valid_to: typeof p.valid_to === 'number' ? p.valid_to : null,
    stamp: stampIn(p),
  };
}

/** Removes the facts from all responses and from full text, for any point in time, but keeps the records. */
export async function supersedeFacts(
  tx: ManagedTransaction,
  projectId: string,
  facts: readonly { id: string; by: string | null }[],
  { at, embeds }: { at: number; embeds: boolean },
): Promise<void> {
  if (facts.length === 0) return;
  const rows = facts.map(({ id, by }) => ({ id, by }));
  await tx.run(
    `UNWIND $rows AS row MATCH (f:Fact {project_id: $projectId, id: row.id})
     SET f.superseded_at = $at, f._until = $never, f._superseded_by = row.by${noting('f', embeds)} REMOVE f._search, f._words, f._scope`,
    { rows, projectId, at, never: neverValidUntil },
  );
}

/** Earlier than every `as_of`. */
const neverValidUntil = -1e300;

/**
 * Writes facts.
 * @param names the names of entities, so that full text finds a fact by its subject
 */
export async function writeFacts(
  tx: ManagedTransaction,
  projectId: string,
  facts: readonly StoredFact[],
  context: {
    recordedAt: number;
    personal: ReadonlySet<string>;
    names: ReadonlyMap<string, string>;
    embeds: boolean;
    analyzers: readonly Analyzer[];
  },
): Promise<void> {
  if (facts.length === 0) return;
  const { personal, names } = context;
  const rows = facts.map((fact) => ({
    id: fact.id,
    properties: {
      ...fact.stamp,
      id: fact.id,
      project_id: projectId,
      subject: fact.subject,
      predicate: fact.predicate,
      confidence: fact.confidence,
      valid_from: fact.valid_from,
      valid_to: fact.valid_to,
      recorded_at: context.recordedAt,
      _since: fact.valid_from,
      _until: fact.valid_to,
      _scope: scopeTerm(projectId),
      ...shownObject(fact, personal, names),
    },
  }));
  await tx.run(
    `UNWIND $rows AS row MERGE (f:Fact {project_id: $projectId, id: row.id})
     SET f = row.properties, f:_Scoped${noting('f', context.embeds)}${indexing('f', context.analyzers)}`,
    { rows, projectId },
  );
  await linkFacts(tx, projectId, facts, personal);
  if (personal.size > 0) await sealFacts(tx, projectId, facts, personal);
}

/** Returns the object and the text for full text. Both omit a personal object. */
export function shownObject(
  { subject, predicate, object }: StoredFact,
  personal: ReadonlySet<string>,
  names: ReadonlyMap<string, string>,
): Record<string, unknown> {
  const isHidden = personal.has(predicate);
  const named = (value: FactObject) => names.get(String(value)) ?? String(value);
  return {
    ...toStored({ object: isHidden ? placeholder('personal') : object }),
    ...searchedProperties(searchText([named(subject), predicate], isHidden ? {} : { '': named(object) })),
  };
}

/**
 * Links facts to their subjects, and to their objects unless they are personal. Links have a project_id, because the
 * guard also restricts relationships.
 */
export async function linkFacts(
  tx: ManagedTransaction,
  projectId: string,
  facts: readonly StoredFact[],
  personal: ReadonlySet<string>,
): Promise<void> {
  const rows = facts.map(({ id, subject, predicate, object }) => ({
    id,
    subject,
    object: typeof object === 'string' && !personal.has(predicate) ? object : null,
  }));
  await tx.run(
    `UNWIND $rows AS row MATCH (f:Fact {project_id: $projectId, id: row.id})
     MATCH (e:Entity {project_id: $projectId, id: row.subject}) MERGE (e)-[r:HAS_FACT]->(f) SET r.project_id = $projectId`,
    { rows, projectId },
  );
  await tx.run(
    `UNWIND $rows AS row MATCH (f:Fact {project_id: $projectId, id: row.id})
     MATCH (e:Entity {project_id: $projectId, id: row.object}) MERGE (f)-[r:FACT_OBJECT]->(e) SET r.project_id = $projectId`,
    { rows, projectId },
  );
}

/** Stores the personal objects apart from their facts. Deletes those that are no longer personal. */
export async function sealFacts(
  tx: ManagedTransaction,
  projectId: string,
  facts: readonly StoredFact[],
  personal: ReadonlySet<string>,
): Promise<void> {
  const sealed = facts.map(({ id, predicate, object }) => ({
    id,
    sealed: personal.has(predicate) ? { object } : null,
  }));
  await storeSealed(tx, projectId, 'fact', sealed);
}
