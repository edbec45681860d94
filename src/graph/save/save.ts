import type { ManagedTransaction } from 'neo4j-driver';
import { checkEntity, checkRelationship } from '../ontology/check.js';
import { multiValuedPredicates, personalPredicates, type Ontology } from '../ontology/definition.js';
import { lockProject, readOntology } from '../ontology/state.js';
import { writeEntities } from '../store/entities.js';
import { supersedeFacts, writeFacts } from '../store/facts.js';
import { stampProperties, type Stamp } from '../store/provenance.js';
import { writeRelationships } from '../store/relationships.js';
import { inReadTransaction, inWriteTransaction, type Connection } from '../store/sessions.js';
import { planEntities, type EntityPlan } from './entity-plan.js';
import { planFacts, type FactPlan } from './fact-plan.js';
import type { SaveInput } from './input.js';
import { refuseProblems } from './problems.js';
import { planRelationships, type PlannedRelationship } from './relationship-plan.js';

export interface SavePlan {
  entities: EntityPlan;
  relationships: PlannedRelationship[];
  facts: FactPlan;
}

export interface Saved {
  saved: { entities: number; relationships: number; facts: number };
  /** The id of each entity of the input, in its order. */
  ids: string[];
}

type Save = Pick<SaveInput, 'entities' | 'relationships' | 'facts'>;

/** What saving would do now, without effect. Throws AppError 422 `S4:validate-input` that names the place. */
export function planSave(graph: Connection, projectId: string, input: Save, stamp: Stamp): Promise<SavePlan> {
  return inReadTransaction(graph, async (tx) => plan(tx, projectId, input, stamp, await readOntology(tx, projectId)));
}

/**
 * Saves all of it or nothing. The plan is made anew under the project's lock, so that no other write and no new
 * ontology comes between. Throws as {@link planSave} does.
 */
export function save(graph: Connection, projectId: string, input: Save, stamp: Stamp): Promise<Saved> {
  return inWriteTransaction(graph, async (tx) => {
    const ontology = await lockProject(tx, projectId);
    const planned = await plan(tx, projectId, input, stamp, ontology);
    const stamped = stampProperties(stamp);
    const changed = <T extends { action: string }>(each: readonly T[]) => each.filter(({ action }) => action !== 'unchanged').map((one) => ({ ...one, stamp: stamped }));
    await writeEntities(tx, projectId, changed(planned.entities.entities), ontology);
    await writeRelationships(tx, projectId, changed(planned.relationships), ontology);
    const { superseded, created, names } = planned.facts;
    await supersedeFacts(tx, projectId, superseded.map(({ id }) => id), stamp.recorded_at);
    await writeFacts(tx, projectId, created, { recordedAt: stamp.recorded_at, personal: personalPredicates(ontology), names });
    return savedOf(planned);
  });
}

function savedOf({ entities, relationships, facts }: SavePlan): Saved {
  return { saved: { entities: entities.entities.length, relationships: relationships.length, facts: facts.count }, ids: entities.ids };
}

/** For a dry run: what would be created, changed and closed. */
export function summaryOf({ entities, relationships, facts }: SavePlan) {
  const count = (planned: readonly { action: string }[], action: string) => planned.filter((each) => each.action === action).length;
  const counts = (planned: readonly { action: string }[]) => ({
    create: count(planned, 'create'),
    update: count(planned, 'update'),
    unchanged: count(planned, 'unchanged'),
  });
  return {
    entities: counts(entities.entities),
    relationships: counts(relationships),
    facts: { create: facts.created.length, close: facts.closed, superseded: facts.superseded.length },
    ids: entities.ids,
  };
}

async function plan(tx: ManagedTransaction, projectId: string, input: Save, stamp: Stamp, ontology: Ontology | null): Promise<SavePlan> {
  const entities = await planEntities(tx, projectId, input);
  const relationships = await planRelationships(tx, projectId, input.relationships, entities);
  refuseProblems([
    ...entities.entities.flatMap((entity) => checkEntity(ontology, entity).map((problem) => ({ place: entity.place, problem }))),
    ...relationships.flatMap((each) => checkRelationship(ontology, each).map((problem) => ({ place: each.place, problem }))),
  ]);
  const context = { entities, multiValued: multiValuedPredicates(ontology), stamp: stampProperties(stamp), now: stamp.recorded_at };
  return { entities, relationships, facts: await planFacts(tx, projectId, input.facts, context) };
}
