import type { ManagedTransaction, Node } from 'neo4j-driver';
import { AppError, notFound } from '../../base/errors.js';
import { lockProject } from '../ontology/state.js';
import { saveWithin, type Save } from '../save/save.js';
import { readEntities, type StoredEntity } from '../store/entities.js';
import { factOf, supersedeFacts, type StoredFact } from '../store/facts.js';
import { derivedId } from '../store/names.js';
import type { Stamp } from '../store/provenance.js';
import { idOf, readSealed } from '../store/sealing.js';
import { writeOnce, type Connection } from '../store/sessions.js';

interface UndoneMerge {
  /** The separate entity that the mention now refers to. */
  entity_id: string;
  /** The number of facts that moved to it. */
  moved: number;
  /** The number of facts of the earlier entity that were restored to their state before the merge. */
  restored: number;
}

/**
 * Undoes the merge of a memory's mention with a known entity. The facts of the memory move to a separate entity, and
 * the facts that they closed are restored. A repeat returns the first result.
 * @throws AppError `not_found`, and `conflict` if the entity no longer exists
 */
export async function undoMerge(
  graph: Connection,
  projectId: string,
  mergeId: string,
  stamp: Stamp,
): Promise<UndoneMerge> {
  const key = `${projectId}/${mergeId}`;
  const { result } = await writeOnce(graph, projectId, async (tx) => {
    const state = await lockProject(tx, projectId);
    const { records } = await tx.run('MATCH (m:EntityMerge {key: $key}) RETURN m', { key });
    const merge = (records[0]?.get('m') as Node | undefined)?.properties;
    if (!merge) throw notFound('the merge');
    if (typeof merge.undone === 'string') return JSON.parse(merge.undone) as UndoneMerge;
    const entityId = String(merge.entity_id);
    const [entity] = (await readEntities(tx, projectId, { ids: [entityId], names: [] })).byId;
    if (!entity) throw new AppError('conflict', 'the entity of the merge no longer exists');
    const facts = await factsAround(tx, projectId, entityId, String(merge.memory_id));
    const removed = facts.removed.map(({ id }) => ({ id, by: null }));
    await supersedeFacts(tx, projectId, removed, { at: stamp.recorded_at, embeds: graph.embeds });
    const own = derivedId('undone', projectId, mergeId);
    const input = inputOf(entity, own, merge, facts, state.ontology?.entity_types[entity.type]?.properties ?? {});
    const more = { _memory_id: String(merge.memory_id) };
    const options = { stamp, more, embeds: graph.embeds, withEdges: true, removed: facts.removed };
    await saveWithin(tx, projectId, input, options, state);
    const restored = new Set(facts.restored.map(({ id }) => id)).size;
    const undone: UndoneMerge = { entity_id: own, moved: facts.moved.length, restored };
    await tx.run(
      `MATCH (m:EntityMerge {key: $key}) SET m.undone = $undone, m.undone_at = $at
       WITH m UNWIND m.aliases AS alias MATCH (a:EntityAlias {key: alias, memory_id: m.memory_id}) SET a.entity_id = $own`,
      { key, undone: JSON.stringify(undone), at: stamp.recorded_at, own },
    );
    return undone;
  });
  return result;
}

interface FactsAround {
  /** The memory's current facts about the entity. */
  removed: StoredFact[];
  /** The facts about the mention as the memory stated them, even if another source has since closed them. */
  moved: StoredFact[];
  /** What facts of other sources state for the periods that `removed` leaves. A fact can have several periods. */
  restored: StoredFact[];
}

