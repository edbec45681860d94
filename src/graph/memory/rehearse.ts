import type { ManagedTransaction } from 'neo4j-driver';
import { personalPredicates } from '../ontology/definition.js';
import { lockProject } from '../ontology/state.js';
import type { FactPlan } from '../save/fact-plan.js';
import { readEntities } from '../store/entities.js';
import type { StoredFact } from '../store/facts.js';
import type { Stamp } from '../store/provenance.js';
import type { FactObject } from '../store/reconcile.js';
import { rehearseWrite, type Connection } from '../store/sessions.js';
import type { JsonMap } from '../store/values.js';
import type { FoundFact, FoundPart, MentionedEntity } from './part.js';
import type { Resolved } from './resolve.js';
import { writePart } from './save-part.js';

/** What a save would do with a mention. */
export interface RehearsedEntity {
  mention: MentionedEntity;
  /** The entity that the mention is merged with; its id is null if the text itself adds that entity. */
  joins: { id: string | null; name: string } | null;
  /** The properties that would be written. */
  properties: JsonMap;
  isWritten: boolean;
}

interface Stated {
  object: FactObject;
  valid_from: number;
  valid_to: number | null;
}

/** A current fact that a save would end or change. Entities have their names. */
export interface ReplacedFact {
  subject: string;
  predicate: string;
  before: Stated;
  /** Null if only a part of the earlier validity remains. */
  after: Stated | null;
}

export interface RehearsedPart {
  part: number;
  found: FoundPart;
  entities: RehearsedEntity[];
  stated: ReadonlySet<FoundFact>;
  replaced: ReplacedFact[];
}

interface Rehearsal {
  parts: RehearsedPart[];
  /** The predicates whose values are personal. */
  personal: ReadonlySet<string>;
}

/**
 * Finds out what saving the parts would change, with the code that saves them, and changes nothing. Later parts see what the
 * earlier ones would have written.
 * @throws the errors of saving
 */
export function rehearseParts(
  graph: Connection,
  { projectId, memoryId }: { projectId: string; memoryId: string },
  parts: readonly { part: number; found: FoundPart }[],
  stamp: Stamp,
): Promise<Rehearsal> {
  return rehearseWrite(graph, projectId, async (tx) => {
    const state = await lockProject(tx, projectId);
    const rehearsed: RehearsedPart[] = [];
    for (const { part, found } of parts) {
      const place = { projectId, memoryId, part };
      const { resolved, stated, plan } = await writePart(tx, place, found, { stamp, embeds: graph.embeds, state });
      const replaced = await replacedFacts(tx, projectId, plan);
      rehearsed.push({ part, found, entities: resolved.map(toRehearsed), stated: new Set(stated), replaced });
    }
    return { parts: rehearsed, personal: personalPredicates(state.seals) };
  });
}

function toRehearsed({ mention, known, isOwn, same, isDropped, properties }: Resolved): RehearsedEntity {
  const joins = known ? { id: isOwn ? null : known.id, name: known.name } : joinedName(same);
  const isNew = !known && !same;
  return { mention, joins, properties: same ? {} : properties, isWritten: !isNew || !isDropped };
}

function joinedName(same: Resolved | undefined): RehearsedEntity['joins'] {
  return same ? { id: null, name: same.mention.name } : null;
}

async function replacedFacts(
  tx: ManagedTransaction,
  projectId: string,
  { superseded, created, names }: FactPlan,
): Promise<ReplacedFact[]> {
  const objects = [...superseded, ...created].flatMap(({ object }) => (typeof object === 'string' ? [object] : []));
  const ids = superseded.length === 0 ? [] : [...new Set(objects)].filter((id) => !names.has(id));
  const { byId } = await readEntities(tx, projectId, { ids, names: [] });
  const known = new Map([...names, ...byId.map(({ id, name }) => [id, name] as const)]);
  const named = (value: FactObject) => known.get(String(value)) ?? value;
  const statedBy = ({ object, valid_from, valid_to }: StoredFact): Stated => ({
    object: named(object),
    valid_from,
    valid_to,
  });
  return superseded.map((fact) => {
    const by = created.find(({ id }) => id === fact.by);
    return {
      subject: String(named(fact.subject)),
      predicate: fact.predicate,
      before: statedBy(fact),
      after: by ? statedBy(by) : null,
    };
  });
}
