import { beforeAll, describe, expect, test } from '@jest/globals';
import { queryContext } from '../../../../src/domain/tools/query-context.js';
import { saveContext } from '../../../../src/domain/tools/save-context.js';
import { inReadTransaction } from '../../../../src/graph/store/sessions.js';
import { prepareGraph } from '../../../../src/graph/store/schema.js';
import { newId } from '../../../../src/base/ids.js';
import { grantRole } from '../../../../src/auth/users.js';
import { createGraph } from '../../../../src/stores/neo4j.js';
import { useDeps } from '../../../support/fixture.js';
import { verifies } from '../../../support/verifies.js';
import { call, contextFor, contextOf, dryRun, refusal, toolWith } from '../../../graph/tool-call.js';

const deps = useDeps();
const { collections } = deps.mongo;
const save = toolWith(deps, saveContext);
const query = toolWith(deps, queryContext);
const ctx = contextOf();
const person = { type: 'Person', name: 'Ann' };

beforeAll(async () => {
  await prepareGraph(deps.graph);
  await call(save, ctx, {
    entities: [
      {
        id: 'ann',
        ...person,
        properties: { note: 'Mail ann@example.com', years: [2019, 2020], ratio: 0.5, card: 4_111_111_111_111_111 },
      },
      { id: 'bob', type: 'Person', name: 'Bob', properties: { contact: { phones: ['+49 30 901820'] } } },
      ...Array.from({ length: 300 }, (_, at) => ({
        id: `p${at}`,
        type: 'Point',
        name: `point ${at}`,
        properties: { at },
      })),
    ],
    relationships: [{ from: 'ann', type: 'KNOWS', to: 'bob', properties: { note: 'IBAN DE89370400440532013000' } }],
    facts: [
      { subject: 'ann', predicate: 'employer', object: 'Initech', valid_from: 100, valid_to: 200 },
      { subject: 'ann', predicate: 'employer', object: 'Globex', valid_from: 200 },
      { subject: 'bob', predicate: 'reach', object: 'bob@example.com' },
    ],
  });
});

const cypher = (text: string, rest = {}) => call(query, contextFor(ctx.principal), { query: text, ...rest });

