import { isDeepStrictEqual } from 'node:util';
import type { ManagedTransaction } from 'neo4j-driver';
import { newId } from '../../ids.js';
import { readEntities, type StoredEntity } from '../store/entities.js';
import { derivedId, nameKey } from '../store/names.js';
import type { JsonMap } from '../store/values.js';
import { isSameValidity, mergedValidity, type OwnValidity } from '../store/validity.js';
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
  /** Finds the entity of a reference, or undefined if the project has no such entity. */
  resolve(ref: EntityRef): StoredEntity | undefined;
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
  const byName = new Map(stored.byName.map((entity) => [nameKey(entity), entity]));
  const planned = new Map<string, PlannedEntity>();

  const ids = input.entities.map((item, at) => {
    const place: InputPath = ['entities', at];
    const id = item.id ?? byName.get(nameKey(item))?.id ?? unnamedId(projectId, item, byId);
    const before: StoredEntity | undefined = planned.get(id) ?? byId.get(id) ?? byName.get(nameKey(item));
    const known = before?.id === id ? before : undefined;
    if (known && known.type !== item.type) throw problem([...place, 'type'], `the entity ${id} is a ${known.type}`);
    const validity = orderedValidity(known, item, place);
    const properties = merged(known?.properties, item.properties);
    const entity = { id, type: item.type, name: item.name, properties, ...validity };
    planned.set(id, { ...entity, ...changeOf(entity, known, planned.get(id)), place: planned.get(id)?.place ?? place });
    byName.set(nameKey(entity), entity);
    return id;
  });

  return { entities: [...planned.values()], ids, resolve: resolver(planned, byId, byName) };
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
    if (!existing || (existing.type === item.type && existing.name === item.name)) return id;
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

function resolver(
  planned: ReadonlyMap<string, PlannedEntity>,
  byId: ReadonlyMap<string, StoredEntity>,
  byName: ReadonlyMap<string, StoredEntity>,
) {
  const namesOfCall = new Map<string, PlannedEntity | 'several'>();
  for (const entity of planned.values())
    namesOfCall.set(entity.name, namesOfCall.has(entity.name) ? 'several' : entity);
  return (ref: EntityRef): StoredEntity | undefined => {
    if (typeof ref === 'object') return byName.get(nameKey(ref));
    const named = namesOfCall.get(ref);
    return planned.get(ref) ?? byId.get(ref) ?? (named === 'several' ? undefined : named);
  };
}
