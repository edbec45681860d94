import type { GraphSizes } from './graph-sizes.js';
import { mostHops } from './hops.js';
import { functionOf } from './inspect.js';
import { child, isOperator, nameOf, walk, type Tree } from './tree.js';

/**
 * Returns the maximum number of matches of patterns in one row.
 * @param known the variables of the row
 */
export function matchesOf(patterns: readonly Tree[], known: Iterable<string>, graph: GraphSizes): number {
  const bound = new Set(known);
  return patterns.reduce((matches, pattern) => {
    const nodes = nodesIn(pattern);
    const isBound = nodes.some((name) => bound.has(name));
    for (const name of nodes) bound.add(name);
    return matches * matchesOfPath(mostHops(pattern), isBound, graph);
  }, 1);
}

function matchesOfPath(hops: number, isBound: boolean, { nodes, ends, degree }: GraphSizes): number {
  // A path of variable length may end after each relationship: the sum is at most (1 + degree) to the power of hops.
  if (isBound) return (1 + degree) ** hops;
  return hops === 0 ? nodes : (nodes + ends) * (1 + degree) ** (hops - 1);
}

/** Returns the variables of the nodes in patterns. */
export function variablesIn(patterns: readonly Tree[]): string[] {
  return patterns.flatMap(nodesIn);
}

function nodesIn(pattern: Tree): string[] {
  const names: string[] = [];
  walk(pattern, (tree) => {
    if (tree.rule === 'nodePattern') {
      const variable = child(tree, 'variable');
      if (variable) names.push(nameOf(variable));
    }
    return !['properties', 'whereClause'].includes(tree.rule) && !isOperator(tree);
  });
  return names;
}

const aggregations = new Set('avg collect count max min percentilecont percentiledisc stdev stdevp sum'.split(' '));

/** Returns whether the expression aggregates rows. */
export function aggregates(expression: Tree): boolean {
  let found = false;
  walk(expression, (tree) => {
    if (tree.rule === 'countStar') found = true;
    if (tree.rule === 'functionInvocation' && aggregations.has(functionOf(tree))) found = true;
    // A subquery aggregates its own rows.
    return !found && tree.rule !== 'regularQuery';
  });
  return found;
}
