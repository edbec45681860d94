import type { ManagedTransaction } from 'neo4j-driver';
import { newId } from '../../base/ids.js';
import type { StoredEntity } from '../store/entities.js';
import { readFacts, type StoredFact } from '../store/facts.js';
import { reconcile, type StatementEffect } from '../store/reconcile.js';
import { startBefore } from '../store/validity.js';
import type { EntityPlan } from './entity-plan.js';
import type { EntityRef, SaveInput } from './input.js';
import { problem, type InputPath } from './problems.js';
import { showSeveralValues, type DeclaredValues } from './several-values.js';

/** A fact of the input. `stamp` replaces the stamp of the save, for facts with their own provenance. */
export type GivenFact = SaveInput['facts'][number] & { stamp?: Record<string, unknown> };

export interface FactPlan {
  /** The number of facts in the input, including known ones. */
  count: number;
  /** The number of facts in the input by what they do. */
  effects: Record<StatementEffect, number>;
  /** The superseded facts. `by` is the id of the replacing fact, if there is one. */
  superseded: (StoredFact & { by: string | null })[];
  created: StoredFact[];
  /** The facts of the input. */
  stated: StoredFact[];
  /** The number of facts with another object that end where a new one begins. */
  closed: number;
  /** The names of the entities in the facts, for full text. */
  names: Map<string, string>;
}

interface Context {
  entities: EntityPlan;
  declared: DeclaredValues;
  stamp: Record<string, unknown>;
  now: number;
}

/** Plans the changes that the given facts make to known facts, in input order. */
export async function planFacts(
  tx: ManagedTransaction,
  projectId: string,
  facts: readonly GivenFact[],
  context: Context,
): Promise<FactPlan> {
  const names = new Map<string, string>();
  const statements = facts.map((fact, at) => statementOf(fact, ['facts', at], context, names));
  const stored = await readFacts(tx, projectId, distinct(statements));
  const keyOf = keysOf(stored, statements, context.declared);
  const known = groupedBy(keyOf, stored);
  const effects = { created: 0, changed: 0, ended: 0, unchanged: 0 };
  const superseded = new Map<string, StoredFact>();
  const created = new Map<string, StoredFact>();
  const closed = new Set<string>();
  const successors = new Map<string, string>();
  for (const statement of statements) {
    const sameKey = known.get(keyOf(statement)) ?? [];
    const change = reconcile(sameKey, statement);
    effects[change.effect] += 1;
    const replacedIds = new Set(change.superseded.map(({ id }) => id));
    const whole = newId();
    const isReplaced = change.stated.some(({ of }) => of === undefined);
    if (isReplaced) for (const id of replacedIds) successors.set(id, whole);
    for (const fact of sameKey.filter(({ id }) => replacedIds.has(id))) {
      if (!Object.is(fact.object, statement.object)) closed.add(fact.id);
      // Facts that this call created were never stored.
      if (!created.delete(fact.id)) superseded.set(fact.id, fact);
    }
    const added = change.stated.map(({ of: rest, ...each }) => {
      const before = sameKey.find(({ id }) => id === rest?.id);
      if (!before) return { ...statement, ...each, id: whole };
      return { ...statement, ...each, id: newId(), stamp: { ...before.stamp, _closed_by: whole } };
    });
    for (const fact of added) created.set(fact.id, fact);
    known.set(keyOf(statement), [...sameKey.filter(({ id }) => !replacedIds.has(id)), ...added]);
  }
  return {
    count: statements.length,
    effects,
    superseded: [...superseded.values()].map((fact) => ({ ...fact, by: successorOf(fact.id, successors, created) })),
    created: [...created.values()],
    stated: statements,
    closed: closed.size,
    names,
  };
}

type KeyOf = (fact: StoredFact) => string;

/** Facts with the same key can contradict each other. If a predicate has several values, each value has its own key. */
function keysOf(stored: readonly StoredFact[], statements: readonly StoredFact[], declared: DeclaredValues): KeyOf {
  const pairOf: KeyOf = ({ subject, predicate }) => JSON.stringify([subject, predicate]);
  const known = groupedBy(pairOf, stored);
  const several = new Set(
    [...groupedBy(pairOf, statements)].flatMap(([pair, stated]) => {
      const values = declared(stated[0]?.predicate ?? '');
      const hasSeveral =
        values === 'several' || (values === 'undeclared' && showSeveralValues(known.get(pair) ?? [], stated));
      return hasSeveral ? [pair] : [];
    }),
  );
  return (fact) => {
    const pair = pairOf(fact);
    return several.has(pair) ? JSON.stringify([pair, fact.object]) : pair;
  };
}

function groupedBy(keyOf: KeyOf, facts: readonly StoredFact[]): Map<string, StoredFact[]> {
  const groups = new Map<string, StoredFact[]>();
  for (const fact of facts) {
    const group = groups.get(keyOf(fact));
    if (group) group.push(fact);
    else groups.set(keyOf(fact), [fact]);
  }
  return groups;
}

/** Returns the stored fact that replaces this one. Facts between them existed only during the call. */
function successorOf(
  id: string,
  successors: ReadonlyMap<string, string>,
  created: ReadonlyMap<string, unknown>,
): string | null {
  let at = successors.get(id);
  while (at !== undefined && !created.has(at)) at = successors.get(at);
  return at ?? null;
}

function distinct(statements: readonly { subject: string; predicate: string }[]) {
  return [
    ...new Map(
      statements.map(({ subject, predicate }) => [JSON.stringify([subject, predicate]), { subject, predicate }]),
    ).values(),
  ];
}

function statementOf(fact: GivenFact, place: InputPath, context: Context, names: Map<string, string>): StoredFact {
  const { subject: subjectRef, object: value } = fact;
  const subjectPlace: InputPath = [...place, 'subject'];
  const subject = termOf(subjectRef, context.entities.resolve(subjectRef, subjectPlace), subjectPlace, names);
  const isTerm = typeof value === 'string' || typeof value === 'object';
  const objectPlace: InputPath = [...place, 'object'];
  const object = isTerm ? termOf(value, context.entities.resolveValue(value, objectPlace), objectPlace, names) : value;
  return {
    id: '',
    subject,
    predicate: fact.predicate,
    object,
    confidence: fact.confidence,
    valid_from: fact.valid_from ?? startBefore(fact.valid_to, context.now),
    valid_to: fact.valid_to ?? null,
    stamp: fact.stamp ?? context.stamp,
  };
}

/** Returns the id of the entity, or the text itself if it names no entity. A type and name must identify an entity. */
function termOf(
  ref: EntityRef,
  entity: StoredEntity | undefined,
  place: InputPath,
  names: Map<string, string>,
): string {
  if (!entity) {
    if (typeof ref === 'object') throw problem(place, 'is not an entity of this project');
    return ref;
  }
  names.set(entity.id, entity.name);
  return entity.id;
}
