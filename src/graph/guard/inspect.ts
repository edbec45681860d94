import { allowedFunctions, allowedRules, refusedRules } from './language.js';
import { refuse } from './refusal.js';
import { child, childrenOf, compact, nameOf, walk, type Tree } from './tree.js';

export interface QueryBounds {
  maxPatterns: number;
  /** Elements of one range(), and the length of a list that a text may make out of nothing. */
  maxRange: number;
  /** Comprehensions, reduce and list predicates, one inside the other. */
  maxIterationDepth: number;
}

/** Refuses what the service's part of Cypher does not have, and what makes much out of little. Answers the parameters. */
export function inspect(statement: Tree, bounds: QueryBounds): Set<string> {
  const parameters = new Set<string>();
  let patterns = 0;
  walk(statement, (tree) => {
    if (tree.token) return;
    const refusal = refusedRules[tree.rule];
    if (refusal) throw refuse(refusal);
    if (!allowedRules.has(tree.rule)) throw refuse(`The query language of this service does not have «${excerpt(tree)}»`);
    if (tree.rule === 'nodePattern' || tree.rule === 'relationshipPattern') patterns += 1;
    if (tree.rule === 'parameter') parameters.add(parameterOf(tree));
    if (tree.rule === 'properties' && child(tree, 'parameter')) throw refuse('A pattern takes its properties one by one, not as a parameter');
    if (tree.rule === 'functionInvocation') checkFunction(tree, bounds);
    if (tree.rule === 'reduceExpression') checkReduce(tree);
  });
  if (patterns > bounds.maxPatterns) throw refuse(`The query has more than ${bounds.maxPatterns} nodes and relationships in its patterns`);
  checkIterationDepth(statement, bounds.maxIterationDepth, 0);
  checkGrowth(statement);
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

/** In lower case, as built-in functions are met in any. */
export function functionOf(tree: Tree): string {
  const name = child(tree, 'functionName');
  return name ? compact(name).replaceAll('`', '').toLowerCase() : '';
}

export function argumentsOf(tree: Tree): Tree[] {
  return childrenOf(tree, 'functionArgument').flatMap((each) => each.children);
}

function checkFunction(tree: Tree, bounds: QueryBounds): void {
  const name = functionOf(tree);
  if (!allowedFunctions.has(name)) throw refuse(`The function ${name} is not allowed`);
  if (name === 'exists' && argumentsOf(tree)[0]?.rule !== 'patternExpression') {
    throw refuse('exists() takes a pattern; write IS NOT NULL for a property');
  }
  if (name === 'range') checkRange(argumentsOf(tree), bounds);
}

/** The database does not stop inside one expression, so an unbounded range would outlive the timeout. */
function checkRange(parts: Tree[], { maxRange }: QueryBounds): void {
  const [from, to, step] = parts.map((each) => Number(compact(each).replaceAll('_', '')));
  if (from !== undefined && to !== undefined && !Number.isNaN(from + to + (step ?? 1))) {
    if (Math.abs(to - from) / Math.max(1, Math.abs(step ?? 1)) > maxRange) throw refuse(`range() may have at most ${maxRange} elements`);
    return;
  }
  if (!parts.every(isBoundedByData)) {
    throw refuse('range() takes whole numbers written out, or size() and length() with + and -');
  }
}

function isBoundedByData(tree: Tree): boolean {
  if (tree.rule === 'literal') return Number(compact(tree)) <= 1000;
  if (tree.rule === 'functionInvocation') return ['size', 'length'].includes(functionOf(tree));
  if (tree.rule === 'parenthesizedExpression') return tree.children.slice(1, -1).every(isBoundedByData);
  if (tree.rule !== 'expression6' && tree.rule !== 'expression3') return false;
  return tree.children.every((each) => each.rule === 'PLUS' || each.rule === 'MINUS' || isBoundedByData(each));
}

function checkReduce(tree: Tree): void {
  const accumulator = child(tree, 'variable');
  const body = tree.children.at(-2);
  if (accumulator && body && uses(body, nameOf(accumulator)) > 1) {
    throw refuse('The body of reduce() may use what it accumulates once');
  }
}

function uses(tree: Tree, name: string): number {
  let count = 0;
  walk(tree, (each) => {
    if (each.rule === 'variable' && nameOf(each) === name) count += 1;
  });
  return count;
}

const iterations = new Set(['listComprehension', 'reduceExpression', 'listItemsPredicate']);

function checkIterationDepth(tree: Tree, most: number, depth: number): void {
  const here = iterations.has(tree.rule) ? depth + 1 : depth;
  if (here > most) throw refuse(`Lists may be walked at most ${most} deep, one inside the other`);
  for (const each of tree.children) checkIterationDepth(each, most, here);
}

const maxDoublings = 4;

/** `x + x`, clause after clause, doubles a text or a list each time. A net with a wide mesh: see the timeout and the memory limit. */
function checkGrowth(statement: Tree): void {
  let doublings = 0;
  walk(statement, (tree) => {
    if (tree.rule !== 'expression6') return;
    const names = tree.children.flatMap((each) => [...wholeVariablesIn(each)]);
    doublings += names.length - new Set(names).size;
  });
  if (doublings > maxDoublings) throw refuse(`A value may be added to itself at most ${maxDoublings} times`);
}

/** Variables that stand for themselves, not for one of their properties. */
function wholeVariablesIn(tree: Tree): Set<string> {
  const names = new Set<string>();
  walk(tree, (each) => {
    if (each.rule === 'expression2' && each.children[0]?.rule === 'variable') return false;
    if (each.rule === 'variable') names.add(nameOf(each));
    return true;
  });
  return names;
}
