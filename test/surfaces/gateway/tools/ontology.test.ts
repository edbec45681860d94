import { beforeAll, describe, expect, test } from '@jest/globals';
import { ontologyTool } from '../../../../src/domain/tools/ontology.js';
import { queryContext } from '../../../../src/domain/tools/query-context.js';
import { saveContext } from '../../../../src/domain/tools/save-context.js';
import { prepareGraph } from '../../../../src/graph/store/schema.js';
import { useDeps } from '../../../support/fixture.js';
import { verifies } from '../../../support/verifies.js';
import { call, contextFor, contextOf, dryRun, refusal, toolWith, type TestContext } from '../../../graph/tool-call.js';

const deps = useDeps();
const ontology = toolWith(deps, ontologyTool);
const save = toolWith(deps, saveContext);
const query = toolWith(deps, queryContext);
beforeAll(() => prepareGraph(deps.graph));

const definition = {
  entity_types: {
    Customer: {
      properties: {
        segment: { type: 'string', required: true },
        seats: { type: 'integer' },
        since: { type: 'date' },
        ssn: { type: 'string', personal: true },
      },
    },
    Product: { open: true },
  },
  relationship_types: {
    OWNS: { from: ['Customer'], to: ['Product'], properties: { note: { personal: true } } },
    member_of: { multi_valued: true },
  },
};
const ann = { id: 'ann', type: 'Customer', name: 'Ann', properties: { segment: 'private', ssn: 'private-value-77' } };

async function inForce(ctx: TestContext, define: unknown = definition): Promise<any> {
  await call(ontology, ctx, { define });
  return call(ontology, contextFor(ctx.principal), { commit: true });
}

describe('POST /v1/ontology', () => {
  test('stores a draft that has no effect until it is committed as a version', async () => {
    verifies('gateway.ontology.define', 'gateway.ontology.commit');
    const ctx = contextOf();
    const drafted = await call(ontology, ctx, { define: definition });
    expect(drafted).toMatchObject({
      version: 0,
      ontology: null,
      draft: { base_version: 0, entity_types: { Customer: {} } },
      versions: [],
    });
    await call(save, ctx, { entities: [{ type: 'Product', name: 'anything' }] });
    const committed = await call(ontology, ctx, { commit: true });
    expect(committed).toMatchObject({
      version: 1,
      draft: null,
      ontology: { version: 1, committed_by: ctx.principal.userId },
      versions: [{ version: 1 }],
    });
    expect(await inForce(ctx)).toMatchObject({ version: 2, versions: [{ version: 2 }, { version: 1 }] });
    expect(await call(ontology, ctx, {})).toMatchObject({ version: 2 });
    expect(await refusal(call(ontology, ctx, { commit: true }))).toMatchObject({ code: 'conflict' });
  });

  test('requires the write grant for changes, and the docs grant for reading', () => {
    const grant = (input: unknown) => ontology.caseOf(input).operation.grant;
    expect([grant({}), grant({ define: {} }), grant({ commit: true })]).toEqual([
      'svc:docs.read',
      'svc:ontology.write',
      'svc:ontology.write',
    ]);
  });

  test('refuses a draft that stored data does not fit, with counts and positions but without values', async () => {
    verifies('gateway.ontology.commit');
    const ctx = contextOf();
    await call(save, ctx, {
      entities: [
        { id: 'a', type: 'Customer', name: 'A', properties: { segment: 'secret-a', seats: 'many', odd: 1 } },
        { id: 'b', type: 'Customer', name: 'B' },
        { id: 'c', type: 'Stranger', name: 'C' },
      ],
      relationships: [{ from: 'a', type: 'OWNS', to: 'b' }],
    });
    await call(ontology, ctx, { define: definition });
    const refused = await refusal(call(ontology, ctx, { commit: true }));
    expect(refused).toMatchObject({ code: 'invalid_input' });
    expect(refused.message).toContain('in 5 places');
    for (const place of [
      'Customer a: properties.seats must be of type integer',
      'Customer a: properties.odd',
      'Customer b: properties.segment is required',
      'Stranger c: type',
      'OWNS a → b: to',
    ]) {
      expect(refused.message).toContain(place);
    }
    expect(refused.message).not.toContain('secret-a');
    expect(await dryRun(ontology, ctx, { define: definition })).toMatchObject({ violations: 5 });
    expect(await call(ontology, ctx, {})).toMatchObject({ version: 0, draft: {} });
  });

  test('validates writes against the committed types and names the position', async () => {
    verifies('gateway.ontology.types');
    const ctx = contextOf();
    await inForce(ctx);
    const entity = (properties: unknown, type = 'Customer') => ({ entities: [{ type, name: 'x', properties }] });
    for (const [input, place] of [
      [entity({}), 'entities.0.properties.segment: is required'],
      [entity({ segment: 's', seats: 1.5 }), 'entities.0.properties.seats: must be of type integer'],
      [entity({ segment: 's', since: 'soon' }), 'entities.0.properties.since: must be of type date'],
      [entity({ segment: 's', odd: 1 }), 'entities.0.properties.odd: is not a property of this type'],
      [entity({}, 'Stranger'), 'entities.0.type: Stranger is not a type of the ontology'],
      [
        {
          entities: [ann, { ...ann, id: 'joe', name: 'Joe' }],
          relationships: [{ from: 'ann', type: 'OWNS', to: 'joe' }],
        },
        'relationships.0.to: OWNS takes Product there',
      ],
    ] as const) {
      const refused = await refusal(call(save, ctx, input));
      expect(refused).toMatchObject({ code: 'invalid_input' });
      expect(refused.message).toContain(place);
    }
    await call(save, ctx, { entities: [ann, { type: 'Product', name: 'P', properties: { any: [1, 'x'] } }] });
    await call(save, ctx, { entities: [{ id: 'ann', type: 'Customer', name: 'Ann', properties: { seats: 3 } }] });
    expect(
      await refusal(
        call(save, ctx, { entities: [{ id: 'ann', type: 'Customer', name: 'Ann', properties: { segment: null } }] }),
      ),
    ).toMatchObject({ code: 'invalid_input' });
    expect(
      (await refusal(call(save, ctx, { entities: [{ id: 'ann', type: 'Product', name: 'Ann' }] }))).message,
    ).toContain('entities.0.type: the entity ann is a Customer');
  });

  test('puts one of two concurrent commits into force', async () => {
    verifies('gateway.ontology.commit');
    const ctx = contextOf();
    await call(ontology, ctx, { define: definition });
    const outcomes = await Promise.allSettled([1, 2, 3, 4].map(() => call(ontology, ctx, { commit: true })));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'conflict' });
    expect(await call(ontology, ctx, {})).toMatchObject({ version: 1, versions: { length: 1 } });
  });

  test('refuses impossible names and unknown end types', () => {
    for (const define of [
      { entity_types: { Entity: {} } },
      { entity_types: { 'a`b': {} } },
      { entity_types: { A: { properties: { project_id: {} } } } },
      { entity_types: { A: { properties: { x: { type: 'blob' } } } } },
      { entity_types: {}, relationship_types: { R: { from: ['A'] } } },
      {},
    ]) {
      expect(ontology.input.safeParse({ define }).success).toBe(false);
    }
    expect(ontology.input.safeParse({ define: definition, commit: true }).success).toBe(false);
  });
});

