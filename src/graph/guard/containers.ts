import { bindTrimmed, type Binding } from './bind.js';
import { bindPattern } from './patterns.js';
import { conjunctsOf, isTotalCondition } from './total.js';
import type { Tree } from './tree.js';
import { addPatternVariables, copyOf, type Scope } from './variables.js';

/** A construct with patterns and one WHERE: MATCH, EXISTS, COUNT, a pattern comprehension or a quantified path. */
export interface Container {
  /** The conditions that restrict each element. All of them hold for each resulting row. */
  conditions: Set<string>;
  /** The user conditions that can fail, which are moved out of the patterns. */
  guarded: string[];
  elements: Set<string>;
}

export const scopeParameter = '__guard_scope';

/**
 * Returns the condition that restricts an element, given as the text of its variable. Elements of a variable-length
 * path have the place `path`.
 */
export type InScope = (element: string, place: 'node' | 'relationship' | 'path') => string;

export const inScope: InScope = (element) => `${element}.project_id IN $${scopeParameter}`;

export function newContainer(patterns: Tree, scope: Scope): Container {
  const within = copyOf(scope);
  addPatternVariables(patterns, within);
  return { conditions: new Set(), guarded: [], elements: within.elements };
}

/**
 * Renders the patterns and fills the container.
 * @param path the path variable if it is outside of the pattern
 */
export function bindPatterns(patterns: Tree, container: Container, binding: Binding, path?: Tree): string {
  const within = { ...binding, scope: { ...binding.scope, elements: container.elements } };
  if (patterns.rule !== 'patternList') return bindPattern(patterns, container, within, path);
  return patterns.children
    .filter((each) => each.rule === 'pattern')
    .map((each) => bindPattern(each, container, within))
    .join(', ');
}

/**
 * Builds the WHERE of a container: the restrictions, the user conditions that cannot fail, and the other conditions
 * in a CASE after the restrictions. The database evaluates a CASE in order, so those conditions never see elements
 * outside the scope.
 */
export function conditionText(container: Container, where: Tree | undefined, binding: Binding): string {
  const within = { ...binding, scope: { ...binding.scope, elements: container.elements } };
  const plain = [...container.conditions, ...totalConditions(where, container, within)];
  if (container.guarded.length > 0) {
    const guarded = container.guarded.join(' AND ');
    plain.push(`CASE WHEN ${[...container.conditions].join(' AND ')} THEN ${guarded} ELSE false END`);
  }
  return plain.join(' AND ');
}

/** Returns the user conditions that cannot fail, and adds the other ones to `guarded`. */
export function totalConditions(where: Tree | undefined, container: Container, binding: Binding): string[] {
  const total: string[] = [];
  for (const conjunct of where ? conjunctsOf(where) : []) {
    const text = `(${bindTrimmed(conjunct, binding)})`;
    if (isTotalCondition(conjunct, container.elements)) total.push(text);
    else container.guarded.push(text);
  }
  return total;
}