describe('POST /v1/query-context with Cypher', () => {
  test('clamps limit and timeout, and reports if there is more', async () => {
    verifies('gateway.query.limit', 'gateway.query.timeout', 'gateway.query');
    const points = 'MATCH (n:Point) WHERE n.project_id = $project_id RETURN n.at AS at ORDER BY at';
    expect(await cypher(points)).toMatchObject({ limit: 25, truncated: true, rows: { length: 25 }, entities: [] });
    expect(await cypher(points, { limit: 100_000, timeout_ms: 9e9 })).toMatchObject({
      limit: 200,
      truncated: true,
      rows: { length: 200 },
    });
    expect(await cypher(`${points} LIMIT 25`)).toMatchObject({ truncated: false, rows: { length: 25 } });
    expect(await dryRun(query, ctx, { query: points, timeout_ms: 9e9 })).toMatchObject({
      query: 'cypher',
      columns: ['at'],
      limit: 25,
      timeout_ms: 30_000,
    });
    expect(query.input.parse({ query: points })).toMatchObject({ timeout_ms: 5000 });
  });

  test('binds params and keeps integers, and refuses the project among them', async () => {
    verifies('gateway.query.params', 'gateway.project-id.never-from-client');
    const { rows } = await cypher(
      'MATCH (n:Point) WHERE n.project_id = $project_id AND n.at IN $list RETURN n.at AS at, $deep.x[1] AS x LIMIT $n',
      { params: { list: [3, 4, 5], n: 2, deep: { x: ['a', 'b'] } } },
    );
    expect(rows).toEqual([
      { at: 3, x: 'b' },
      { at: 4, x: 'b' },
    ]);
    for (const params of [
      { project_id: 'x' },
      { project_ids: ['x'] },
      { deep: [{ projectID: 'x' }] },
      { __guard_scope: ['x'] },
      { __guard_as_of: 1 },
    ]) {
      expect(await refusal(cypher('MATCH (n) WHERE n.project_id = $project_id RETURN n', { params }))).toMatchObject({
        code: 'invalid_input',
      });
    }
    expect(query.input.safeParse({ query: 'x', project_id: 'x' }).success).toBe(false);
  });

  test('returns values of every kind as JSON, without internal properties', async () => {
    verifies('gateway.query');
    const { rows } = await cypher(
      `MATCH (n:Person {project_id: $project_id, id: 'ann'})
       RETURN date('2024-02-03') AS d, duration('P1D') AS u, point({x: 1, y: 2}) AS p, 1.5 AS f, 7 AS i, null AS no, properties(n) AS m, n {.*} AS s, [n.years] AS l`,
    );
    expect(rows[0]).toMatchObject({
      d: '2024-02-03',
      u: 'P1D',
      f: 1.5,
      i: 7,
      no: null,
      l: [[2019, 2020]],
      p: { srid: 7203, x: 1, y: 2 },
    });
    expect(Object.keys(rows[0].m).sort()).toEqual([
      'card',
      'id',
      'name',
      'note',
      'project_id',
      'ratio',
      'type',
      'years',
    ]);
    expect(rows[0].s).toEqual(rows[0].m);
  });

  test('collects entities, relationships and facts from paths, lists and maps', async () => {
    verifies('gateway.query');
    const { entities, relationships, facts } = await cypher(
      `MATCH path = (a:Person)-[:KNOWS]->(b:Person)-[:HAS_FACT]->(f:Fact) WHERE a.project_id = $project_id RETURN {paths: [path]} AS all`,
    );
    expect(entities.map(({ id }: any) => id)).toEqual(['ann', 'bob']);
    expect(relationships.map(({ type }: any) => type)).toEqual(['KNOWS']);
    expect(facts.map(({ predicate }: any) => predicate)).toEqual(['reach']);
  });

  test('redacts personal data in every field', async () => {
    verifies('gateway.query.redaction');
    const answer = await cypher(
      `MATCH (a:Person)-[r:KNOWS]->(b:Person)-[:HAS_FACT]->(f:Fact) WHERE a.project_id = $project_id
       RETURN a, r, b, f, a.note AS alias, [a.card] AS list, {nested: {deep: b.contact}} AS map, collect(f.object) AS objects`,
    );
    const text = JSON.stringify(answer);
    for (const value of ['ann@example.com', 'bob@example.com', '901820', '4111111111111111', 'DE8937'])
      expect(text).not.toContain(value);
    expect(answer.entities[0].properties).toMatchObject({
      note: 'Mail [redacted:email]',
      card: '[redacted:card]',
      ratio: 0.5,
    });
    expect(answer.facts[0].object).toBe('[redacted:email]');
  });

  test('returns the facts that are valid now or at as_of, also in rows and counts', async () => {
    verifies('gateway.query.as-of', 'gateway.save-context.facts');
    const employers =
      'MATCH (p:Person)-[:HAS_FACT]->(f:Fact {predicate: "employer"}) WHERE p.project_id = $project_id RETURN collect(f.object) AS objects, count(f) AS n';
    expect((await cypher(employers)).rows).toEqual([{ objects: ['Globex'], n: 1 }]);
    expect((await cypher(employers, { as_of: 150 })).rows).toEqual([{ objects: ['Initech'], n: 1 }]);
    expect((await cypher(employers, { as_of: '1970-01-01T00:03:20Z' })).rows).toEqual([{ objects: ['Globex'], n: 1 }]);
    expect((await cypher(employers, { as_of: 50 })).rows).toEqual([{ objects: [], n: 0 }]);
  });

  test('stops a query at its timeout and answers 504', async () => {
    verifies('gateway.query.slow');
    const slow = `MATCH (a:Point), (b:Point), (c:Point), (d:Point) WHERE a.project_id = $project_id AND a.at + b.at + c.at + d.at < 0 RETURN count(*) AS n`;
    const started = Date.now();
    expect(await refusal(cypher(slow, { timeout_ms: 300 }))).toMatchObject({ code: 'call_timed_out' });
    // Without its own timeout the query would run for 30 s.
    expect(Date.now() - started).toBeLessThan(28_000);
  });

  test('stops the planning of a query at the timeout', async () => {
    verifies('gateway.query.slow');
    const chain = `MATCH ${Array.from({ length: 48 }, (_, at) => `(a${at})--`).join('')}(z) WHERE a0.project_id = $project_id RETURN count(*) AS n`;
    expect(await refusal(cypher(chain, { timeout_ms: 300 }))).toMatchObject({ code: 'call_timed_out' });
  });

  test('refuses a query that does not compile with 422, and reveals no stored value if a query fails at runtime', async () => {
    const unknown = {
      'RETURN m': 'The database does not understand the query: Variable `m` not defined',
      'RETURN n LIMIT $most': 'The query needs a parameter that params does not give: most',
    };
    for (const [rest, message] of Object.entries(unknown)) {
      expect(await refusal(cypher(`MATCH (n) WHERE n.project_id = $project_id ${rest}`))).toMatchObject({
        code: 'invalid_input',
        message,
      });
    }
    const failing = await refusal(
      cypher("MATCH (n:Person {id: 'ann'}) WHERE n.project_id = $project_id RETURN date(n.note) AS d"),
    );
    expect(failing).toMatchObject({ code: 'invalid_input' });
    expect(failing.message).not.toContain('ann@');
    expect(await refusal(cypher('CREATE (n:Person {project_id: $project_id}) RETURN n'))).toMatchObject({
      code: 'invalid_input',
    });
  });

  test('uses READ mode, in which the server refuses writes', async () => {
    verifies('gateway.query.read-only');
    const writing = inReadTransaction(deps.graph, (tx) =>
      tx.run('CREATE (n:Entity {project_id: $projectId, id: "w"})', { projectId: ctx.projectId }),
    );
    expect(await refusal(writing)).toMatchObject({
      code: 'invalid_input',
      message: 'the query cannot be run: AccessMode',
    });
    const modes: unknown[] = [];
    const graph = {
      ...deps.graph,
      driver: {
        session: (options: any) => (modes.push(options.defaultAccessMode), deps.graph.driver.session(options)),
      } as typeof deps.graph.driver,
    };
    const watched = toolWith({ ...deps, graph }, queryContext);
    for (const text of ['MATCH (n) WHERE n.project_id = $project_id RETURN n', 'who is Ann'])
      await call(watched, contextFor(ctx.principal), { query: text });
    expect(new Set(modes)).toEqual(new Set(['READ']));
  });

  test('truncates an answer that is too large', async () => {
    verifies('gateway.query', 'input.bounded');
    const { truncated, rows } = await cypher(
      `MATCH (n:Person {project_id: $project_id, id: 'ann'}) UNWIND range(1, 200) AS i RETURN [x IN range(1, 10000) | 'word'] AS words`,
      { limit: 200, timeout_ms: 30_000 },
    );
    expect(truncated).toBe(true);
    expect(JSON.stringify(rows).length).toBeLessThan(5 * 1024 * 1024);
  });

  test('answers 502 data_service_unreachable if the graph does not answer', async () => {
    verifies('downstream.graph-down');
    const graph = createGraph({ uri: 'bolt://127.0.0.1:1', user: 'neo4j', password: '' });
    const down = toolWith({ ...deps, graph }, queryContext);
    for (const text of ['MATCH (n) WHERE n.project_id = $project_id RETURN n', 'what is new here']) {
      expect(await refusal(call(down, ctx, { query: text }))).toMatchObject({ code: 'data_service_unreachable' });
    }
    await graph.close();
  });
});

