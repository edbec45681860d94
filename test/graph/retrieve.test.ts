import { beforeAll, describe, expect, test } from '@jest/globals';
import { queryContext } from '../../src/domain/tools/query-context.js';
import { saveContext } from '../../src/domain/tools/save-context.js';
import { prepareGraph } from '../../src/graph/store/schema.js';
import { useDeps } from '../support/fixture.js';
import { verifies } from '../support/verifies.js';
import { call, contextFor, contextOf, toolWith } from './tool-call.js';

const deps = useDeps();
const save = toolWith(deps, saveContext);
const query = toolWith(deps, queryContext);
const ctx = contextOf();
// By default, a busy machine has 5 s for the first search of its kind.
const ask = (text: string, rest = {}, of = ctx) => call(query, of, { query: text, timeout_ms: 30_000, ...rest });
const names = (answer: any) => answer.entities.map(({ name }: any) => name);

beforeAll(async () => {
  await prepareGraph(deps.graph);
  const entities = [
    {
      id: 'zephyr',
      type: 'Customer',
      name: 'Zephyr Industries',
      properties: { about: 'Makes turbines for wind parks' },
    },
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
  test('ranks direct matches first, then their neighbours, with relationships and facts', async () => {
    verifies('gateway.query.natural-language', 'gateway.query.provenance');
    const answer = await ask('What do we know about Zephyr?');
    expect(names(answer)).toEqual(['Zephyr Industries', 'Turbine X', 'Bearing works']);
    const scores = answer.entities.map(({ score }: any) => score);
    expect(scores[0]).toBe(1);
    expect([...scores].sort((a: number, b: number) => b - a)).toEqual(scores);
    expect(answer.relationships.map(({ type }: any) => type).sort()).toEqual(['BUYS', 'SUPPLIES']);
    expect(answer.facts).toMatchObject([{ subject: 'zephyr', predicate: 'headquarters', object: 'Lisbon' }]);
    expect(answer.consumed).toEqual(['zephyr', 'turbine', 'far']);
    expect(await ask('What do we know about Zephyr?')).toMatchObject({
      entities: answer.entities.map(({ id, score }: any) => ({ id, score })),
    });
  });

  test('prefers names to other text, and finds by type and by inflected words', async () => {
    verifies('gateway.query.natural-language');
    expect(names(await ask('turbine'))[0]).toBe('Turbine X');
    expect(names(await ask('suppliers'))[0]).toBe('Bearing works');
  });

  test('finds an entity by a current fact about it', async () => {
    verifies('gateway.query.natural-language', 'gateway.query.as-of');
    expect(names(await ask('who thinks perpendicular'))).toEqual([]);
    expect(names(await ask('who thinks perpendicular', { as_of: 500 }))).toEqual(['Quiet company']);
    expect(names(await ask('lisbon'))[0]).toBe('Zephyr Industries');
  });

  test.each(['the', 'of the and', 'it is'])('finds nothing by words that are in every text: %s', async (text) => {
    expect(await ask(text)).toMatchObject({ entities: [], relationships: [], facts: [] });
  });

  test('respects the limit and reports whether there are more results', async () => {
    expect(await ask('filler', { limit: 10 })).toMatchObject({
      entities: { length: 10 },
      limit: 10,
      truncated: true,
      rows: [],
    });
  });

  test('limits the size of an answer, however much stored text matches', async () => {
    verifies('gateway.query', 'input.bounded');
    const large = contextOf();
    const properties = (of: string) =>
      Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`p${at}`, `${of} `.repeat(5000)]));
    for (let at = 0; at < 12; at += 1) {
      await call(save, large, {
        entities: [{ id: `l${at}`, type: 'Large', name: `mammoth ${at}`, properties: properties('bone') }],
        facts: Array.from({ length: 5 }, (_, each) => ({
          subject: `l${at}`,
          predicate: `says ${each}`,
          object: 'word '.repeat(6000),
        })),
      });
    }
    const answer = await ask('mammoth', {}, large);
    expect(answer).toMatchObject({ truncated: true, limit: 25 });
    expect(answer.entities.length).toBeGreaterThan(4);
    expect(JSON.stringify(answer).length).toBeLessThan(5 * 1024 * 1024);
    expect(await ask('mammoth', { limit: 3 }, large)).toMatchObject({ entities: { length: 3 }, facts: { length: 15 } });
  });

  test('returns nothing of another project, however many of its entities match', async () => {
    verifies('gateway.query.never-leaves-project');
    const theirs = contextOf();
    const entities = Array.from({ length: 300 }, (_, at) => ({
      id: `z${at}`,
      type: 'Customer',
      name: `Zephyr Zephyr ${at}`,
    }));
    await call(save, theirs, { entities });
    expect(names(await ask('Zephyr'))).toEqual(['Zephyr Industries', 'Turbine X', 'Bearing works']);
    expect(
      (await ask('Zephyr turbines', { limit: 200 }, theirs)).entities.every(
        (entity: any) => entity.project_id === theirs.projectId,
      ),
    ).toBe(true);
    expect((await ask('Turbine', {}, theirs)).entities).toEqual([]);
  });

  test('finds the current fact behind 60 superseded facts and 300 earlier ones', async () => {
    verifies('gateway.query.present-facts');
    const repository = contextOf();
    const heads = (count: number, from: number) =>
      Array.from({ length: count }, (_, at) => ({
        subject: 'repo',
        predicate: 'head of main',
        object: `commit ${from + at}`,
        valid_from: from + at,
      }));
    await call(save, repository, {
      entities: [{ id: 'repo', type: 'Repository', name: 'quiet' }],
      facts: heads(1, 1000),
    });
    for (let at = 0; at < 60; at += 1) {
      await call(save, contextFor(repository.principal), {
        facts: [{ subject: 'repo', predicate: 'head of main', object: `commit ${at}`, valid_from: 1000 }],
      });
    }
    await call(save, contextFor(repository.principal), { facts: heads(300, 2000) });
    const { records } = await deps.graph.driver.executeQuery(
      'MATCH (f:Fact {project_id: $project}) RETURN count(CASE WHEN f.superseded_at IS NOT NULL THEN 1 END) AS gone, count(CASE WHEN f.superseded_at IS NOT NULL AND f._search IS NOT NULL THEN 1 END) AS indexed',
      { project: repository.projectId },
    );
    expect(records[0]?.toObject()).toMatchObject({ gone: expect.any(Number), indexed: 0 });
    expect(records[0]?.get('gone')).toBeGreaterThan(60);
    const answer = await ask('head of main', {}, repository);
    expect(names(answer)).toEqual(['quiet']);
    expect(answer.facts.map(({ object }: any) => object)).toEqual(['commit 2299']);
    expect((await ask('head of main', { as_of: 2010.5 }, repository)).facts.map(({ object }: any) => object)).toEqual([
      'commit 2010',
    ]);
    expect(answer.truncated).toBe(false);
  });

  test('ranks an entity named in the question above one with many matching facts, and reports what it omitted', async () => {
    verifies('gateway.query.ranking', 'gateway.query.present-facts');
    const busy = contextOf();
    const facts = Array.from({ length: 30 }, (_, at) => ({
      subject: 'many',
      predicate: `note ${at}`,
      object: 'about harbour cranes',
    }));
    await call(save, busy, {
      entities: [
        { id: 'many', type: 'Log', name: 'notebook' },
        { id: 'named', type: 'Site', name: 'Harbour cranes' },
      ],
      facts,
    });
    const answer = await ask('harbour cranes', {}, busy);
    expect(names(answer)[0]).toBe('Harbour cranes');
    expect(answer).toMatchObject({ truncated: true, facts: { length: 20 } });
  });

  test('returns the most recently saved neighbours in a constant order', async () => {
    verifies('gateway.query.ranking');
    const hub = contextOf();
    const leaves = (from: number) =>
      Array.from({ length: 30 }, (_, at) => ({ id: `leaf${from + at}`, type: 'Leaf', name: `leaf ${from + at}` }));
    const ties = (from: number) => leaves(from).map(({ id }) => ({ from: 'hub', type: 'HAS', to: id }));
    await call(save, hub, {
      entities: [{ id: 'hub', type: 'Hub', name: 'Zenith' }, ...leaves(0)],
      relationships: ties(0),
    });
    await call(save, contextFor(hub.principal), { entities: leaves(100), relationships: ties(100) });
    const first = await ask('Zenith', { limit: 100 }, hub);
    expect(first).toMatchObject({ truncated: true, entities: { length: 21 } });
    expect(first.entities.slice(1).every(({ id }: any) => Number(id.slice(4)) >= 100)).toBe(true);
    expect(names(await ask('Zenith', { limit: 100 }, hub))).toEqual(names(first));
  });

  test.each([
    '?!',
    '"""',
    'zephyr) OR _scope:* OR (',
    '_scope:[* TO *] zephyr',
    'zephyr AND NOT zephyr~9 && || ! ^ : \\ / *',
    '\u0000 zephyr',
    'zephyr '.repeat(2000),
    '  日本 語 ',
  ])('accepts any text: %j', async (text) => {
    verifies('input.hostile-text');
    const answer = await ask(text);
    expect(answer.entities.every((entity: any) => entity.project_id === ctx.projectId)).toBe(true);
  });
});
