import { argumentsOf, functionOf } from './inspect.js';
import { refuse } from './refusal.js';
import { patternIn, regexSteps } from './regex.js';
import { matchesOf } from './rows.js';
import {
  averageOf,
  aggregatedOf,
  heaviestOf,
  combinedSize,
  elementIn,
  largerOf,
  listOf,
  propertyOf,
  scalar,
  textOf,
  type Size,
} from './sizes.js';
import { child, childrenOf, compact, excerptOf, hasRule, nameOf, whereOf, type Tree } from './tree.js';
import type { Variables, Weighed, Weighing } from './weighing.js';
import { additionOf, comparisonSteps, functionWork, membershipSteps, search } from './work-functions.js';

/** The maximum weight of a value that an expression may create. */
export const maxWeight = 30_000_000;

const one: Weighed = { size: scalar, steps: 1 };

/**
 * Computes upper bounds for the size of an expression's value and its steps per row. The database can stop between
 * rows and when it reads a stored element, but not while it processes a list or text.
 */
export function weigh(tree: Tree, at: Weighing): Weighed {
  const weighed = (rules[tree.rule] ?? eachPart)(tree, at);
  if (weighed.size.weight > maxWeight) {
    throw refuse(
      `The value of «${excerptOf(tree)}» may grow to ${Math.round(weighed.size.weight)} characters and elements; at most ${maxWeight} are allowed`,
    );
  }
  return weighed;
}

type Rule = (tree: Tree, at: Weighing) => Weighed;

const rules: Readonly<Record<string, Rule>> = {
  variable: (tree, { variables, graph }) => ({
    size: variables.get(nameOf(tree)) ?? aggregatedOf(elementIn(graph), Infinity),
    steps: 1,
  }),
  parameter: (tree, at) => {
    const name = child(tree, 'parameterName');
    return { size: at.parameter(name ? nameOf(name) : ''), steps: 1 };
  },
  numberLiteral: () => one,
  stringLiteral: (tree) => ({ size: textOf(compact(tree).length), steps: 1 }),
  countStar: () => one,
  listLiteral: collectionOf,
  map: collectionOf,
  mapProjection: (tree, at) => {
    const parts = eachPart(tree, at);
    return {
      size: { ...parts.size, depth: Math.max(2, parts.size.depth), stored: undefined },
      steps: parts.steps + 250,
    };
  },
  expression2: postfix,
  expression3: calculation,
  expression4: calculation,
  expression5: calculation,
  expression6: (tree, at) => inTurn(tree, at, additionOf),
  expression7: comparison,
  expression8: (tree, at) =>
    inTurn(tree, at, (a, b) => ({ size: largerOf(a, b), steps: comparisonSteps(a, b) }), scalar),
  functionInvocation: (tree, at) => {
    if (functionOf(tree) === 'range') return { size: listOf(rangeLength(argumentsOf(tree), at), scalar), steps: 1 };
    const args = argumentsOf(tree).map((each) => weigh(each, at));
    const { size, steps } = functionWork(
      functionOf(tree),
      args.map((each) => each.size),
      at,
    );
    return { size, steps: steps + args.reduce((sum, each) => sum + each.steps, 0) };
  },
  trimFunction: (tree, at) => scanned(tree, at, 1),
  // One character may become eighteen characters.
  normalizeFunction: (tree, at) => scanned(tree, at, 18),
  caseExpression: oneOfParts,
  extendedCaseExpression: oneOfParts,
  listComprehension: (tree, at) => {
    const { size, steps, variable } = walked(at, loopParts(tree));
    const result = child(tree, 'BAR') ? tree.children.at(-2) : undefined;
    if (!result) return { size, steps };
    const made = (element: Size) =>
      weigh(result, { ...at, variables: withVariable(at.variables, variable, element) }).size;
    const [average, heaviest] = [made(averageOf(size)), made(heaviestOf(size))];
    const whole = listOf(size.length, heaviest);
    return {
      size: heaviest.stored ? whole : { ...whole, weight: size.length * average.weight + heaviest.weight },
      steps,
    };
  },
  listItemsPredicate: (tree, at) => ({ size: scalar, steps: walked(at, loopParts(tree)).steps }),
  reduceExpression: reduced,
  patternComprehension: (tree, at) => {
    const variables = new Map(at.variables);
    const steps = at.pattern(tree, variables);
    const within = { ...at, variables };
    const where = whereOf(tree);
    const result = tree.children.at(-2);
    const made = result ? weigh(result, within) : one;
    const pattern = child(tree, 'pathPatternNonEmpty');
    const rows = pattern ? matchesOf([pattern], at.variables.keys(), at.graph) : 1;
    return {
      size: aggregatedOf(made.size, rows),
      steps: steps + (where ? weigh(where, within).steps : 0) + made.steps,
    };
  },
  existsExpression: (tree, at) => ({ size: scalar, steps: subquerySteps(tree, at).steps }),
  countExpression: (tree, at) => ({ size: scalar, steps: subquerySteps(tree, at).steps }),
  collectExpression: (tree, at) => {
    const { size, steps, rows } = subquerySteps(tree, at);
    return { size: aggregatedOf(size, rows), steps };
  },
  patternExpression: (tree, at) => ({ size: scalar, steps: at.pattern(tree, new Map(at.variables)) }),
};

