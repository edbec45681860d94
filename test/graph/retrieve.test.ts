import { beforeAll, describe, expect, test } from '@jest/globals';
import { createQueryContextTool } from '../../src/gateway/tools/query-context.js';
import { createSaveContextTool } from '../../src/gateway/tools/save-context.js';
import { prepareGraph } from '../../src/graph/store/schema.js';
import { useDeps } from '../support/fixture.js';
import { verifies } from '../support/verifies.js';
import { call, contextOf } from './tool-call.js';

const deps = useDeps();
const save = createSaveContextTool(deps);
const query = createQueryContextTool({ graph: deps.graph, collections: deps.mongo.collections });
const ctx = contextOf();
const ask = (text: string, rest = {}, of = ctx) => call(query, of, { query: text, ...rest });
const names = (answer: any) => answer.entities.map(({ name }: any) => name);

beforeAll(async () => {
  await prepareGraph(deps.graph);
  const entities = [
    { id: 'zephyr', type: 'Customer', name: 'Zephyr Industries', properties: { about: 'Makes turbines for wind parks' } },
    { id: 'turbine', type: 'Product', name: 'Turbine X', properties: { about: 'Sold to many customers' } },
    { id: 'far', type: 'Supplier', name: 'Bearing works', properties: {} },
    { id: 'other', type: 'Customer', name: 'Quiet company', properties: { about: 'nothing to see' } },
    ...Array.from({ length: 40 }, (_, at) => ({ id: `f${at}`, type: 'Filler', name: `filler ${at}`, properties: {} })),
  ];
  const relationships = [
    { from: 'zephyr', type: 'BUYS', to: 'turbine' },
    { from: 'far', type: 'SUPPLIES', to: 'turbine' },
    ...Array.from({ length: 39 }, (_, at) => ({ from: `f${at}`, type: 'NEXT', to: `f${at + 1}` })),
  ];
  const facts = [
    { subject: 'other', predicate: 'slogan', object: 'Perpendicular thinking', valid_from: 100, valid_to: 1000 },
    { subject: 'zephyr', predicate: 'headquarters', object: 'Lisbon' },
  ];
  await call(save, ctx, { entities, relationships, facts });
});

describe('POST /v1/query-context with natural language', () => {
  test('ranks what the words name first, then what is near it, with relationships and facts', async () => {
    verifies('gateway.query.natural-language', 'gateway.query.provenance');
    const answer = await ask('What do we know about Zephyr?');
    expect(names(answer)).toEqual(['Zephyr Industries', 'Turbine X', 'Bearing works']);
    const scores = answer.entities.map(({ score }: any) => score);
    expect(scores[0]).toBe(1);
    expect([...scores].sort((a: number, b: number) => b - a)).toEqual(scores);
    expect(answer.relationships.map(({ type }: any) => type).sort()).toEqual(['BUYS', 'SUPPLIES']);
    expect(answer.facts).toMatchObject([{ subject: 'zephyr', predicate: 'headquarters', object: 'Lisbon' }]);
    expect(answer.consumed).toEqual(['zephyr', 'turbine', 'far']);
    expect(await ask('What do we know about Zephyr?')).toMatchObject({ entities: answer.entities.map(({ id, score }: any) => ({ id, score })) });
  });

  test('prefers the name to the text, and finds by type and by inflected words', async () => {
    verifies('gateway.query.natural-language');
    expect(names(await ask('turbine'))[0]).toBe('Turbine X');
    expect(names(await ask('suppliers'))[0]).toBe('Bearing works');
  });

  test('finds an entity by a fact about it, while that holds', async () => {
    verifies('gateway.query.natural-language', 'gateway.query.as-of');
    expect(names(await ask('who thinks perpendicular'))).toEqual([]);
    expect(names(await ask('who thinks perpendicular', { as_of: 500 }))).toEqual(['Quiet company']);
    expect(names(await ask('lisbon'))[0]).toBe('Zephyr Industries');
  });

  test.each(['the', 'of the and', 'it is'])('finds nothing by words that are in every text: %s', async (text) => {
    expect(await ask(text)).toMatchObject({ entities: [], relationships: [], facts: [] });
  });

  test('keeps to the limit and tells when there is more', async () => {
    expect(await ask('filler', { limit: 10 })).toMatchObject({ entities: { length: 10 }, limit: 10, truncated: true, rows: [] });
  });

  test('holds no more than an answer may, however much is stored of what the words name', async () => {
    verifies('gateway.query', 'input.bounded');
    const large = contextOf();
    const properties = (of: string) => Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`p${at}`, `${of} `.repeat(5000)]));
    for (let at = 0; at < 12; at += 1) {
      await call(save, large, {
        entities: [{ id: `l${at}`, type: 'Large', name: `mammoth ${at}`, properties: properties('bone') }],
        facts: Array.from({ length: 5 }, (_, each) => ({ subject: `l${at}`, predicate: `says ${each}`, object: 'word '.repeat(6000) })),
      });
    }
    const answer = await ask('mammoth', {}, large);
    expect(answer).toMatchObject({ truncated: true, limit: 25 });
    expect(answer.entities.length).toBeGreaterThan(4);
    expect(JSON.stringify(answer).length).toBeLessThan(5 * 1024 * 1024);
    expect(await ask('mammoth', { limit: 3 }, large)).toMatchObject({ entities: { length: 3 }, facts: { length: 15 } });
  });

  test('finds nothing of another project, however much that has of the words', async () => {
    verifies('gateway.query.never-leaves-project');
    const theirs = contextOf();
    const entities = Array.from({ length: 300 }, (_, at) => ({ id: `z${at}`, type: 'Customer', name: `Zephyr Zephyr ${at}` }));
    await call(save, theirs, { entities });
    expect(names(await ask('Zephyr'))).toEqual(['Zephyr Industries', 'Turbine X', 'Bearing works']);
    expect((await ask('Zephyr turbines', { limit: 200 }, theirs)).entities.every((entity: any) => entity.project_id === theirs.projectId)).toBe(true);
    expect((await ask('Turbine', {}, theirs)).entities).toEqual([]);
  });

  test.each(['?!', '"""', 'zephyr) OR _scope:* OR (', '_scope:[* TO *] zephyr', 'zephyr AND NOT zephyr~9 && || ! ^ : \\ / *', '\u0000 zephyr', 'zephyr '.repeat(2000), '  日本 語 '])(
    'takes any text: %j',
    async (text) => {
      verifies('input.hostile-text');
      const answer = await ask(text);
      expect(answer.entities.every((entity: any) => entity.project_id === ctx.projectId)).toBe(true);
    },
  );
});
