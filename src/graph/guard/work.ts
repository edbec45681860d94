import { largestGraph, smallestGraph, type GraphSizes } from './graph-sizes.js';
import { refuse } from './refusal.js';
import { aggregates, matchesOf, variablesIn } from './rows.js';
import {
  elementIn,
  heaviestOf,
  largerOf,
  largestParameter,
  listOf,
  scalar,
  sizeOfValue,
  textOf,
  type Size,
} from './sizes.js';
import { child, childrenOf, compact, excerptOf, find, hasRule, nameOf, whereOf, type Tree } from './tree.js';
import type { Weighed, Weighing } from './weighing.js';
import { weigh } from './work-expressions.js';

/*
 * Limits the work of the database between two points where it can stop. It can stop at each row of a pattern, but
 * only at about every hundredth row of UNWIND, and never inside an expression. So one row of a clause may take at
 * most `maxSteps`, and a clause with more than `pauseSteps` gets a pause before it (`clauses.ts`).
 */
export const maxSteps = 20_000_000;
const pauseSteps = 50_000;

const serviceParameters: ReadonlyMap<string, Size> = new Map([
  ['project_id', textOf(100)],
  ['project_ids', listOf(500, textOf(100))],
]);

/**
 * Weighs the query independently of its parameters and of the graph. Refuses what is always too much work and returns
 * the clauses that need a pause.
 */
export function weighText(query: Tree): ReadonlySet<Tree> {
  new WorkEstimate(smallestGraph, () => scalar, true).subquery(query, new Map());
  const largest = new WorkEstimate(largestGraph, () => largestParameter, false);
  try {
    largest.subquery(query, new Map());
    return largest.heavy;
  } catch {
    // Only some parameters or graphs make the query too expensive. `weighCall` checks the actual ones.
    return allClauses(query);
  }
}

/**
 * Weighs the query with its parameters.
 * @param graph what the query can read
 * @throws AppError `invalid_input` if they make the work or a value too large
 */
export function weighCall(query: Tree, params: Readonly<Record<string, unknown>>, graph: GraphSizes): void {
  const sizes = new Map(Object.entries(params).map(([name, value]) => [name, sizeOfValue(value)]));
  new WorkEstimate(graph, (name) => sizes.get(name) ?? scalar, true).subquery(query, new Map());
}

function allClauses(query: Tree): ReadonlySet<Tree> {
  const clauses = new Set<Tree>();
  const visit = (tree: Tree): void => {
    if (tree.rule === 'clause' && tree.children[0]) clauses.add(tree.children[0]);
    tree.children.forEach(visit);
  };
  visit(query);
  return clauses;
}

/** What is known between two clauses. */
interface Stage {
  variables: Map<string, Size>;
  /** The variables that a pattern does not search for. Those of an outer query may not be visible here. */
  bound: Set<string>;
  /** The maximum number of rows. */
  rows: number;
}

class WorkEstimate {
  readonly heavy = new Set<Tree>();
  /** The number of steps since the last pause, over all clauses in text order. */
  private sincePause = 0;

  constructor(
    private readonly graph: GraphSizes,
    private readonly given: (name: string) => Size,
    private readonly refuses: boolean,
  ) {}

  private weighing(variables: ReadonlyMap<string, Size>, rows: number): Weighing {
    return {
      graph: this.graph,
      rows,
      variables,
      parameter: (name) => serviceParameters.get(name) ?? this.given(name),
      subquery: (query, outer) => this.subquery(query, outer),
      pattern: (tree, names) => this.pattern(tree, names, rows),
    };
  }