function expressionsIn(tree: Tree): Tree[] {
  return tree.children.filter(
    (each) => each.token === null && !['propertyKeyName', 'type', 'labelExpression'].includes(each.rule),
  );
}

/** Weighs an expression without its own rule: adds the steps of all parts and combines their sizes. */
function eachPart(tree: Tree, at: Weighing): Weighed {
  if (tree.token) return one;
  const parts = expressionsIn(tree).map((each) => weigh(each, at));
  if (parts.length === 1 && parts[0]) return { size: parts[0].size, steps: parts[0].steps + 1 };
  return {
    size: parts.reduce((size, part) => combinedSize(size, part.size), scalar),
    steps: parts.reduce((sum, { steps }) => sum + steps, 1),
  };
}

function calculation(tree: Tree, at: Weighing): Weighed {
  return { size: scalar, steps: eachPart(tree, at).steps };
}

function oneOfParts(tree: Tree, at: Weighing): Weighed {
  const parts = expressionsIn(tree).map((each) =>
    each.rule.endsWith('Alternative') ? oneOfParts(each, at) : weigh(each, at),
  );
  return {
    size: parts.reduce((size, part) => largerOf(size, part.size), scalar),
    steps: parts.reduce((sum, { steps }) => sum + steps, 1),
  };
}

function collectionOf(tree: Tree, at: Weighing): Weighed {
  const parts = expressionsIn(tree).map((each) => weigh(each, at));
  const weight = parts.reduce((sum, { size }) => sum + size.weight, tree.children.length);
  const each = parts.reduce((size, part) => largerOf(size, part.size), parts[0]?.size ?? scalar);
  return { size: { ...listOf(parts.length, each), weight }, steps: parts.reduce((sum, { steps }) => sum + steps, 1) };
}

function scanned(tree: Tree, at: Weighing, growth: number): Weighed {
  const { size, steps } = eachPart(tree, at);
  return { size: textOf(size.weight * growth), steps: steps + (size.weight * growth) / 8 };
}

/** Combines operands from left to right. */
function inTurn(tree: Tree, at: Weighing, operation: (a: Size, b: Size) => Weighed, result?: Size): Weighed {
  const [first = one, ...rest] = expressionsIn(tree).map((each) => weigh(each, at));
  const whole = rest.reduce((left, right) => {
    const { size, steps } = operation(left.size, right.size);
    return { size, steps: left.steps + right.steps + steps };
  }, first);
  return result ? { ...whole, size: result } : whole;
}

function postfix(tree: Tree, at: Weighing): Weighed {
  const [base, ...rest] = tree.children;
  let { size, steps } = base ? weigh(base, at) : one;
  for (const each of rest) {
    const key = child(child(each, 'property') ?? each, 'propertyKeyName');
    for (const index of expressionsIn(each)) if (index.rule !== 'property') steps += weigh(index, at).steps;
    if (key) size = propertyOf(size, nameOf(key));
    else if (hasRule(each, 'labelExpression')) size = scalar;
    else if (hasRule(each, 'LBRACKET') && !hasRule(each, 'DOTDOT'))
      size = size.stored && size.depth === 0 ? propertyOf(size, undefined) : heaviestOf(size);
    steps += 1;
  }
  return { size, steps };
}

function comparison(tree: Tree, at: Weighing): Weighed {
  const [operand, operator] = tree.children;
  if (!operand || !operator) return one;
  const left = weigh(operand, at);
  const last = operator.children.at(-1);
  const right = last && last.token === null && last.rule !== 'type' ? weigh(last, at) : one;
  const steps = left.steps + right.steps;
  const kind = operator.children[0]?.rule;
  if (kind === 'REGEQ') return { size: scalar, steps: steps + regexSteps(patternIn(last), left.size.weight) };
  if (kind === 'IN') return { size: scalar, steps: steps + membershipSteps(left.size, right.size) };
  if (kind === 'CONTAINS') return { size: scalar, steps: steps + search([left.size, right.size]) };
  return { size: scalar, steps: steps + comparisonSteps(left.size, right.size) };
}