describe('granted projects of POST /v1/query-context', () => {
  test('include the projects of a person’s memberships, or the project of a key', async () => {
    verifies('gateway.query.granted-projects');
    const userId = newId();
    const organizationId = newId();
    const [first, second, third] = await Promise.all(
      Array.from({ length: 3 }, async (_, at) => {
        const mine = contextOf({ userId, organizationId, kind: 'user_jwt', role: 'PROJECT_ADMIN' });
        await collections.projects.insertOne({
          _id: mine.projectId,
          name: newId(),
          description: '',
          organization_id: organizationId,
          department_id: 'd',
          user_id: userId,
          status: 'active',
          created_at: 1,
          updated_at: 1,
        });
        if (at < 2)
          await grantRole(collections, { userId, organizationId, projectId: mine.projectId, role: 'PROJECT_ADMIN' });
        await call(save, mine, { entities: [{ type: 'Thing', name: `thing ${at}` }] });
        return mine;
      }),
    );
    if (!first || !second || !third) throw new Error('no projects');
    const things = { query: 'MATCH (n:Thing) WHERE n.project_id IN $project_ids RETURN n.name AS name ORDER BY name' };
    const names = async (of: typeof first, rest = {}) =>
      (await call(query, of, { ...things, ...rest })).rows.map(({ name }: any) => name);
    expect(await names(first)).toEqual(['thing 0']);
    expect(await names(first, { granted_projects: true })).toEqual(['thing 0', 'thing 1']);
    expect(await names(contextFor({ ...first.principal, kind: 'api_key' }), { granted_projects: true })).toEqual([
      'thing 0',
    ]);
    expect(await names(contextFor({ ...first.principal, clientId: 'app' }), { granted_projects: true })).toEqual([
      'thing 0',
    ]);
    const found = await call(query, first, { query: 'where is the thing', granted_projects: true });
    expect(new Set(found.entities.map((entity: any) => entity.project_id))).toEqual(
      new Set([first.projectId, second.projectId]),
    );
  });
});
