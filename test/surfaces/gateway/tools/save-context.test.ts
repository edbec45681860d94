import { beforeAll, describe, expect, test } from '@jest/globals';
import { queryContext } from '../../../../src/domain/tools/query-context.js';
import { saveContext } from '../../../../src/domain/tools/save-context.js';
import { prepareGraph } from '../../../../src/graph/store/schema.js';
import { newId } from '../../../../src/base/ids.js';
import { useDeps } from '../../../support/fixture.js';
import { verifies } from '../../../support/verifies.js';
import { call, contextFor, contextOf, dryRun, refusal, toolWith } from '../../../graph/tool-call.js';

const deps = useDeps();
const save = toolWith(deps, saveContext);
const query = toolWith(deps, queryContext);
beforeAll(() => prepareGraph(deps.graph));

const acme = {
  type: 'Customer',
  name: 'Acme',
  properties: { segment: 'enterprise', seats: 40, tags: ['a', 'b'], address: { city: 'Berlin' } },
};
const compiler = { id: 'product-1', type: 'Product', name: 'Compiler', properties: { price: 99.5 } };
const owns = {
  from: { type: 'Customer', name: 'Acme' },
  type: 'OWNS',
  to: 'product-1',
  properties: { since: '2024-01-01' },
};
const all = 'MATCH (n:Entity) WHERE n.project_id = $project_id RETURN n ORDER BY n.name';

