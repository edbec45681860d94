import { beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { bearerClient, createGatewayWorkspace } from '../support/gateway.js';
import type { ApiClient } from '../support/client.js';
import { createKey, useDeps } from '../support/fixture.js';
import { verifies } from '../support/verifies.js';

interface Query {
  name: string;
  source: string;
  query: string;
  rows: Record<string, unknown>[];
}

const queries = JSON.parse(
  readFileSync(new URL('../world/graph/queries.json', import.meta.url), 'utf8'),
) as readonly Query[];
const deps = useDeps();
let gateway: ApiClient;

const movie = (id: string, title: string, released: number, tagline: string) => ({
  id,
  type: 'Movie',
  name: title,
  properties: { title, released, tagline },
});
const person = (id: string, name: string, born: number) => ({ id, type: 'Person', name, properties: { born } });
const actedIn = (from: string, to: string, ...roles: string[]) => ({
  from,
  to,
  type: 'ACTED_IN',
  properties: { roles },
});

beforeAll(async () => {
  gateway = bearerClient(await createKey(deps, await createGatewayWorkspace(deps)));
  const saved = await gateway.post('/v1/save-context', {
    entities: [
      movie('matrix', 'The Matrix', 1999, 'Welcome to the real world'),
      movie('away', 'Cast Away', 2000, 'At the edge of the world, his journey home begins'),
      movie('code', 'The Da Vinci Code', 2006, 'Break the codes'),
      movie('atlas', 'Cloud Atlas', 2012, 'Everything is connected'),
      person('keanu', 'Keanu Reeves', 1964),
      person('carrie', 'Carrie-Anne Moss', 1967),
      person('tom', 'Tom Hanks', 1956),
      person('halle', 'Halle Berry', 1966),
    ],
    relationships: [
      actedIn('keanu', 'matrix', 'Neo'),
      actedIn('carrie', 'matrix', 'Trinity'),
      actedIn('tom', 'away', 'Chuck Noland'),
      actedIn('tom', 'code', 'Robert Langdon'),
      actedIn('tom', 'atlas', 'Zachry', 'Dr. Henry Goose'),
      actedIn('halle', 'atlas', 'Luisa Rey'),
    ],
  });
  expect(saved).toMatchObject({ status: 200 });
});

const ask = (query: string) => gateway.post('/v1/query-context', { query, timeout_ms: 30_000 });

describe('a query about a small graph', () => {
  test.each(queries.map((each) => [each.name, each] as const))('answers: %s', async (_, { query, rows }) => {
    verifies('gateway.query.work-of-this-graph');
    expect(await ask(query)).toMatchObject({ status: 200, body: { rows } });
  });
});

describe('what the service stores for itself', () => {
  const movies = 'MATCH (p:Person)-[r:ACTED_IN]->(m:Movie) WHERE p.project_id = $project_id';

  test.each([
    ['labels', 'labels(m)'],
    ['the names of the properties of a node', 'keys(m)'],
    ['the names of the properties of a relationship', 'keys(r)'],
    ['the names in a map of properties', 'keys(properties(m))'],
    ['the names in a projected map', 'keys(m {.*})'],
    ['all properties', 'properties(r)'],
    ['a projected map', 'm {.*}'],
  ])('is in no answer: %s', async (_, expression) => {
    verifies('gateway.query.no-internal-names');
    const { status, body } = await ask(`${movies} RETURN ${expression} AS x`);
    expect(status).toBe(200);
    expect(body.rows).toHaveLength(6);
    expect(JSON.stringify(body.rows)).not.toMatch(/"_|"Entity"/);
  });

  test.each(['p._search', 'p._names', 'r._source', 'p {._words}', 'p . `_title`'])(
    'cannot be read: %s',
    async (read) => {
      verifies('gateway.query.no-internal-names');
      expect(await ask(`${movies} RETURN ${read} AS x`)).toMatchObject({
        status: 422,
        body: { error: 'S4:validate-input', error_description: expect.stringMatching(/belongs to the service/) },
      });
    },
  );

  test('leaves the keys of other maps as they are', async () => {
    verifies('gateway.query.no-internal-names');
    const { body } = await ask(`${movies} RETURN keys({_at: 2, _id: 1}) AS keys, {_id: 7}._id AS id LIMIT 1`);
    expect(body.rows).toEqual([{ keys: ['_at', '_id'], id: 7 }]);
  });
});

describe('an error of the database', () => {
  test.each([
    ['a wrong type', 'm.title - 1', /TypeError, which means that an operator/],
    ['a division by zero', 'm.released / (m.released - m.released)', /ArithmeticError, which means that a calculation/],
    ['a text that is not a date', 'date(m.title)', /which means that .* not a date/],
  ])('says what is wrong, without stored values: %s', async (_, expression, says) => {
    verifies('gateway.query.error-texts');
    const { status, body } = await ask(`MATCH (m:Movie) WHERE m.project_id = $project_id RETURN ${expression} AS x`);
    expect([status, body.error_description]).toEqual([422, expect.stringMatching(says)]);
    expect(body.error_description).not.toMatch(/Matrix|Away|Vinci|Atlas/);
  });
});