  subquery(
    query: Tree,
    outer: ReadonlyMap<string, Size>,
    visible: Iterable<string> = outer.keys(),
  ): Weighed & { rows: number; columns: ReadonlyMap<string, Size> } {
    const columns = new Map<string, Size>();
    let steps = 0;
    let rows = 0;
    for (const single of childrenOf(query, 'singleQuery')) {
      const stage: Stage = { variables: new Map(outer), bound: new Set(visible), rows: 1 };
      for (const { children } of childrenOf(single, 'clause')) {
        if (children[0]) steps += this.weighInTurn(children[0], stage);
      }
      // Each branch of a UNION may return the largest value of a column.
      for (const [name, size] of stage.variables) columns.set(name, largerOf(columns.get(name) ?? size, size));
      rows += stage.rows;
    }
    return { size: [...columns.values()][0] ?? scalar, steps, rows, columns };
  }

  private weighInTurn(clause: Tree, stage: Stage): number {
    const taken = this.weighClause(clause, stage);
    this.sincePause += taken;
    if (this.sincePause > pauseSteps) {
      this.heavy.add(clause);
      this.sincePause = 0;
    }
    if (taken > maxSteps && this.refuses) {
      throw refuse(
        `«${excerptOf(clause)}» may take ${Math.round(taken)} steps in one row; at most ${maxSteps} are allowed: ${hintFor(clause)}`,
      );
    }
    return taken;
  }

  private weighClause(clause: Tree, stage: Stage): number {
    const { variables } = stage;
    switch (clause.rule) {
      case 'matchClause': {
        const patterns = childrenOf(child(clause, 'patternList') ?? clause, 'pattern');
        stage.rows *= matchesOf(patterns, stage.bound, this.graph);
        const steps = this.pattern(clause, variables, stage.rows) + this.conditionSteps(clause, variables, stage.rows);
        for (const name of variablesIn(patterns)) stage.bound.add(name);
        return steps;
      }
      case 'unwindClause': {
        const list = clause.children[1];
        const { size, steps } = list ? weigh(list, this.weighing(variables, stage.rows)) : { size: scalar, steps: 1 };
        const name = nameOf(clause.children.at(-1) ?? clause);
        variables.set(name, heaviestOf(size));
        stage.bound.add(name);
        // Any value but null or an empty list gives a row.
        stage.rows *= Math.max(1, size.length);
        return steps;
      }
      case 'subqueryClause': {
        const query = child(clause, 'regularQuery');
        if (!query) return 1;
        const { columns, rows } = this.subquery(query, variables, importedBy(clause, variables));
        for (const [name, size] of columns) {
          stage.bound.add(name);
          if (!variables.has(name)) variables.set(name, size);
        }
        stage.rows *= rows;
        return 1;
      }
      default:
        return this.projection(clause, stage);
    }
  }

  /**
   * Weighs WITH and RETURN. Later clauses can use only the projected items. ORDER BY and WHERE can also use the
   * previous variables.
   */
  private projection(clause: Tree, stage: Stage): number {
    const { variables, rows } = stage;
    const body = child(clause, 'returnBody');
    const items = body && child(body, 'returnItems');
    if (!body || !items) return 1;
    const after = new Map<string, Size>(hasRule(items, 'TIMES') ? variables : []);
    let steps = 1;
    for (const item of childrenOf(items, 'returnItem')) {
      const expression = item.children[0];
      if (!expression) continue;
      const weighed = weigh(expression, this.weighing(variables, rows));
      steps += weighed.steps;
      after.set(hasRule(item, 'AS') ? nameOf(item.children.at(-1) ?? item) : nameOf(expression), weighed.size);
    }
    const both = new Map([...variables, ...after]);
    for (const rule of ['orderBy', 'skip', 'limit']) {
      const part = child(body, rule);
      if (part) steps += weigh(part, this.weighing(both, rows)).steps;
    }
    steps += this.conditionSteps(clause, both, rows);
    stage.variables = after;
    stage.bound = new Set(hasRule(items, 'TIMES') ? [...stage.bound, ...after.keys()] : after.keys());
    stage.rows = Math.min(rowsOfItems(items, rows), literalOf(child(body, 'limit')));
    return steps;
  }

  private conditionSteps(tree: Tree, variables: Map<string, Size>, rows: number): number {
    const where = whereOf(tree);
    return where ? weigh(where, this.weighing(variables, rows)).steps : 1;
  }

