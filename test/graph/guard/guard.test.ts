import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import neo4j, { type Driver } from 'neo4j-driver';
import { createQueryGuard, guardQuery, parametersFor } from '../../../src/graph/guard/guard.js';
import { looksLikeNaturalLanguage } from '../../../src/graph/guard/natural-language.js';
import { createReadPlanCheck } from '../../../src/graph/guard/read-plan.js';
import { textLimits } from '../../../src/graph/guard/text-bounds.js';
import { testRun } from '../../support/run.js';
import { verifies } from '../../support/verifies.js';

const filter = 'n.project_id = $project_id';
const refused = expect.objectContaining({ code: 'invalid_input' });
const refusal = (query: string) => {
  try {
    guardQuery(query);
    return 'none';
  } catch (error) {
    expect(error).toEqual(refused);
    return (error as Error).message;
  }
};

describe('guardQuery', () => {
  test.each([
    `MATCH (n) WHERE ${filter} RETURN n`,
    `OPTIONAL MATCH (n) WHERE ${filter} RETURN n`,
    `WITH 1 AS x MATCH (n) WHERE ${filter} RETURN n`,
    `UNWIND [1] AS x MATCH (n) WHERE ${filter} RETURN n`,
    'RETURN EXISTS { (n {project_id: $project_id}) } AS x',
    `CALL { MATCH (n) WHERE ${filter} RETURN n } RETURN n`,
    `  /* first */ match (n) where ${filter} return n`,
  ])('accepts a read clause at the beginning: %s', (query) => {
    verifies('gateway.query.read-clause');
    expect(guardQuery(query).text).toMatch(/^CYPHER 5 /);
  });

  test('refuses a write clause at any position', () => {
    verifies('gateway.query.write-clause');
    for (const query of [
      'CREATE (n)',
      'MERGE (n)',
      'DELETE n',
      'DETACH DELETE n',
      'SET n.x = 1',
      'REMOVE n.x',
      'FOREACH (x IN [1] | CREATE ())',
      'LOAD CSV FROM "x" AS l RETURN l',
    ]) {
      expect(refusal(query)).toMatch(/only read/);
      expect(refusal(`MATCH (n) WHERE ${filter} ${query}`)).toMatch(/only read|not valid|LOAD CSV/);
    }
  });

  test('requires the filter of the specification in a condition or in a pattern', () => {
    verifies('gateway.query.project-filter');
    for (const query of [
      'MATCH (n) RETURN n',
      "MATCH (n) WHERE n.project_id = 'p' RETURN n",
      'MATCH (n) WHERE n.other = $project_id RETURN n',
      'MATCH (n) RETURN n.project_id = $project_id AS x',
    ]) {
      expect(refusal(query)).toMatch(/must filter on project_id/);
    }
    expect(guardQuery('MATCH (n) WHERE n.project_id IN $project_ids RETURN n').usesProjectIds).toBe(true);
    expect(guardQuery('MATCH (n {`project_id`: $project_id}) RETURN n').usesProjectIds).toBe(false);
  });

  test('refuses procedures, functions outside the list and LOAD CSV, and names them', () => {
    verifies('gateway.query.procedures');
    expect(refusal('CALL db.labels()')).toMatch(/Procedures/);
    expect(refusal(`MATCH (n) WHERE ${filter} RETURN apoc.text.join([], '') AS x`)).toMatch(/apoc\.text\.join/);
    expect(refusal(`MATCH (n) WHERE ${filter} LOAD CSV FROM 'file:///x' AS l RETURN l`)).toMatch(/LOAD CSV/);
  });

  test('reports where a text stops being Cypher', () => {
    expect(refusal(`MATCH (n) WHERE ${filter} RETURNED n`)).toMatch(
      /^The query is not valid at «RETURNED», character 44\. /,
    );
    expect(refusal(`MATCH (n) WHERE ${filter}`)).toMatch(/must end with RETURN/);
    expect(refusal(`MATCH (n) WHERE ${filter} RETURN`)).toMatch(/^The query ends too early\. /);
  });

  test.each(['Match the customers of Oslo', 'With whom does Acme work?', 'Call me when Acme pays', 'return policy'])(
    'says that it read a question as Cypher, and how to ask it: %s',
    (question) => {
      verifies('gateway.query.read-as-cypher');
      const word = question.split(' ')[0]?.toUpperCase();
      expect(refusal(question)).toMatch(
        new RegExp(
          `(not valid at|ends too early|must filter).*read as Cypher because it begins with ${word}; to ask in natural language, begin with another word`,
        ),
      );
    },
  );

  test('reports columns and parameters', () => {
    const query = guardQuery(
      `MATCH (n) WHERE ${filter} AND n.age > $age RETURN n . name, COUNT { (n)--() }, n AS \`the node\` LIMIT 3`,
    );
    expect(query).toMatchObject({ columns: ['n . name', 'COUNT { (n)--() }', 'the node'], usesProjectIds: false });
    expect([...query.parameters]).toEqual(['project_id', 'age']);
    expect(guardQuery(`MATCH (n) WHERE ${filter} WITH n LIMIT 3 RETURN *`)).toMatchObject({ columns: null });
  });

  test('limits open paths to the maximum length and refuses longer ones', () => {
    const bound = (path: string) => guardQuery(`MATCH (n {project_id: $project_id})${path}(m) RETURN m`).text;
    expect(bound('-[*]->')).toContain('*1..15');
    expect(bound('-[*3..]->')).toContain('*3..15');
    expect(bound('-[*..4]->')).toContain('*1..4');
    expect(bound('-[*2]->')).toContain('*2]');
    expect(bound('-[:X]->+')).toContain('{1,15}');
    expect(bound('-->*')).toContain('{0,15}');
    expect(bound('-->{,3}')).toContain('{0,3}');
    for (const path of ['-[*16]->', '-[*1..16]->', '-->{16}', '-->{2,99}', '-[*99..]->']) {
      expect(refusal(`MATCH (n {project_id: $project_id})${path}(m) RETURN m`)).toMatch(/at most 15/);
    }
  });

  test.each([
    ['tokens', `MATCH (n) WHERE ${filter} ${'WITH n '.repeat(2000)} RETURN n`, '4000 tokens'],
    ['labels in a row', `MATCH (n${':A'.repeat(101)}) WHERE ${filter} RETURN n`, '100 consecutive labels'],
    [
      'characters that are not ASCII',
      `MATCH (n) WHERE ${filter} RETURN "${'ä'.repeat(3001)}"`,
      '3000 characters that are not ASCII',
    ],
  ])('limits the number of %s, which are slow to parse', (_name, query, message) => {
    verifies('operations.event-loop');
    expect(refusal(query)).toContain(message);
  });

  test('accepts as many labels as the limit allows, and a map with many entries', () => {
    expect(
      refusal(
        `MATCH (n${':A'.repeat(100)}) WHERE ${filter} RETURN {${Array.from({ length: 200 }, (_, at) => `a${at}: 1`).join(', ')}} AS m`,
      ),
    ).toBe('none');
  });

  test('answers hostile texts in limited time', () => {
    const start = `MATCH (n) WHERE ${filter} RETURN `;
    const texts = ['(', '[', '{a:', '((n)-[r]-(', 'NOT ', '[x IN ', 'CASE WHEN ', '/*', '`', "'", '(n)--'].map(
      (piece) => start + piece.repeat(textLimits.length / piece.length / 2),
    );
    texts.push(`${start}${`${'('.repeat(30)}n${')'.repeat(30)}+`.repeat(120)}1`);
    for (const text of texts) {
      const begun = process.cpuUsage();
      refusal(text);
      expect(process.cpuUsage(begun).user / 1000).toBeLessThan(1500);
    }
  });
});

