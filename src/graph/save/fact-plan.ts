import type { ManagedTransaction } from 'neo4j-driver';
import { newId } from '../../ids.js';
import { readFacts, type StoredFact } from '../store/facts.js';
import { reconcile } from '../store/reconcile.js';
import { startBefore } from '../store/validity.js';
import type { EntityPlan } from './entity-plan.js';
import type { EntityRef, SaveInput } from './input.js';
import { problem, type InputPath } from './problems.js';

/** A fact of the input. `stamp` replaces the stamp of the save, for facts with their own provenance. */
export type GivenFact = SaveInput['facts'][number] & { stamp?: Record<string, unknown> };

export interface FactPlan {
  /** The number of facts in the input, including known ones. */
  count: number;
  /** The superseded facts. `by` is the id of the replacing fact, if there is one. */
  superseded: (StoredFact & { by: string | null })[];
  created: StoredFact[];
  /** The number of facts with another object that end where a new one begins. */
  closed: number;
  /** The names of the entities in the facts, for full text. */
  names: Map<string, string>;
}

interface Context {
  entities: EntityPlan;
  multiValued: ReadonlySet<string>;
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
  // Values of a multi-valued predicate do not affect each other, so each has its own key.
  const keyOf = ({ subject, predicate, object }: StoredFact) =>
    JSON.stringify([subject, predicate, ...(context.multiValued.has(predicate) ? [object] : [])]);
  const known = new Map<string, StoredFact[]>();
  for (const fact of await readFacts(tx, projectId, distinct(statements))) {
    const sameKey = known.get(keyOf(fact)) ?? [];
    sameKey.push(fact);
    known.set(keyOf(fact), sameKey);
  }
  const superseded = new Map<string, StoredFact>();
  const created = new Map<string, StoredFact>();
  const closed = new Set<string>();
  const successors = new Map<string, string>();
  for (const statement of statements) {
    const sameKey = known.get(keyOf(statement)) ?? [];
    const change = reconcile(sameKey, statement);
    const replacedIds = new Set(change.superseded.map(({ id }) => id));
    const whole = newId();
    for (const id of replacedIds) successors.set(id, whole);
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
    superseded: [...superseded.values()].map((fact) => ({ ...fact, by: successorOf(fact.id, successors, created) })),
    created: [...created.values()],
    closed: closed.size,
    names,
  };
}

/** Returns whether this planned fact is the remaining part of a closed one. */
export function isRemainder({ stamp }: StoredFact): boolean {
  return stamp._closed_by !== undefined;
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
  const subject = termOf(fact.subject, [...place, 'subject'], context.entities, names);
  const object =
    typeof fact.object === 'string' || typeof fact.object === 'object'
      ? termOf(fact.object, [...place, 'object'], context.entities, names)
      : fact.object;
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
function termOf(ref: EntityRef, place: InputPath, entities: EntityPlan, names: Map<string, string>): string {
  const entity = entities.resolve(ref);
  if (!entity) {
    if (typeof ref === 'object') throw problem(place, 'is not an entity of this project');
    return ref;
  }
  names.set(entity.id, entity.name);
  return entity.id;
}
