import { allowedFunctions, allowedRules, refusedRules } from './language.js';
import { internalProperties } from '../store/names.js';
import { refuse } from './refusal.js';
import { child, childrenOf, compact, isOperator, nameOf, walk, type Tree } from './tree.js';

/** The limits of the contents of a query. */
export const contentLimits = {
  patterns: 100,
  /** The maximum number of elements of a range(), and the maximum length of a list that a query may generate. */
  range: 10_000,
  /** The maximum nesting of comprehensions, reduce() and list predicates. */
  iterationDepth: 3,
  /** The database cannot process a query with thousands of chained operands. */
  operands: 1000,
};

/** Refuses unsupported constructs, and short queries that would generate large results. Returns the parameter names. */
export function inspect(statement: Tree): Set<string> {
  const parameters = new Set<string>();
  let patterns = 0;
  walk(statement, (tree) => {
    if (tree.token) return;
    const refusal = refusedRules[tree.rule];
    if (refusal) throw refuse(refusal);
    if (!allowedRules.has(tree.rule))
      throw refuse(`The query language of this service does not support «${excerpt(tree)}»`);
    if (tree.rule === 'nodePattern' || tree.rule === 'relationshipPattern') patterns += 1;
    if (tree.rule === 'parameter') parameters.add(parameterOf(tree));
    if (tree.rule === 'properties' && child(tree, 'parameter'))
      throw refuse('Write the properties of a pattern one by one: a parameter for all of them is not allowed');
    if (tree.rule === 'functionInvocation') checkFunction(tree);
    if (tree.rule === 'property') checkProperty(tree);
    if (isOperator(tree) && tree.children.length > contentLimits.operands)
      throw refuse(`An expression may have at most ${contentLimits.operands} operators and operands in a row`);
  });
  if (patterns > contentLimits.patterns)
    throw refuse(`The query has more than ${contentLimits.patterns} nodes and relationships in its patterns`);
  checkIterationDepth(statement, 0);
  return parameters;
}

function parameterOf(tree: Tree): string {
  const name = child(tree, 'parameterName');
  return name ? nameOf(name) : '';
}

function excerpt(tree: Tree): string {
  const text = compact(tree);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** Returns the function name in lower case, because the names of built-in functions are case-insensitive. */
export function functionOf(tree: Tree): string {
  const name = child(tree, 'functionName');
  return name ? compact(name).replaceAll('`', '').toLowerCase() : '';
}

export function argumentsOf(tree: Tree): Tree[] {
  return childrenOf(tree, 'functionArgument').flatMap((each) => each.children);
}

function checkFunction(tree: Tree): void {
  const name = functionOf(tree);
  if (!allowedFunctions.has(name)) throw refuse(`The function ${name} is not allowed`);
  if (name === 'exists' && argumentsOf(tree)[0]?.rule !== 'patternExpression') {
    throw refuse('exists() requires a pattern; for a property, use IS NOT NULL');
  }
  if (name === 'range') checkRange(argumentsOf(tree));
}

/** Refuses the properties in which the service stores its own data about an element. */
function checkProperty(tree: Tree): void {
  const key = child(tree, 'propertyKeyName');
  const name = key ? nameOf(key) : '';
  if (internalProperties.has(name)) throw refuse(`The property ${name} belongs to the service and cannot be read`);
}

/** Refuses an unbounded range. The database cannot stop inside an expression, so it would exceed the timeout. */
function checkRange(parts: Tree[]): void {
  const [from, to, step] = parts.map((each) => Number(compact(each).replaceAll('_', '')));
  if (from !== undefined && to !== undefined && !Number.isNaN(from + to + (step ?? 1))) {
    if (Math.abs(to - from) / Math.max(1, Math.abs(step ?? 1)) > contentLimits.range)
      throw refuse(`range() may have at most ${contentLimits.range} elements`);
    return;
  }
  if (!parts.every(isBoundedByData)) {
    throw refuse('The arguments of range() must be integer literals, or size() and length() with + and -');
  }
}

function isBoundedByData(tree: Tree): boolean {
  if (tree.rule === 'literal') return Number(compact(tree)) <= 1000;
  if (tree.rule === 'functionInvocation') return ['size', 'length'].includes(functionOf(tree));
  if (tree.rule === 'parenthesizedExpression') return tree.children.slice(1, -1).every(isBoundedByData);
  if (tree.rule !== 'expression6' && tree.rule !== 'expression3') return false;
  return tree.children.every((each) => each.rule === 'PLUS' || each.rule === 'MINUS' || isBoundedByData(each));
}

const iterations = new Set(['listComprehension', 'reduceExpression', 'listItemsPredicate']);

function checkIterationDepth(tree: Tree, depth: number): void {
  const here = iterations.has(tree.rule) ? depth + 1 : depth;
  if (here > contentLimits.iterationDepth)
    throw refuse(`Lists may be iterated at most ${contentLimits.iterationDepth} levels deep`);
  for (const each of tree.children) checkIterationDepth(each, here);
}