interface Loop {
  variable: string;
  list: Tree | undefined;
  body: Tree[];
}

function loopParts(tree: Tree): Loop {
  const at = tree.children.findIndex((each) => each.rule === 'IN');
  return {
    variable: nameOf(tree.children[at - 1] ?? tree),
    list: tree.children[at + 1],
    body: tree.children.slice(at + 2).filter((each) => each.token === null),
  };
}

/**
 * Weighs a loop. If the steps of the body depend on the element, the total is at most the average cost for each element
 * plus the cost of the heaviest one.
 */
function walked(at: Weighing, { variable, list, body }: Loop): Weighed & { variable: string } {
  const over = list ? weigh(list, at) : one;
  const stepsFor = (element: Size) => {
    const within = { ...at, variables: withVariable(at.variables, variable, element) };
    return body.reduce((sum, each) => sum + weigh(each, within).steps, 1);
  };
  const length = Math.max(1, over.size.length);
  const steps = over.steps + length * stepsFor(averageOf(over.size)) + stepsFor(heaviestOf(over.size));
  return { size: over.size, variable, steps };
}

function reduced(tree: Tree, at: Weighing): Weighed {
  const [accumulator = '', variable = ''] = childrenOf(tree, 'variable').map(nameOf);
  const [init, list, body] = expressionsIn(tree).filter((each) => each.rule !== 'variable' || !isDeclared(tree, each));
  if (!init || !list || !body) return one;
  const [start, over] = [weigh(init, at), weigh(list, at)];
  const after = (before: Size, element: Size) =>
    weigh(body, { ...at, variables: withVariable(withVariable(at.variables, accumulator, before), variable, element) });
  const [average, heaviest] = [averageOf(over.size), heaviestOf(over.size)];
  const larger = { ...start.size, length: start.size.length + probe, weight: start.size.weight + probe };
  const growth = after(start.size, average).size.weight - start.size.weight;
  if (after(larger, average).size.weight - larger.weight > Math.max(growth, 0) + 1) {
    throw refuse('The body of reduce() may only add to the accumulator: it cannot multiply or repeat it');
  }
  const gain =
    over.size.length * Math.max(0, growth) + Math.max(0, after(start.size, heaviest).size.weight - start.size.weight);
  const made = after(start.size, heaviest).size;
  const end = { ...largerOf(start.size, made), length: start.size.length + gain, weight: start.size.weight + gain };
  if (end.weight > maxWeight) return { size: end, steps: 1 };
  return {
    size: end,
    steps: start.steps + over.steps + over.size.length * (1 + after(end, average).steps) + after(end, heaviest).steps,
  };
}

const probe = 100_000;

/** Returns whether the variable is declared at this position, directly before `=` or IN. */
function isDeclared(tree: Tree, variable: Tree): boolean {
  const next = tree.children[tree.children.indexOf(variable) + 1]?.rule;
  return next === 'EQ' || next === 'IN';
}

/** Returns the length of a range of literal numbers, or of `size()` and `length()` with + and - (`inspect.ts`). */
function rangeLength(args: readonly Tree[], at: Weighing): number {
  const numbers = args.map((each) => Number(compact(each).replaceAll('_', '')));
  const [from, to, step = 1] = numbers;
  if (from !== undefined && to !== undefined && !numbers.some(Number.isNaN))
    return Math.floor(Math.abs(to - from) / Math.max(1, Math.abs(step))) + 1;
  return args.reduce((sum, each) => sum + boundOf(each, at), 1);
}

function boundOf(tree: Tree, at: Weighing): number {
  if (tree.rule === 'literal') return Math.abs(Number(compact(tree).replaceAll('_', '')));
  if (tree.rule === 'functionInvocation')
    return argumentsOf(tree).reduce((sum, each) => sum + weigh(each, at).size.length, 0);
  return expressionsIn(tree).reduce((sum, each) => sum + boundOf(each, at), 0);
}

function subquerySteps(tree: Tree, at: Weighing): Weighed & { rows: number } {
  const query = child(tree, 'regularQuery');
  if (query) return at.subquery(query, at.variables);
  const variables = new Map(at.variables);
  const patterns = child(tree, 'patternList');
  const where = whereOf(tree);
  const steps = patterns ? at.pattern(patterns, variables) : 0;
  return { size: scalar, steps: steps + (where ? weigh(where, { ...at, variables }).steps : 0), rows: 1 };
}

function withVariable(variables: Variables, name: string, size: Size): Variables {
  return new Map(variables).set(name, size);
}
