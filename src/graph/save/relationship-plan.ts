import { isDeepStrictEqual } from 'node:util';
import type { ManagedTransaction } from 'neo4j-driver';
import { readRelationships, relationshipId, type StoredRelationship } from '../store/relationships.js';
import { isSameValidity } from '../store/validity.js';
import { merged, orderedValidity, type EntityPlan } from './entity-plan.js';
import type { EntityRef, SaveInput } from './input.js';
import { problem, type InputPath } from './problems.js';

export interface PlannedRelationship extends StoredRelationship {
  action: 'create' | 'update' | 'unchanged';
  fromType: string;
  toType: string;
  place: InputPath;
}

/**
 * Plans the changes to relationships.
 * @throws AppError `invalid_input` if an end is not an entity of the project
 */
export async function planRelationships(
  tx: ManagedTransaction,
  projectId: string,
  relationships: SaveInput['relationships'],
  entities: EntityPlan,
): Promise<PlannedRelationship[]> {
  const ends = relationships.map((each, at) => ({
    from: endOf(entities, each.from, ['relationships', at, 'from']),
    to: endOf(entities, each.to, ['relationships', at, 'to']),
  }));
  const keys = relationships.map(({ type }, at) => ({
    from: ends[at]?.from.id ?? '',
    type,
    to: ends[at]?.to.id ?? '',
  }));
  const stored = new Map(
    (await readRelationships(tx, projectId, keys)).map((each) => [relationshipId(each.from, each.type, each.to), each]),
  );
  const planned = new Map<string, PlannedRelationship>();
  for (const [at, key] of keys.entries()) {
    const id = relationshipId(key.from, key.type, key.to);
    const earlier = planned.get(id);
    const known = earlier ?? stored.get(id);
    const properties = merged(known?.properties, relationships[at]?.properties ?? {});
    const place: InputPath = ['relationships', at];
    const validity = orderedValidity(known, relationships[at], place);
    const same =
      known && isSameValidity(known, validity) && isDeepStrictEqual({ ...known.properties }, { ...properties });
    const action = same
      ? (earlier?.action ?? 'unchanged')
      : earlier?.action === 'create' || !known
        ? 'create'
        : 'update';
    const types = { fromType: ends[at]?.from.type ?? '', toType: ends[at]?.to.type ?? '' };
    planned.set(id, { ...key, id, properties, ...validity, action, ...types, place });
  }
  return [...planned.values()];
}

function endOf(entities: EntityPlan, ref: EntityRef, place: InputPath) {
  const entity = entities.resolve(ref, place);
  if (!entity) throw problem(place, 'is not an entity of this project');
  return entity;
}
