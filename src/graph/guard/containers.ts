import { bindTrimmed, type Binding } from './bind.js';
import { bindPattern } from './patterns.js';
import { conjunctsOf, isTotalCondition } from './total.js';
import type { Tree } from './tree.js';
import { addPatternVariables, copyOf, type Scope } from './variables.js';

/** A place with patterns and one WHERE: MATCH, EXISTS, COUNT, a pattern comprehension, a quantified path. */
export interface Container {
  /** What binds each element; all of them hold for each row that leaves the container. */
  conditions: Set<string>;
  /** Conditions of the caller that can fail, taken out of the patterns. */
  guarded: string[];
  elements: Set<string>;
}

export const scopeParameter = '__guard_scope';

/** The condition that binds an element, by the text of its variable; one that is met on a path of variable length is on a `path`. */
export type InScope = (element: string, place: 'node' | 'relationship' | 'path') => string;

export const inScope: InScope = (element) => `${element}.project_id IN $${scopeParameter}`;

export function newContainer(patterns: Tree, scope: Scope): Container {
  const within = copyOf(scope);
  addPatternVariables(patterns, within);
  return { conditions: new Set(), guarded: [], elements: within.elements };
}

/** Writes the patterns and fills the container. `path` is the path variable where it stands outside of the pattern. */
export function bindPatterns(patterns: Tree, container: Container, binding: Binding, path?: Tree): string {
  const within = { ...binding, scope: { ...binding.scope, elements: container.elements } };
  if (patterns.rule !== 'patternList') return bindPattern(patterns, container, within, path);
  return patterns.children
    .filter((each) => each.rule === 'pattern')
    .map((each) => bindPattern(each, container, within))
    .join(', ');
}

/**
 * The container's WHERE: the bindings, the caller's conditions that cannot fail, and the others behind the bindings in
 * a CASE, which the database evaluates in order, so that they meet nothing from outside the scope.
 */
export function conditionText(container: Container, where: Tree | undefined, binding: Binding): string {
  const within = { ...binding, scope: { ...binding.scope, elements: container.elements } };
  const plain = [...container.conditions];
  const guarded = [...container.guarded];
  for (const conjunct of where ? conjunctsOf(where) : []) {
    const text = `(${bindTrimmed(conjunct, within)})`;
    if (isTotalCondition(conjunct, container.elements)) plain.push(text);
    else guarded.push(text);
  }
  if (guarded.length > 0) {
    plain.push(`CASE WHEN ${[...container.conditions].join(' AND ')} THEN ${guarded.join(' AND ')} ELSE false END`);
  }
  return plain.join(' AND ');
}
