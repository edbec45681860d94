import type { ManagedTransaction } from 'neo4j-driver';
import { noteTexts } from '../language/state.js';
import { checkEntity, checkRelationship } from '../ontology/check.js';
import { personalPredicates, type OntologyDefinition } from '../ontology/definition.js';
import { lockProject, readState, type ProjectState } from '../ontology/state.js';
import { writeEntities } from '../store/entities.js';
import { supersedeFacts, writeFacts, type StoredFact } from '../store/facts.js';
import { stampProperties, type Stamp } from '../store/provenance.js';
import { writeRelationships } from '../store/relationships.js';
import { inReadTransaction, writeOnce, type Connection } from '../store/sessions.js';
import type { JsonMap } from '../store/values.js';
import { followFacts } from './edges-of-facts.js';
import { planEntities, type EntityPlan } from './entity-plan.js';
import { planFacts, type FactPlan, type GivenFact } from './fact-plan.js';
import { saveBounds, type SaveInput } from './input.js';
import { keepNames, planNames, type NamesOfProject } from './names-of-project.js';
import { problem, refuseProblems, type InputPath } from './problems.js';
import { followValues } from './properties-of-facts.js';
import { declaredValues } from './several-values.js';
import { planRelationships, type PlannedRelationship } from './relationship-plan.js';

export interface SavePlan {
  entities: EntityPlan;
  relationships: PlannedRelationship[];
  facts: FactPlan;
  names: NamesOfProject | null;
}

/** What became of a save. */
interface Saved extends SavePlan {
  /** The number of relationships that facts of the save created. */
  edges: number;
}

export type Save = Pick<SaveInput, 'entities' | 'relationships'> & { facts: GivenFact[] };

/**
 * Plans a save without executing it.
 * @throws AppError `invalid_input` that names the path in the input
 */
export function planSave(graph: Connection, projectId: string, input: Save, stamp: Stamp): Promise<SavePlan> {
  return inReadTransaction(graph, async (tx) => plan(tx, projectId, input, stamp, await readState(tx, projectId)), {
    projectIds: [projectId],
  });
}

/**
 * Saves everything or nothing. Plans again under the lock of the project, so that no other write or ontology change
 * interferes. Throws the errors of {@link planSave}.
 */
export async function save(graph: Connection, projectId: string, input: Save, stamp: Stamp) {
  const { result, bookmark } = await writeOnce(graph, projectId, async (tx) =>
    saveWithin(tx, projectId, input, { stamp, embeds: graph.embeds }, await lockProject(tx, projectId)),
  );
  const { entities, relationships, facts } = result;
  return {
    saved: { entities: entities.entities.length, relationships: relationships.length, facts: facts.count },
    changes: changesOf(result),
    ids: entities.ids,
    bookmark,
  };
}

interface SaveOptions {
  stamp: Stamp;
  /** Properties that are added to the stamp of entities and relationships. */
  more?: Record<string, unknown>;
  embeds: boolean;
  /** Whether facts between entities are also relationships, as their text says them in one statement. */
  withEdges?: boolean;
  /** Facts that were removed before, in the same transaction. Relationships and properties follow. */
  removed?: readonly StoredFact[];
}

/** Saves as part of a transaction that holds the lock of the project. */
export async function saveWithin(
  tx: ManagedTransaction,
  projectId: string,
  input: Save,
  { stamp, more, embeds, withEdges = false, removed = [] }: SaveOptions,
  state: ProjectState,
): Promise<Saved> {
  const planned = await plan(tx, projectId, input, stamp, state);
  await keepNames(tx, projectId, planned.names);
  const stamped = { ...stampProperties(stamp), ...more };
  const analyzers = await noteTexts(tx, projectId, state.language, textsIn(input));
  const options = { ontology: state.seals, embeds, analyzers };
  const changed = <T extends { action: string }>(each: readonly T[]) =>
    each.filter(({ action }) => action !== 'unchanged').map((one) => ({ ...one, stamp: stamped }));
  await writeEntities(tx, projectId, changed(planned.entities.entities), options);
  await writeRelationships(tx, projectId, changed(planned.relationships), options);
  const { superseded, created, stated, names } = planned.facts;
  await supersedeFacts(tx, projectId, superseded, { at: stamp.recorded_at, embeds });
  const personal = personalPredicates(state.seals);
  await writeFacts(tx, projectId, created, { recordedAt: stamp.recorded_at, personal, names, embeds, analyzers });
  const triples = [...removed, ...superseded, ...created, ...stated].filter(
    ({ predicate }) => !personal.has(predicate),
  );
  const definitions = definitionsOf(state);
  const following = { ...options, stamp: stamped };
  const edges = await followFacts(tx, projectId, triples, {
    ...following,
    definitions: withEdges ? definitions : null,
  });
  await followValues(tx, projectId, planned.facts, { ...following, definitions, removed, now: stamp.recorded_at });
  return { ...planned, edges };
}

