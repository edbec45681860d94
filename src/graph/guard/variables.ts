import { child, childrenOf, hasRule, isOperator, nameOf, quoted, type Tree } from './tree.js';
import { refuse } from './refusal.js';
import { reservedPrefix } from './text-bounds.js';

/** The variables that a clause can use, and whether they include variables of the guard. */
export interface Scope {
  variables: Set<string>;
  /** The variables that are certain to be nodes or relationships. */
  elements: Set<string>;
  holdsOurs: boolean;
}

export function emptyScope(): Scope {
  return { variables: new Set(), elements: new Set(), holdsOurs: false };
}

export function copyOf(scope: Scope): Scope {
  return { variables: new Set(scope.variables), elements: new Set(scope.elements), holdsOurs: scope.holdsOurs };
}

/** Generates names for anonymous elements. */
export class Names {
  private used = 0;

  fresh(): string {
    this.used += 1;
    return quoted(`${reservedPrefix}_${this.used}`);
  }

  /** Releases the names after an item of RETURN or ORDER BY, so that both render an expression identically. */
  within<T>(item: () => T): T {
    const before = this.used;
    const result = item();
    this.used = before;
    return result;
  }

  get count(): number {
    return this.used;
  }
}

/** Adds the variables of a pattern to the scope, in order. */
export function addPatternVariables(tree: Tree, scope: Scope, grouped = false): void {
  if (tree.rule === 'properties' || isOperator(tree) || tree.rule === 'whereClause') return;
  if (['nodePattern', 'relationshipPattern', 'pattern'].includes(tree.rule)) {
    const variable = child(tree, 'variable');
    if (variable) {
      scope.variables.add(nameOf(variable));
      if (!grouped && tree.rule !== 'pattern' && !child(tree, 'pathLength')) scope.elements.add(nameOf(variable));
      else scope.elements.delete(nameOf(variable));
    }
    if (tree.rule !== 'pattern') return;
  }
  tree.children.forEach((each, index) => {
    const quantified = tree.children[index + 1]?.rule === 'quantifier';
    addPatternVariables(
      each,
      scope,
      grouped || quantified || (tree.rule === 'parenthesizedPath' && hasRule(tree, 'quantifier')),
    );
  });
}

/**
 * Returns the scope after WITH, or the columns of RETURN. Omits items without a name, whose column name is their
 * text.
 */
export function projected(items: Tree, before: Scope): Scope {
  const after = hasRule(items, 'TIMES') ? copyOf(before) : emptyScope();
  if (hasRule(items, 'TIMES')) after.holdsOurs = false;
  for (const item of childrenOf(items, 'returnItem')) {
    const expression = item.children[0];
    const alias = hasRule(item, 'AS') ? item.children.at(-1) : child(item, 'variable');
    if (!alias || !expression) continue;
    const name = nameOf(alias);
    after.variables.add(name);
    if (expression.rule === 'variable' && before.elements.has(nameOf(expression))) after.elements.add(name);
    else after.elements.delete(name);
  }
  return after;
}

/** Replaces `*` by the user's variables if it would include variables of the guard. */
export function starOf(scope: Scope): string {
  if (!scope.holdsOurs) return '*';
  if (scope.variables.size === 0) throw refuse('* needs at least one variable in scope');
  return [...scope.variables].sort().map(quoted).join(', ');
}
