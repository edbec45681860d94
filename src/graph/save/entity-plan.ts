import { isDeepStrictEqual } from 'node:util';
import type { ManagedTransaction } from 'neo4j-driver';
import { newId } from '../../base/ids.js';
import { readEntities, type StoredEntity } from '../store/entities.js';
import { foldedKey } from '../store/folded-name.js';
import { derivedId, nameKey } from '../store/names.js';
import type { JsonMap } from '../store/values.js';
import { isSameValidity, mergedValidity, type OwnValidity } from '../store/validity.js';
import { createEntityNames, type EntityNames } from './entity-names.js';
import { outOfOrder, type EntityRef, type SaveInput } from './input.js';
import { problem, type InputPath } from './problems.js';

interface PlannedEntity extends StoredEntity {
  action: 'create' | 'update' | 'unchanged';
  /** The first path in the input that refers to the entity. */
  place: InputPath;
}

export interface EntityPlan {
  entities: PlannedEntity[];
  /** The id of each entity of the input, in input order. */
  ids: string[];
  /**
   * Finds the entity of a reference, or undefined if the project has no such entity.
   * @throws AppError `invalid_input` if several entities have the name
   */
  resolve(ref: EntityRef, place: InputPath): StoredEntity | undefined;
  /** As `resolve`, for a value that may also be a text. A text is an entity of the input only by its exact name. */
  resolveValue(value: EntityRef, place: InputPath): StoredEntity | undefined;
}

const candidates = 3;
const candidateId = (projectId: string, type: string, name: string, at: number) =>
  derivedId('entity', projectId, type, name, at);

/** Finds the entities of the input by id, or by type and name, within the project. Plans the change of each one. */
export async function planEntities(
  tx: ManagedTransaction,
  projectId: string,
  input: Pick<SaveInput, 'entities' | 'relationships' | 'facts'>,
): Promise<EntityPlan> {
  const keys = keysOf(projectId, input);
  const stored = await readEntities(tx, projectId, keys);
  const byId = new Map(stored.byId.map((entity) => [entity.id, entity]));
  for (const entity of stored.byName) if (!byId.has(entity.id)) byId.set(entity.id, entity);
  const names = createEntityNames(stored.byName);
  const planned = new Map<string, PlannedEntity>();

  const ids = input.entities.map((item, at) => {
    const place: InputPath = ['entities', at];
    const id = item.id ?? names.idOf(item, [...place, 'name']) ?? unnamedId(projectId, item, byId);
    const known: StoredEntity | undefined = planned.get(id) ?? byId.get(id);
    if (known && known.type !== item.type) throw problem([...place, 'type'], `the entity ${id} is a ${known.type}`);
    const validity = orderedValidity(known, item, place);
    const properties = merged(known?.properties, item.properties);
    // Only an id renames: a name that differs in case or spacing finds the entity and does not change it.
    const name = item.id === undefined && known ? known.name.normalize('NFC') : item.name;
    const entity = { id, type: item.type, name, properties, ...validity };
    planned.set(id, { ...entity, ...changeOf(entity, known, planned.get(id)), place: planned.get(id)?.place ?? place });
    names.add(entity);
    names.add({ ...entity, name: item.name });
    return id;
  });

  return { entities: [...planned.values()], ids, ...resolvers(planned, byId, names) };
}

/**
 * Returns the id of an entity without an id. The same type and name always produce the same id, unless the entity with
 * that id was renamed.
 */
function unnamedId(
  projectId: string,
  item: { type: string; name: string },
  byId: ReadonlyMap<string, StoredEntity>,
): string {
  for (let at = 0; at < candidates; at += 1) {
    const id = candidateId(projectId, item.type, item.name, at);
    const existing = byId.get(id);
    if (!existing || foldedKey(existing) === foldedKey(item)) return id;
  }
  return newId();
}

function changeOf(
  entity: StoredEntity,
  known: StoredEntity | undefined,
  earlier: PlannedEntity | undefined,
): Pick<PlannedEntity, 'action'> {
  if (earlier && earlier.action !== 'unchanged') return { action: earlier.action };
  if (!known) return { action: 'create' };
  const same =
    known.name === entity.name &&
    isSameValidity(known, entity) &&
    isDeepStrictEqual({ ...known.properties }, { ...entity.properties });
  return { action: same ? 'unchanged' : 'update' };
}

/** Merges properties. Given values replace stored ones, and null removes a property. */
export function merged(before: JsonMap = {}, changes: JsonMap): JsonMap {
  return Object.fromEntries(Object.entries({ ...before, ...changes }).filter(([, value]) => value !== null));
}

/**
 * Merges the given validity with the stored one.
 * @throws AppError `invalid_input` unless the end is after the start
 */
export function orderedValidity(
  before: OwnValidity | undefined,
  given: Pick<SaveInput['entities'][number], 'valid_from' | 'valid_to'> | undefined,
  place: InputPath,
): OwnValidity {
  const validity = mergedValidity(before, given);
  const { valid_from: from, valid_to: to } = validity;
  if (from !== null && to !== null && from >= to) throw problem([...place, 'valid_to'], outOfOrder);
  return validity;
}

function keysOf(
  projectId: string,
  { entities, relationships, facts }: Pick<SaveInput, 'entities' | 'relationships' | 'facts'>,
) {
  const refs = [
    ...relationships.flatMap(({ from, to }) => [from, to]),
    ...facts.flatMap(({ subject, object }) => [subject, object]),
  ];
  const named = [...entities.filter(({ id }) => id === undefined), ...refs.filter((ref) => typeof ref === 'object')];
  const texts = refs.filter((ref): ref is string => typeof ref === 'string' && ref.length <= 200);
  const derived = named.flatMap(({ type, name }) =>
    Array.from({ length: candidates }, (_, at) => candidateId(projectId, type, name, at)),
  );
  const names = new Map(named.map(({ type, name }) => [nameKey({ type, name }), { type, name }]));
  return {
    ids: [...new Set([...entities.flatMap(({ id }) => id ?? []), ...texts, ...derived])],
    names: [...names.values()],
  };
}

function resolvers(
  planned: ReadonlyMap<string, PlannedEntity>,
  byId: ReadonlyMap<string, StoredEntity>,
  names: EntityNames,
): Pick<EntityPlan, 'resolve' | 'resolveValue'> {
  const entityOf = (id: string | undefined) => (id === undefined ? undefined : (planned.get(id) ?? byId.get(id)));
  return {
    resolve: (ref, place) =>
      typeof ref === 'object'
        ? entityOf(names.idOf(ref, place))
        : (entityOf(ref) ?? entityOf(names.idInInput(ref, place))),
    resolveValue: (value, place) =>
      typeof value === 'object'
        ? entityOf(names.idOf(value, place))
        : (entityOf(value) ?? entityOf(names.onlyIdInInput(value))),
  };
}
