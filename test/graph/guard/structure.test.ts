import { describe, expect, test } from '@jest/globals';
import { randomInt } from 'node:crypto';
import { isAppError } from '../../../src/base/errors.js';
import { lex, parse } from '../../../src/graph/guard/cypher-parser.js';
import { guardQuery } from '../../../src/graph/guard/guard.js';
import { child, compact, nameOf, quoted, whereOf, type Tree } from '../../../src/graph/guard/tree.js';
import { sizeOf } from '../../requirements/full-forms.js';
import { verifies } from '../../support/verifies.js';
import { attacks } from './attacks.js';
import { honestQueries } from './honest.js';
import { generated, mutated, randomOf } from './mutations.js';

const seed = Number(process.env.GUARD_FUZZ_SEED ?? randomInt(2 ** 31));
const corpus = [...attacks, ...honestQueries]
  .map(({ query }) => query.replaceAll('{{W}}', 'w'))
  .filter((query) => query.length < 600);
const containers = new Set([
  'matchClause',
  'existsExpression',
  'countExpression',
  'patternComprehension',
  'parenthesizedPath',
]);

/**
 * Parses the rewritten text again and returns the unbound elements: a condition in the scope of each pattern must bind
 * each of its elements.
 */
function unboundIn(text: string): string[] {
  const unbound: string[] = [];
  const visit = (tree: Tree, conditions: string[], path: string | null): void => {
    if (containers.has(tree.rule)) conditions = conditionsOf(tree);
    if (tree.rule === 'patternExpression' || tree.rule === 'shortestPathExpression')
      unbound.push(`${tree.rule} ${compact(tree)}`);
    if (tree.rule === 'pattern' || tree.rule === 'patternComprehension') path = pathOf(tree) ?? path;
    if (tree.rule === 'nodePattern' || tree.rule === 'relationshipPattern') {
      const wanted = child(tree, 'pathLength') ? pathConditions(path) : [elementCondition(tree)];
      // The surrounding scope can bind elements in parentheses without a quantifier.
      if (!wanted.every((each) => conditions.some((condition) => condition.includes(each))))
        unbound.push(compact(tree));
    }
    const around = tree.rule === 'parenthesizedPath' && !child(tree, 'quantifier') ? conditions : null;
    for (const each of tree.children) visit(each, around ? [...around] : conditions, path);
  };
  visit(parse(lex(text)), [], null);
  return unbound;
}

function conditionsOf(tree: Tree): string[] {
  const condition = whereOf(tree);
  if (!condition) return [];
  return (condition.rule === 'expression10' ? condition.children : [condition])
    .filter((each) => each.rule !== 'AND')
    .map(compact);
}

function elementCondition(tree: Tree): string {
  const variable = child(tree, 'variable');
  return variable ? `${quoted(nameOf(variable))}.project_idIN$__guard_scope` : 'a name';
}

function pathOf(tree: Tree): string | null {
  const variable = child(tree, 'variable');
  return variable && tree.children.some((each) => each.rule === 'EQ') ? quoted(nameOf(variable)) : null;
}

const pathConditions = (path: string | null) => [`INnodes(${path})WHERE`, `INrelationships(${path})WHERE`];

function unboundOrError(text: string): unknown[] {
  try {
    return unboundIn(text);
  } catch (error) {
    return [String(error)];
  }
}

function rewritten(query: string): string | null {
  try {
    return guardQuery(query).text.replace(/^CYPHER 5 /, '');
  } catch (error) {
    if (isAppError(error) && error.code === 'invalid_input') return null;
    throw error;
  }
}

describe('query guard: rewritten text', () => {
  test.each(corpus)('binds every element: %s', (query) => {
    verifies('gateway.query.never-leaves-project');
    const text = rewritten(query);
    expect(text === null ? [] : unboundIn(text)).toEqual([]);
  });

  test(`binds every element of fuzzed queries, and refuses or rewrites them without errors (GUARD_FUZZ_SEED=${seed})`, () => {
    verifies('gateway.query.never-leaves-project');
    const random = randomOf(seed);
    let rewrittenCount = 0;
    const end = performance.now() + sizeOf('GUARD_FUZZ_MS') / 2;
    for (let count = 0; count < 4000 && (performance.now() < end || rewrittenCount <= 10); count += 1) {
      const made = random.chance(0.6) ? generated(random) : mutated(random, random.pick(corpus), random.pick(corpus));
      const query = made.replaceAll('{{W}}', 'w');
      const text = rewritten(query);
      if (text === null) continue;
      rewrittenCount += 1;
      expect({ query, text, unbound: unboundOrError(text) }).toEqual({ query, text, unbound: [] });
    }
    console.log(`guard structure fuzz: seed ${seed}, ${rewrittenCount} rewritten`);
    expect(rewrittenCount).toBeGreaterThan(10);
  });

  test('passes the guard again unchanged: rewriting keeps the original text', () => {
    verifies('gateway.query.honest-pass');
    expect(
      rewritten("MATCH (n:Person {name: 'A'}) WHERE n.project_id = $project_id RETURN n . name ,  n.age + 1  AS `x y`"),
    ).toBe(
      "MATCH (`n` :Person {`name`: 'A'}) WHERE `n`.project_id IN $__guard_scope AND (n.project_id = $project_id) RETURN n . name ,  n.age + 1  AS `x y`",
    );
  });
});
