import type { OntologyDefinition, OntologyProperty } from '../ontology/definition.js';
import type { StoredFact } from '../store/facts.js';
import { overlap } from '../store/reconcile.js';
import { saysOnlyEnd } from '../store/validity.js';

/** How many values a predicate has at one time. The facts themselves decide what the ontology does not declare. */
export type DeclaredValues = (predicate: string) => 'one' | 'several' | 'undeclared';

/** Relationships have several values unless their type is single-valued. */
export function declaredValues(ontology: OntologyDefinition | null): DeclaredValues {
  const types = [...Object.values(ontology?.entity_types ?? {}), ...Object.values(ontology?.relationship_types ?? {})];
  const namesWhere = (holds: (property: OntologyProperty) => boolean) =>
    types.flatMap(({ properties }) =>
      Object.entries(properties)
        .filter(([, property]) => holds(property))
        .map(([name]) => name),
    );
  const relationships = Object.entries(ontology?.relationship_types ?? {});
  const several = new Set([
    ...namesWhere(({ multi_valued }) => multi_valued),
    ...relationships.filter(([, type]) => !type.single_valued).map(([name]) => name),
  ]);
  const one = new Set([
    ...namesWhere(({ single_valued }) => single_valued === true),
    ...relationships.filter(([, type]) => type.single_valued).map(([name]) => name),
  ]);
  // If two types declare one name differently, nothing is lost.
  return (predicate) => (several.has(predicate) ? 'several' : one.has(predicate) ? 'one' : 'undeclared');
}

/**
 * Returns whether the facts of one subject and predicate show that it can have several values at a time: different values
 * are known for one time, or one text or call states them for the same time.
 */
export function showSeveralValues(known: readonly StoredFact[], stated: readonly StoredFact[]): boolean {
  const values = stated.filter((each) => !saysOnlyEnd(each));
  const together = (a: StoredFact) => [...values, ...known].some((b) => isOther(a, b) && isStatedTogether(a, b));
  return overlapInTime(known) || values.some(together);
}

function isOther(a: StoredFact, b: StoredFact): boolean {
  return !Object.is(a.object, b.object);
}

/** Returns whether different values are valid at one time. The facts are in the order of their start. */
function overlapInTime(facts: readonly StoredFact[]): boolean {
  let longest: StoredFact | undefined;
  for (const fact of facts) {
    if (longest && isOther(longest, fact) && overlap(longest, fact)) return true;
    if (!longest || (fact.valid_to ?? Infinity) > (longest.valid_to ?? Infinity)) longest = fact;
  }
  return false;
}

/** The text or the call that states a fact. Facts of one text can be written by several calls. */
function originOf({ stamp }: StoredFact): unknown {
  return stamp._memory_id ?? stamp._lifecycle_id;
}

/** Returns whether one text or call states both for the same time: both begin then, or one before the other's end. */
function isStatedTogether(a: StoredFact, b: StoredFact): boolean {
  if (originOf(a) !== originOf(b)) return false;
  const [first, second] = a.valid_from <= b.valid_from ? [a, b] : [b, a];
  return first.valid_from === second.valid_from || (first.valid_to !== null && second.valid_from < first.valid_to);
}