  /** Weighs a pattern. Declares its variables first, because any condition may use them. */
  private pattern(tree: Tree, variables: Map<string, Size>, rows: number): number {
    declare(tree, variables, this.graph);
    return this.insidePattern(tree, variables, rows);
  }

  private insidePattern(tree: Tree, variables: Map<string, Size>, rows: number): number {
    let steps = 0;
    for (const each of tree.children) {
      if (each.token || each.rule === 'whereClause') continue;
      if (['properties', 'nodePattern', 'relationshipPattern', 'parenthesizedPath'].includes(each.rule)) {
        if (each.rule === 'properties') steps += weigh(each.children[0] ?? each, this.weighing(variables, rows)).steps;
        else steps += this.conditionSteps(each, variables, rows);
      }
      if (patternRules.has(each.rule)) steps += this.insidePattern(each, variables, rows);
    }
    return steps;
  }
}

/** Returns the variables that a CALL imports before its first clause. Without a list, its first WITH imports them. */
function importedBy(call: Tree, variables: ReadonlyMap<string, Size>): string[] {
  const scope = child(call, 'subqueryScope');
  if (!scope) return [];
  return hasRule(scope, 'TIMES') ? [...variables.keys()] : childrenOf(scope, 'variable').map(nameOf);
}

/** Returns the advice for a clause that may take too many steps. */
function hintFor(clause: Tree): string {
  return find(clause, 'REGEQ')
    ? 'use CONTAINS, STARTS WITH or ENDS WITH instead of =~, with toLower() to ignore case'
    : 'use shorter lists and texts, or MATCH and UNWIND instead of lists in lists';
}

/** Returns the maximum number of rows after a projection. Without a grouping key, an aggregation returns one row. */
function rowsOfItems(items: Tree, rows: number): number {
  if (hasRule(items, 'TIMES')) return rows;
  const expressions = childrenOf(items, 'returnItem').flatMap(({ children }) => children.slice(0, 1));
  return expressions.every(aggregates) ? 1 : rows;
}

/** Returns the number of a LIMIT, or infinity unless it is a literal. */
function literalOf(limit: Tree | undefined): number {
  const text = limit ? compact(limit.children.at(-1) ?? limit).replaceAll('_', '') : '';
  return /^\d+$/.test(text) ? Number(text) : Infinity;
}

const patternRules = new Set([
  'patternList',
  'pattern',
  'anonymousPattern',
  'shortestPathPattern',
  'patternElement',
  'pathPatternNonEmpty',
  'nodePattern',
  'relationshipPattern',
  'parenthesizedPath',
]);
const maxRepetition = 15;

/** Adds the variables of the pattern and returns the number of elements in a path. */
function declare(tree: Tree, variables: Map<string, Size>, graph: GraphSizes, repeated = false): number {
  let elements = 0;
  tree.children.forEach((each, index) => {
    if (!patternRules.has(each.rule)) return;
    const many =
      repeated ||
      tree.children[index + 1]?.rule === 'quantifier' ||
      hasRule(each, 'quantifier') ||
      hasRule(each, 'pathLength');
    const within = declare(each, variables, graph, many);
    const isElement = each.rule === 'nodePattern' || each.rule === 'relationshipPattern';
    const length = isElement ? (many ? maxRepetition : 1) : within;
    elements += length;
    const variable = child(each, 'variable');
    if (!variable) return;
    if (isElement) variables.set(nameOf(variable), many ? listOf(length, elementIn(graph)) : elementIn(graph));
    else variables.set(nameOf(variable), pathOf(length));
  });
  const path = tree.rule === 'patternComprehension' ? child(tree, 'variable') : undefined;
  if (path) variables.set(nameOf(path), pathOf(elements));
  return elements;
}

function pathOf(elements: number): Size {
  return { length: elements, weight: Math.max(1, elements), each: 1, depth: 0 };
}