describe('POST /v1/save-context', () => {
  test('stores entities, relationships and facts and returns their counts and ids', async () => {
    verifies(
      'gateway.save-context',
      'gateway.query.entity',
      'gateway.query.relationship',
      'gateway.query.fact',
      'gateway.query.provenance',
    );
    const ctx = contextOf();
    const fact = { subject: 'product-1', predicate: 'licence', object: 'MIT', confidence: 0.9, valid_from: 100 };
    const saved = await call(save, ctx, {
      entities: [acme, compiler],
      relationships: [owns],
      facts: [fact],
      source: 'crm',
    });
    expect(saved.saved).toEqual({ entities: 2, relationships: 1, facts: 1 });
    expect(saved.ids[1]).toBe('product-1');

    const asking = contextFor(ctx.principal);
    const answer = await call(query, asking, {
      query:
        'MATCH (c:Customer)-[r:OWNS]->(p:Product)-[:HAS_FACT]->(f:Fact) WHERE c.project_id = $project_id RETURN c, r, p, f',
    });
    const provenance = {
      saved_by: ctx.principal.userId,
      source: 'crm',
      recorded_at: expect.any(Number),
      consumed: { lifecycle_id: asking.lifecycleId, run: null, at: expect.any(Number) },
    };
    expect(answer.entities).toEqual([
      {
        id: saved.ids[0],
        type: 'Customer',
        name: 'Acme',
        properties: acme.properties,
        score: 1,
        project_id: ctx.projectId,
        provenance,
      },
      {
        id: 'product-1',
        type: 'Product',
        name: 'Compiler',
        properties: { price: 99.5 },
        score: 0.5,
        project_id: ctx.projectId,
        provenance,
      },
    ]);
    expect(answer.relationships).toEqual([
      {
        id: expect.any(String),
        type: 'OWNS',
        from: saved.ids[0],
        to: 'product-1',
        properties: { since: '2024-01-01' },
        provenance,
      },
    ]);
    expect(answer.facts).toEqual([
      {
        subject: 'product-1',
        predicate: 'licence',
        object: 'MIT',
        confidence: 0.9,
        valid_from: 100,
        valid_to: null,
        provenance,
      },
    ]);
    expect(answer.consumed).toEqual([saved.ids[0], 'product-1']);
  });

  test('updates a stored element by id, or by type and name, and adds nothing', async () => {
    verifies('gateway.save-context.idempotent');
    const ctx = contextOf();
    const first = await call(save, ctx, { entities: [acme, compiler], relationships: [owns] });
    const again = await call(save, ctx, { entities: [acme, compiler], relationships: [owns] });
    expect(again).toEqual({ ...first, bookmark: expect.any(String), changes: expect.any(Object) });
    const changed = { ...acme, properties: { segment: 'small', seats: null } };
    await call(save, ctx, { entities: [changed, { ...compiler, name: 'Great compiler', properties: {} }] });
    const { entities, relationships } = await call(query, ctx, {
      query: 'MATCH (a:Entity)-[r]->(b:Entity) WHERE a.project_id = $project_id RETURN a, r, b',
    });
    expect(entities.map(({ name }: any) => name)).toEqual(['Acme', 'Great compiler']);
    expect(entities[0].properties).toEqual({ segment: 'small', tags: ['a', 'b'], address: { city: 'Berlin' } });
    expect(relationships).toHaveLength(1);
    expect((await call(query, ctx, { query: all })).entities).toHaveLength(2);
  });

  test('creates one entity from two concurrent saves', async () => {
    verifies('gateway.save-context.idempotent');
    const ctx = contextOf();
    const many = Array.from({ length: 8 }, (_, at) =>
      call(save, ctx, { entities: [acme, { ...compiler, properties: { price: at } }], relationships: [owns] }),
    );
    const ids = new Set((await Promise.all(many)).map((saved) => saved.ids.join()));
    expect(ids.size).toBe(1);
    const { rows } = await call(query, ctx, {
      query:
        'MATCH (n:Entity) WHERE n.project_id = $project_id OPTIONAL MATCH (n)-[r:OWNS]->() RETURN count(DISTINCT n) AS nodes, count(r) AS links',
    });
    expect(rows).toEqual([{ nodes: 2, links: 1 }]);
  });

  test('neither changes nor links elements of another project', async () => {
    verifies('gateway.query.never-leaves-project');
    const theirs = contextOf();
    const ours = contextOf();
    await call(save, theirs, { entities: [compiler] });
    const link = { entities: [acme], relationships: [owns] };
    expect(await refusal(call(save, ours, link))).toMatchObject({
      code: 'invalid_input',
      message: 'relationships.0.to: is not an entity of this project',
    });
    await call(save, ours, { entities: [{ ...compiler, name: 'Ours', properties: { price: 1 } }] });
    expect((await call(query, theirs, { query: all })).entities).toMatchObject([
      { name: 'Compiler', properties: { price: 99.5 } },
    ]);
    expect((await call(query, ours, { query: all })).entities).toMatchObject([{ name: 'Ours' }]);
  });

  test('reports in a dry run what would be created, updated and closed, and changes nothing', async () => {
    verifies('gateway.save-context');
    const ctx = contextOf();
    const fact = { subject: { type: 'Customer', name: 'Acme' }, predicate: 'ceo', object: 'Ann' };
    await call(save, ctx, { entities: [acme], facts: [fact] });
    const would = await dryRun(save, ctx, {
      entities: [acme, { ...acme, name: 'Bolt' }, { ...acme, properties: { seats: 41 } }],
      facts: [{ ...fact, object: 'Bob' }],
    });
    expect(would).toMatchObject({ entities: { create: 1, update: 1, unchanged: 0 }, facts: { close: 1 } });
    const { entities, facts } = await call(query, ctx, {
      query: 'MATCH (n:Entity)-[:HAS_FACT]->(f) WHERE n.project_id = $project_id RETURN n, f',
    });
    expect([entities.length, entities[0].properties.seats, facts[0].object]).toEqual([1, 40, 'Ann']);
  });

  test('refuses reserved names, values that are too large, and calls over the limit', async () => {
    verifies('gateway.project-id.never-from-client', 'input.bounded', 'input.hostile-text');
    const ctx = contextOf();
    const entity = (properties: unknown, rest = {}) => ({ entities: [{ type: 'T', name: 'n', properties, ...rest }] });
    for (const input of [
      entity({ project_id: newId() }),
      entity({ _since: 1 }),
      entity({ id: 'x' }),
      entity({}, { type: 'Fact' }),
      entity({}, { type: 'A`B' }),
      entity({ a: 'x'.repeat(40_000) }),
      entity({}, { name: 'x'.repeat(501) }),
      entity({ a: '\uD800' }),
      entity({}, { id: 'a\u0000b' }),
      entity({}, { name: '\u200B' }),
      entity({}, { id: '\u2060\u200D' }),
      { facts: [{ subject: 'a', predicate: '\u00AD', object: 'b' }] },
      entity({ a: [[[[[[[[[[1]]]]]]]]]] }),
      { entities: Array.from({ length: 1001 }, (_, at) => ({ type: 'T', name: `n${at}` })) },
      {},
    ]) {
      expect(save.input.safeParse(input).success).toBe(false);
    }
    const hostile = JSON.parse('{"__proto__": {"polluted": 1}}') as object;
    const parsed = save.input.safeParse(entity(hostile));
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    expect(parsed.success && Object.hasOwn((parsed.data as any).entities[0].properties, '__proto__')).toBe(false);
    await call(save, ctx, entity({ text: 'nul \u0000 inside', quote: "'); MATCH (n) DETACH DELETE n //" }));
    const { entities } = await call(query, ctx, { query: all });
    expect(entities[0].properties).toEqual({ text: 'nul \u0000 inside', quote: "'); MATCH (n) DETACH DELETE n //" });
  });

  test('keeps a fact of which only a distant end is known', async () => {
    verifies('gateway.save-context');
    const ctx = contextOf();
    const fact = {
      subject: 'byzantium',
      predicate: 'capital',
      object: 'Constantinople',
      valid_to: '1453-05-29T00:00:00Z',
    };
    await call(save, ctx, { entities: [{ id: 'byzantium', type: 'Empire', name: 'Byzantium' }], facts: [fact] });
    const { facts } = await call(query, ctx, {
      query: 'MATCH (n:Entity)-[:HAS_FACT]->(f) WHERE n.project_id = $project_id RETURN f',
      as_of: Date.parse(fact.valid_to) / 1000 - 0.0005,
    });
    expect(facts).toMatchObject([{ object: 'Constantinople' }]);
  });

  test('stores a thousand entities with their relationships and facts in one call', async () => {
    verifies('gateway.save-context');
    const ctx = contextOf();
    const entities = Array.from({ length: 1000 }, (_, at) => ({
      id: `e${at}`,
      type: 'Node',
      name: `node ${at}`,
      properties: { at },
    }));
    const relationships = Array.from({ length: 2000 }, (_, at) => ({
      from: `e${at % 1000}`,
      type: at < 1000 ? 'NEXT' : 'SKIP',
      to: `e${(at * 7 + 1) % 1000}`,
    }));
    const facts = Array.from({ length: 1000 }, (_, at) => ({
      subject: `e${at}`,
      predicate: 'square',
      object: at * at,
    }));
    expect((await call(save, ctx, { entities, relationships, facts })).saved).toEqual({
      entities: 1000,
      relationships: 2000,
      facts: 1000,
    });
    const { rows } = await call(query, ctx, {
      query: 'MATCH (n:Entity) WHERE n.project_id = $project_id RETURN count(n) AS n, sum(n.at) AS total',
    });
    expect(rows).toEqual([{ n: 1000, total: 499_500 }]);
  });
});