/** During a commit, a save must also match the new ontology. */
function definitionsOf({ ontology, pending }: ProjectState): (OntologyDefinition | null)[] {
  return pending ? [ontology, pending.definition] : [ontology];
}

/** Yields the texts of a save. They determine the language of the project if it is not known. */
function* textsIn({ entities, relationships, facts }: Save): Generator<string> {
  for (const { name } of entities) yield name;
  for (const { properties } of [...entities, ...relationships])
    for (const value of Object.values(properties)) if (typeof value === 'string') yield value;
  for (const { object } of facts) if (typeof object === 'string') yield object;
}

/** Returns what a save changes, by kind. The facts of the input are counted by their effect. */
export function changesOf({ entities, relationships, facts }: SavePlan) {
  const counts = (planned: readonly PlannedAction[]) => ({
    created: planned.filter(({ action }) => action === 'create').length,
    changed: planned.filter(({ action }) => action === 'update').length,
    unchanged: planned.filter(({ action }) => action === 'unchanged').length,
  });
  return {
    entities: counts(entities.entities),
    relationships: counts(relationships),
    facts: { ...facts.effects, closed: facts.closed },
  };
}

interface PlannedAction {
  action: 'create' | 'update' | 'unchanged';
}

/** Returns the counts of a dry run: created, updated and closed records. */
export function summaryOf({ entities, relationships, facts }: SavePlan) {
  const count = (planned: readonly { action: string }[], action: string) =>
    planned.filter((each) => each.action === action).length;
  const counts = (planned: readonly { action: string }[]) => ({
    create: count(planned, 'create'),
    update: count(planned, 'update'),
    unchanged: count(planned, 'unchanged'),
  });
  return {
    entities: counts(entities.entities),
    relationships: counts(relationships),
    facts: {
      create: facts.created.length,
      close: facts.closed,
      superseded: facts.superseded.length,
      end: facts.effects.ended,
      unchanged: facts.effects.unchanged,
    },
    ids: entities.ids,
  };
}

async function plan(
  tx: ManagedTransaction,
  projectId: string,
  input: Save,
  stamp: Stamp,
  state: ProjectState,
): Promise<SavePlan> {
  const entities = await planEntities(tx, projectId, input);
  const relationships = await planRelationships(tx, projectId, input.relationships, entities);
  for (const definition of definitionsOf(state)) {
    refuseProblems([
      ...entities.entities.flatMap((entity) =>
        checkEntity(definition, entity).map((problem) => ({ place: entity.place, problem })),
      ),
      ...relationships.flatMap((each) =>
        checkRelationship(definition, each).map((problem) => ({ place: each.place, problem })),
      ),
    ]);
  }
  for (const { place, properties } of [...entities.entities, ...relationships]) refuseTooLarge(place, properties);
  const names = await planNames(tx, projectId, { entities: entities.entities, relationships });
  const context = {
    entities,
    declared: declaredValues(state.ontology),
    stamp: stampProperties(stamp),
    now: stamp.recorded_at,
  };
  return { entities, relationships, names, facts: await planFacts(tx, projectId, input.facts, context) };
}

/**
 * Refuses an element that is too large for queries and commits. Includes stored properties, so that repeated saves
 * cannot exceed the limit.
 */
function refuseTooLarge(place: InputPath, properties: JsonMap): void {
  if (JSON.stringify(properties).length <= saveBounds.element) return;
  throw problem([...place, 'properties'], `would hold more than ${saveBounds.element} characters of JSON in all`);
}
