import type { ManagedTransaction } from 'neo4j-driver';
import { checkEntity } from '../ontology/check.js';
import type { OntologyDefinition } from '../ontology/definition.js';
import { readEntities, writeEntities, type StoredEntity, type WriteOptions } from '../store/entities.js';
import { readFacts, type StoredFact } from '../store/facts.js';
import type { JsonMap } from '../store/values.js';
import type { FactPlan } from './fact-plan.js';

interface Options extends WriteOptions {
  definitions: readonly (OntologyDefinition | null)[];
  stamp: Record<string, unknown>;
  now: number;
  /** Facts that were removed before, in the same transaction. */
  removed: readonly StoredFact[];
}

/**
 * Gives the properties that facts have stated the values of the current facts, after the facts are written. A property that
 * no fact has stated stays as another save wrote it, and so does one whose type does not allow the value.
 */
export async function followValues(
  tx: ManagedTransaction,
  projectId: string,
  { stated, superseded }: Pick<FactPlan, 'stated' | 'superseded'>,
  { definitions, stamp, now, removed, ...options }: Options,
): Promise<void> {
  const touched = [...stated, ...superseded, ...removed];
  if (touched.length === 0) return;
  const ids = [...new Set(touched.map(({ subject }) => subject))];
  const { byId } = await readEntities(tx, projectId, { ids, names: [] });
  const withProperty = byId.flatMap((entity) => {
    const own = touched.filter(
      ({ subject, predicate }) => subject === entity.id && isScalar(entity.properties[predicate]),
    );
    return own.length > 0 ? [{ entity, predicates: [...new Set(own.map(({ predicate }) => predicate))] }] : [];
  });
  const pairs = withProperty.flatMap(({ entity, predicates }) =>
    predicates.map((predicate) => ({ subject: entity.id, predicate })),
  );
  const known = await readFacts(tx, projectId, pairs);
  const changed = withProperty.flatMap(({ entity, predicates }) => {
    const properties: JsonMap = { ...entity.properties };
    for (const predicate of predicates) {
      const isOwn = (fact: StoredFact) => fact.subject === entity.id && fact.predicate === predicate;
      const value = valueOf(
        entity.properties[predicate],
        known.filter(isOwn),
        [...superseded, ...removed].filter(isOwn),
        now,
      );
      if (value === undefined) continue;
      const next = Object.fromEntries(
        Object.entries({ ...properties, [predicate]: value }).filter(([, each]) => each !== null),
      );
      if (isAllowed({ ...entity, properties: next }, definitions)) Object.assign(properties, { [predicate]: value });
      if (properties[predicate] === null) delete properties[predicate];
    }
    const isChanged = predicates.some((predicate) => properties[predicate] !== entity.properties[predicate]);
    return isChanged ? [{ ...entity, properties, stamp }] : [];
  });
  await writeEntities(tx, projectId, changed, options);
}

/** Returns the value that the property gets, null if it is removed, or undefined if it stays. */
function valueOf(
  before: unknown,
  known: readonly StoredFact[],
  gone: readonly StoredFact[],
  now: number,
): StoredFact['object'] | null | undefined {
  const isStated = [...known, ...gone].some(({ object }) => Object.is(object, before));
  const current = known.filter((each) => each.valid_from <= now && now < (each.valid_to ?? Infinity));
  if (!isStated || current.some(({ object }) => Object.is(object, before))) return undefined;
  return current.at(-1)?.object ?? null;
}

function isAllowed(entity: StoredEntity, definitions: readonly (OntologyDefinition | null)[]): boolean {
  return definitions.every((definition) => checkEntity(definition, entity).length === 0);
}

function isScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