describe('createQueryGuard', () => {
  test('returns the same answer for a repeated text, including refusals', () => {
    const guard = createQueryGuard();
    const query = `MATCH (n) WHERE ${filter} RETURN n`;
    expect(guard(query)).toBe(guard(query));
    expect(() => guard('MATCH (n) RETURN n')).toThrow(refused);
    expect(() => guard('MATCH (n) RETURN n')).toThrow(refused);
  });

  test('drops the least recently used texts', () => {
    const guard = createQueryGuard(undefined, 1000);
    const query = (name: string) => `MATCH (n) WHERE ${filter} RETURN n AS ${name}`;
    const first = guard(query('a'));
    for (let index = 0; index < 20; index += 1) guard(query(`b${index}`));
    expect(guard(query('a'))).not.toBe(first);
    expect(guard(query('a'))).toEqual(first);
  });
});

describe('parametersFor', () => {
  const scope = { projectId: 'own', grantedProjectIds: ['other'] };

  test("binds the caller's parameters and adds the granted projects only to a query that uses them", () => {
    verifies('gateway.query.params', 'gateway.query.granted-projects');
    const one = parametersFor({ usesProjectIds: false }, scope, { age: 3 });
    expect(one).toEqual({ age: 3, project_id: 'own', project_ids: ['own', 'other'], __guard_scope: ['own'] });
    expect(parametersFor({ usesProjectIds: true }, scope)).toMatchObject({ __guard_scope: ['own', 'other'] });
  });

  test.each(['project_id', 'project_ids', '__guard_scope'])('refuses %s from the caller', (name) => {
    verifies('gateway.query.params');
    expect(() => parametersFor({ usesProjectIds: false }, scope, { [name]: 'x' })).toThrow(refused);
  });
});