describe('properties that the ontology marks personal', () => {
  const smuggled = [
    'RETURN n',
    'RETURN n.ssn AS x',
    "RETURN n['ssn'] AS x",
    'RETURN reverse(n.ssn) AS x',
    'RETURN substring(n.ssn, 1) AS x',
    'RETURN split(n.ssn, "-") AS x',
    'RETURN [k IN keys(n) | n[k]] AS x',
    'RETURN properties(n) AS x',
    'RETURN n {.*} AS x',
    'WITH properties(n) AS p UNWIND keys(p) AS k RETURN p[k] AS x',
    'RETURN left(n.ssn, 3) + "·" + right(n.ssn, 3) AS x',
    'RETURN [c IN split(n.ssn, "") | c + "_"] AS x',
  ];
  const plain = /private-value|eulav-etavirp|rivate-val|pri·|"v_"/;

  test('are removed from every alias, part, list and map, and are refused in conditions', async () => {
    verifies('gateway.query.redaction', 'gateway.ontology.types');
    const ctx = contextOf();
    await inForce(ctx);
    const product = { id: 'p', type: 'Product', name: 'P' };
    await call(save, ctx, {
      entities: [ann, product],
      relationships: [{ from: 'ann', type: 'OWNS', to: 'p', properties: { note: 'private-value-78' } }],
      facts: [{ subject: 'ann', predicate: 'ssn', object: 'private-value-79' }],
    });
    const texts = [
      ...smuggled.map((rest) => `MATCH (n:Customer) WHERE n.project_id = $project_id ${rest}`),
      ...smuggled.map((rest) => `MATCH (n:Fact) WHERE n.project_id = $project_id ${rest.replaceAll('ssn', 'object')}`),
      'MATCH (a)-[r:OWNS]->(b) WHERE a.project_id = $project_id RETURN r, r.note AS x, reverse(r.note) AS y',
    ];
    for (const text of texts) {
      const answer = await call(query, contextFor(ctx.principal), { query: text });
      expect(answer.rows.length).toBeGreaterThan(0);
      expect(JSON.stringify(answer)).not.toMatch(plain);
    }
    for (const condition of [
      "n.ssn = 'private-value-77'",
      "n.ssn STARTS WITH 'private'",
      'n.ssn CONTAINS "77"',
      'size(n.ssn) = 16',
    ]) {
      const { rows } = await call(query, ctx, {
        query: `MATCH (n:Customer) WHERE n.project_id = $project_id AND ${condition} RETURN count(n) AS n`,
      });
      expect(rows).toEqual([{ n: 0 }]);
    }
    const found = await call(query, ctx, { query: 'private-value-77' });
    expect(JSON.stringify(found)).not.toMatch(plain);
    expect((await call(query, ctx, { query: '77 78 79' })).entities).toEqual([]);
    const { entities, facts } = await call(query, ctx, { query: 'Ann' });
    expect(entities[0].properties).toEqual({ segment: 'private', ssn: '[redacted:personal]' });
    expect(facts[0].object).toBe('[redacted:personal]');
  });

  test('are removed from stored data when the mark is committed, and return when it is removed', async () => {
    verifies('gateway.query.redaction', 'gateway.ontology.commit');
    const ctx = contextOf();
    await call(save, ctx, {
      entities: [ann],
      facts: [
        { subject: 'ann', predicate: 'ssn', object: 'private-value-79' },
        { subject: 'ann', predicate: 'likes', object: 'tea' },
      ],
    });
    const shown = async () =>
      JSON.stringify(
        (
          await call(query, ctx, {
            query:
              'MATCH (n:Customer)-[:HAS_FACT]->(f) WHERE n.project_id = $project_id RETURN reverse(n.ssn) AS a, reverse(toString(f.object)) AS b',
          })
        ).rows,
      );
    expect(await shown()).toContain('77-eulav-etavirp');
    await inForce(ctx);
    expect(await shown()).not.toMatch(plain);
    expect(await shown()).toContain('aet');
    // A sealed value is recognised: the same value changes nothing, and another value closes the fact.
    const again = await dryRun(save, ctx, {
      entities: [ann],
      facts: [{ subject: 'ann', predicate: 'ssn', object: 'private-value-79' }],
    });
    expect(again).toMatchObject({ entities: { unchanged: 1 }, facts: { create: 0, close: 0 } });
    const unmarked = structuredClone(definition) as any;
    delete unmarked.entity_types.Customer.properties.ssn.personal;
    await inForce(ctx, unmarked);
    expect(await shown()).toContain('77-eulav-etavirp');
    expect(await shown()).toContain('97-eulav-etavirp');
  });

  test('are sealed even if a save is in progress when the mark is committed', async () => {
    verifies('gateway.query.redaction');
    const ctx = contextOf();
    await call(ontology, ctx, { define: definition });
    const saves = Array.from({ length: 6 }, (_, at) =>
      call(save, ctx, { entities: [{ ...ann, id: `ann${at}`, name: `Ann ${at}` }] }),
    );
    await Promise.all([...saves, call(ontology, ctx, { commit: true })]);
    const { rows } = await call(query, ctx, {
      query: 'MATCH (n:Customer) WHERE n.project_id = $project_id RETURN DISTINCT n.ssn AS ssn, count(*) AS n',
    });
    expect(rows).toEqual([{ ssn: '[redacted:personal]', n: 6 }]);
  });
});

