import type { ManagedTransaction } from 'neo4j-driver';
import { lockProject, type ProjectState } from '../ontology/state.js';
import type { FactPlan } from '../save/fact-plan.js';
import { saveWithin, type Save } from '../save/save.js';
import { nameKey } from '../store/names.js';
import { spanProperties, stampProperties, type Stamp } from '../store/provenance.js';
import { writeOnce, type Connection } from '../store/sessions.js';
import type { FoundFact, FoundPart, Mention, MergedMention, SavedPart } from './part.js';
import { aliasKey, mergeKey, resolve, type Resolved } from './resolve.js';

interface PartPlace {
  projectId: string;
  memoryId: string;
  /** The number of the part, starting at 0. */
  part: number;
}

/**
 * Writes one part of a remembered text in one transaction: new entities, facts, merges, and a record that the part is
 * written. A repeat changes nothing and returns the first result.
 */
export async function savePart(
  graph: Connection,
  place: PartPlace,
  found: FoundPart,
  stamp: Stamp,
): Promise<SavedPart> {
  const { projectId, memoryId, part } = place;
  const key = JSON.stringify([projectId, memoryId, part]);
  const { result } = await writeOnce(graph, projectId, async (tx) => {
    const state = await lockProject(tx, projectId);
    const before = await tx.run('MATCH (s:SavedPart {key: $key}) RETURN s.result AS result', { key });
    const known: unknown = before.records[0]?.get('result');
    if (typeof known === 'string') return JSON.parse(known) as SavedPart;
    const { saved } = await writePart(tx, place, found, { stamp, embeds: graph.embeds, state });
    await tx.run('CREATE (:SavedPart {key: $key, result: $result})', { key, result: JSON.stringify(saved) });
    return saved;
  });
  return result;
}

interface WrittenPart {
  saved: SavedPart;
  resolved: Resolved[];
  /** The facts of the part that were written. Without those about entities that were dropped. */
  stated: FoundFact[];
  plan: FactPlan;
}

interface WriteOptions {
  stamp: Stamp;
  embeds: boolean;
  state: ProjectState;
}

/** Writes a part within a transaction that holds the lock of the project. */
export async function writePart(
  tx: ManagedTransaction,
  place: PartPlace,
  found: FoundPart,
  { stamp, embeds, state }: WriteOptions,
): Promise<WrittenPart> {
  const { projectId, memoryId } = place;
  const definitions = state.pending ? [state.ontology, state.pending.definition] : [state.ontology];
  const resolved = await resolve(tx, { projectId, memoryId }, found.entities, definitions);
  const { input, stated, added, dropped } = inputOf(found, resolved, stamp);
  const more = { _memory_id: memoryId };
  const plan = await saveWithin(tx, projectId, input, { stamp, more, embeds, withEdges: true }, state);
  const ids = new Map(added.map((each, at) => [each, plan.entities.ids[at] ?? '']));
  await writeAliases(tx, place, resolved, ids);
  const merges = await writeMerges(tx, place, resolved, stamp);
  const { closed, effects } = plan.facts;
  const saved: SavedPart = {
    entities: added.filter((each) => !each.known).length,
    facts: effects.created + effects.changed,
    relationships: plan.edges,
    ended: effects.ended,
    unchanged: effects.unchanged,
    ambiguous: resolved.filter(({ isAmbiguous }) => isAmbiguous).length,
    ...{ closed, dropped, merges },
  };
  return { saved, resolved, stated, plan: plan.facts };
}

/**
 * Builds the input of the save. `stated` are the facts in the input, and `added` the mentions whose entities are in it, in
 * this order.
 */