async function factsAround(
  tx: ManagedTransaction,
  projectId: string,
  entityId: string,
  memoryId: string,
): Promise<FactsAround> {
  const { records } = await tx.run(
    `MATCH (f:Fact {project_id: $projectId, subject: $entityId}) RETURN f
     UNION MATCH (:Entity {project_id: $projectId, id: $entityId})<-[:FACT_OBJECT]-(f:Fact {project_id: $projectId}) RETURN f`,
    { projectId, entityId },
  );
  // What was recorded later overrides what was recorded before.
  const nodes = records
    .map((record) => record.get('f') as Node)
    .sort((a, b) => Number(a.properties.recorded_at) - Number(b.properties.recorded_at));
  const sealed = await readSealed(tx, projectId, 'fact', nodes.map(idOf));
  const isOwn = ({ properties }: Node) => properties._memory_id === memoryId;
  const isCurrent = ({ properties }: Node) => properties.superseded_at == null;
  const isSubject = ({ properties }: Node) => properties.subject === entityId;
  const own = new Set<unknown>(nodes.filter(isOwn).map(idOf));
  const isOther = (id: unknown) => id != null && !own.has(id);
  const isStated = (node: Node) =>
    isSubject(node)
      ? (isCurrent(node) || isOther(node.properties._superseded_by)) && !isOther(node.properties._closed_by)
      : isCurrent(node);
  // Not the remaining parts of facts that the memory had closed before: these facts contain them.
  const isReplaced = ({ properties: p }: Node) => own.has(p._superseded_by) && !own.has(p._closed_by);
  const facts = (isChosen: (node: Node) => boolean) => nodes.filter(isChosen).map((node) => factOf(node, sealed));
  const removed = facts((node) => isOwn(node) && isCurrent(node));
  const periods = removed.filter(({ subject }) => subject === entityId);
  const replaced = facts((node) => !isOwn(node) && isSubject(node) && isReplaced(node));
  return {
    removed,
    moved: facts((node) => isOwn(node) && isStated(node)),
    restored: replaced.flatMap((fact) =>
      removed.some((by) => hasEnded(fact, by))
        ? [fact]
        : periods.filter(({ predicate }) => predicate === fact.predicate).flatMap((period) => within(fact, period)),
    ),
  };
}

/** Returns whether the memory gave the fact an earlier end. */
function hasEnded(fact: StoredFact, by: StoredFact): boolean {
  const isSame = fact.subject === by.subject && fact.predicate === by.predicate && Object.is(fact.object, by.object);
  return isSame && by.valid_to !== null && by.valid_to < (fact.valid_to ?? Infinity);
}

/** Returns the fact for the part of its validity that is within the period. */
function within(fact: StoredFact, period: StoredFact): StoredFact[] {
  const valid_from = Math.max(fact.valid_from, period.valid_from);
  const end = Math.min(fact.valid_to ?? Infinity, period.valid_to ?? Infinity);
  return valid_from < end ? [{ ...fact, valid_from, valid_to: end === Infinity ? null : end }] : [];
}

/** Builds the input of the new entity: the properties that the memory added, and those that its type requires. */
function inputOf(
  entity: StoredEntity,
  own: string,
  merge: Node['properties'],
  { moved, restored }: FactsAround,
  types: Readonly<Record<string, { required: boolean }>>,
): Save {
  const filled = new Set((merge.filled as string[] | null) ?? []);
  const kept = Object.entries(entity.properties).filter(
    ([name]) => filled.has(name) || (Object.hasOwn(types, name) && types[name]?.required),
  );
  const removed = [...filled].filter((name) => !types[name]?.required).map((name) => [name, null] as const);
  const term = (value: StoredFact['object']) => (value === entity.id ? own : value);
  const fact = ({ id: _, ...rest }: StoredFact) => rest;
  return {
    entities: [
      { id: own, type: entity.type, name: String(merge.mention), properties: Object.fromEntries(kept) },
      ...(removed.length > 0
        ? [{ id: entity.id, type: entity.type, name: entity.name, properties: Object.fromEntries(removed) }]
        : []),
    ],
    relationships: [],
    facts: [
      ...restored.map(fact),
      ...moved.map((each) => ({ ...fact(each), subject: String(term(each.subject)), object: term(each.object) })),
    ],
  };
}