describe('facts of a predicate with many values', () => {
  test('a save changes only the stated values of a multi-valued predicate', async () => {
    verifies('gateway.save-context.facts', 'gateway.ontology.types');
    const ctx = contextOf();
    await inForce(ctx);
    const member = (object: string | number, more = {}) => ({
      ...{ subject: { type: 'Customer', name: 'Ann' }, predicate: 'member_of', object, valid_from: 10 },
      ...more,
    });
    await call(save, ctx, { entities: [ann], facts: [member('A'), member('B'), member('1'), member(1)] });
    const facts = [member('A'), member('B', { confidence: 0.5 }), member('C'), member('C'), member(1)];
    expect(await dryRun(save, ctx, { facts })).toMatchObject({ facts: { create: 2, close: 0, superseded: 1 } });
    await call(save, ctx, { facts });
    const stored = await call(query, ctx, { query: 'MATCH (f:Fact) WHERE f.project_id = $project_id RETURN f' });
    expect(stored.facts.map(({ object, confidence }: any) => JSON.stringify([object, confidence])).sort()).toEqual(
      [
        ['1', 1],
        ['A', 1],
        ['B', 0.5],
        ['C', 1],
        [1, 1],
      ].map((each) => JSON.stringify(each)),
    );
  });

  test('are valid at the same time', async () => {
    verifies('gateway.save-context.facts', 'gateway.ontology.types');
    const ctx = contextOf();
    await inForce(ctx);
    for (const object of ['chess', 'tennis'])
      await call(save, ctx, { entities: [ann], facts: [{ subject: 'ann', predicate: 'member_of', object }] });
    const { facts } = await call(query, ctx, { query: 'Ann' });
    expect(facts.map((fact: any) => fact.object).sort()).toEqual(['chess', 'tennis']);
  });
});
