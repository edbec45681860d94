import { beforeAll, describe, expect, test } from '@jest/globals';
import { queryContext } from '../../src/domain/tools/query-context.js';
import { saveContext } from '../../src/domain/tools/save-context.js';
import { looksLikeNaturalLanguage } from '../../src/graph/guard/natural-language.js';
import { unwrapped } from '../../src/graph/guard/unwrap.js';
import { prepareGraph } from '../../src/graph/store/schema.js';
import { useDeps } from '../support/fixture.js';
import { verifies } from '../support/verifies.js';
import { call, contextOf, toolWith } from './tool-call.js';

const cypher = 'MATCH (p:Person) WHERE p.project_id = $project_id RETURN p.name AS name';

describe('a text that contains a query', () => {
  test.each([
    ['a fence', `\`\`\`cypher\n${cypher}\n\`\`\``],
    ['a fence without a language', `\`\`\`\n${cypher}\n\`\`\``],
    [
      'a fence between explanations',
      `Here is the query:\n\n\`\`\`cypher\n${cypher}\n\`\`\`\n\nIt returns the names of all people.`,
    ],
    ['a label', `Cypher: ${cypher}`],
    ['a word', `cypher ${cypher}`],
    ['a version', `CYPHER 5 ${cypher}`],
    ['a sentence with a colon', `Here is the query:\n${cypher}`],
    ['a sentence without a colon', `I would run this\n${cypher}`],
    ['reasoning', `<think>The user wants MATCH.</think>\n${cypher}`],
    ['brackets', `(${cypher})`],
    ['code marks', `\`${cypher}\``],
    ['an explanation after it', `${cypher}\n\nThis returns the names of all people.`],
  ])('is that query: %s', (_, text) => {
    verifies('gateway.query.wrapped-cypher');
    expect(unwrapped(text)).toBe(cypher);
  });

  test('is refused if the query stands among other words', () => {
    verifies('gateway.query.wrapped-cypher');
    expect(() => unwrapped(`I think that ${cypher} is right`)).toThrow(/Send the query alone/);
  });

  test.each([
    'Which match did they return to in 2019 (the final)?',
    'Notes: with whom did Tom act?',
    'Show the match (the last one), and return of investment',
    'What does ```SELECT 1``` do?',
    'Explain how the return of goods works',
    'Question: who are you?',
    'Who said: "return to me"?',
  ])('is not any question: %s', (text) => {
    verifies('gateway.query.wrapped-cypher');
    expect(looksLikeNaturalLanguage(unwrapped(text))).toBe(true);
  });
});

describe('the rows of a query', () => {
  const deps = useDeps();
  const save = toolWith(deps, saveContext);
  const query = toolWith(deps, queryContext);
  const ctx = contextOf();

  beforeAll(async () => {
    await prepareGraph(deps.graph);
    await call(save, ctx, {
      entities: [{ id: 'a', type: 'Person', name: 'Ann', properties: { age: 7, sizes: [1, 2] } }],
    });
  });

  test('keep numbers that JavaScript cannot express, as texts', async () => {
    verifies('gateway.query.exact-numbers');
    const text = `${cypher.replace('RETURN p.name AS name', '')} RETURN 9007199254740993 AS a, 2000 * 10000000000000 AS b, 1.0 / 0 AS c,
      -1.0 / 0 AS d, 0.0 / 0 AS e, 42 AS f, [9007199254740993, 1] AS g, {x: 9007199254740993} AS h, p`;
    const answer = await call(query, ctx, { query: text, timeout_ms: 30_000 });
    expect(answer.rows[0]).toMatchObject({
      ...{ a: '9007199254740993', b: '20000000000000000', c: 'Infinity', d: '-Infinity', e: 'NaN', f: 42 },
      ...{ g: ['9007199254740993', 1], h: { x: '9007199254740993' }, p: { properties: { age: 7, sizes: [1, 2] } } },
    });
    expect(answer.entities[0]).toMatchObject({ id: 'a', properties: { age: 7, sizes: [1, 2] } });
  });
});