describe('looksLikeNaturalLanguage', () => {
  test.each([
    'Who works at Acme?',
    'show me all companies',
    'create a report about sales',
    'Set up a meeting with Ada',
    'optional extras of the plan',
    'project n.project_id',
    'délais de livraison — «Acme»',
    '😀',
  ])('recognises a question: %s', (text) => {
    verifies('gateway.query.natural-language');
    expect(looksLikeNaturalLanguage(text)).toBe(true);
  });

  test.each([
    'MATCH (n) RETURN n',
    'match made in heaven',
    'CREATE (n)',
    'CREATE (n',
    'MERGE (a)-[:X]->(b) and more',
    'SET n.x = 1',
    'DETACH DELETE n',
    'EXPLAIN MATCH (n) RETURN n',
    'SHOW DATABASES',
    'USE neo4j MATCH (n) RETURN n',
    'CREATE INDEX FOR (n:A) ON (n.b)',
    'OPTIONAL MATCH (n) RETURN n',
    '',
    '  ',
  ])('recognises a query: %s', (text) => {
    verifies('gateway.query.write-clause');
    expect(looksLikeNaturalLanguage(text)).toBe(false);
  });
});

describe('createReadPlanCheck', () => {
  let driver: Driver;
  const check = createReadPlanCheck();
  const run = async (text: string) => {
    const session = driver.session({ defaultAccessMode: neo4j.session.READ });
    const query = {
      ...guardQuery(`MATCH (n) WHERE ${filter} RETURN n`),
      text,
      usesProjectIds: false,
      parameters: new Set<string>(),
    };
    await check
      .ask(session, query, parametersFor(query, { projectId: 'none', grantedProjectIds: [] }), 30_000)
      .finally(() => session.close());
  };

  beforeAll(() => {
    const { NEO4J_URI = '', NEO4J_USER = '', NEO4J_PASSWORD = '' } = testRun().env;
    driver = neo4j.driver(NEO4J_URI, neo4j.auth.basic(NEO4J_USER, NEO4J_PASSWORD));
  });
  afterAll(() => driver.close());

  test('accepts rewritten queries of the guard', async () => {
    verifies('gateway.query.read-only');
    await run(guardQuery(`MATCH (n)-[*1..2]->(m) WHERE ${filter} RETURN m`).text);
  });

  test.each([
    'MATCH (n) CREATE (m) RETURN m',
    'CALL db.labels() YIELD label RETURN label',
    'MATCH (n) RETURN count(n)',
    'SHOW INDEXES',
    'MATCH (n RETURN n',
  ])('refuses %s', async (text) => {
    verifies('gateway.query.read-only');
    await expect(run(text)).rejects.toEqual(refused);
  });
});