function inputOf({ facts }: FoundPart, resolved: readonly Resolved[], stamp: Stamp) {
  const added = resolved.filter(
    ({ known, same, isDropped, properties }) => !isDropped && !same && (!known || Object.keys(properties).length > 0),
  );
  const refs = new Map<string, string | Mention>();
  for (const each of resolved) {
    const ref = refOf(each);
    if (ref !== undefined) refs.set(nameKey(each.mention), ref);
  }
  const written = facts.flatMap((fact) => {
    const subject = refs.get(nameKey(fact.subject));
    const object = typeof fact.object === 'object' ? refs.get(nameKey(fact.object)) : fact.object;
    if (subject === undefined || object === undefined) return [];
    return [{ fact, input: factInput(fact, subject, object, stamp) }];
  });
  const input: Save = {
    entities: added.map(({ mention: { type, name }, known, properties }) =>
      known ? { id: known.id, type, name: known.name, properties } : { type, name, properties },
    ),
    relationships: [],
    facts: written.map((each) => each.input),
  };
  const dropped = facts.length - written.length + resolved.filter(({ isDropped }) => isDropped).length;
  return { input, stated: written.map(({ fact }) => fact), added, dropped };
}

function refOf({ known, same, isDropped, mention: { type, name } }: Resolved): string | Mention | undefined {
  if (known) return known.id;
  if (same) return refOf(same);
  return isDropped ? undefined : { type, name };
}

function factInput(
  { predicate, valid_from, valid_to, span }: FoundFact,
  subject: string | Mention,
  object: Save['facts'][number]['object'],
  stamp: Stamp,
): Save['facts'][number] {
  const stamped = { ...stampProperties(stamp), ...spanProperties(span) };
  return { subject, predicate, object, confidence: 1, valid_from, valid_to, stamp: stamped };
}

/** Writes aliases. A name keeps its first entity, unless that entity no longer exists. */
async function writeAliases(
  tx: ManagedTransaction,
  { projectId, memoryId }: PartPlace,
  resolved: readonly Resolved[],
  ids: ReadonlyMap<Resolved, string>,
): Promise<void> {
  const rows = resolved.flatMap((each) => {
    const id = each.known?.id ?? ids.get(each.same ?? each);
    const { type, name, aliases } = each.mention;
    if (id === undefined) return [];
    return [name, ...aliases].map((alias) => ({ key: aliasKey(projectId, type, alias), name: alias, id }));
  });
  await tx.run(
    `UNWIND $rows AS row MERGE (a:EntityAlias {key: row.key})
     WITH a, row WHERE a.entity_id IS NULL OR NOT EXISTS { MATCH (:Entity {project_id: $projectId, id: a.entity_id}) }
     SET a.entity_id = row.id, a.name = row.name, a.memory_id = $memoryId`,
    { rows, projectId, memoryId },
  );
}

async function writeMerges(
  tx: ManagedTransaction,
  { projectId, memoryId }: PartPlace,
  resolved: readonly Resolved[],
  { recorded_at }: Stamp,
): Promise<MergedMention[]> {
  const merged = resolved.flatMap(({ known, isOwn, mention, properties }) =>
    known && !isOwn ? [{ known, mention, filled: Object.keys(properties) }] : [],
  );
  const rows = merged.map(({ known, mention, filled }) => ({
    key: mergeKey(projectId, memoryId, known.id),
    filled,
    entity_id: known.id,
    type: known.type,
    mention: mention.name,
    aliases: [mention.name, ...mention.aliases].map((name) => aliasKey(projectId, known.type, name)),
  }));
  await tx.run(
    `UNWIND $rows AS row MERGE (m:EntityMerge {key: row.key})
     ON CREATE SET m.memory_id = $memoryId, m.entity_id = row.entity_id, m.type = row.type, m.mention = row.mention, m.at = $at
     SET m.filled = coalesce(m.filled, []) + row.filled, m.aliases = coalesce(m.aliases, []) + row.aliases`,
    { rows, memoryId, at: recorded_at },
  );
  return merged.map(({ known, mention }) => ({
    merge_id: `${memoryId}/${known.id}`,
    entity_id: known.id,
    type: known.type,
    name: known.name,
    mention: mention.name,
  }));
}
