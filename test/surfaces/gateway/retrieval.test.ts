import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { apiClient, type ApiClient } from '../../support/client.js';
import { createWorkspace, useDeps } from '../../support/fixture.js';
import { ownProduct } from '../../support/own-product.js';
import { testRun } from '../../support/run.js';
import { useHttpSink } from '../../support/use-http-sink.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();
const sink = await useHttpSink();
const product = ownProduct({ RERANK_BASE_URL: `${sink.url}/v1/`, RERANK_API_KEY: 'key-1', RERANK_MODEL: 'order-1' });
let api: ApiClient;
let reranking: ApiClient;

const turns = [
  { speaker: 'Ann', time: '2023-03-08', text: 'I started to keep bees in the garden' },
  { speaker: 'Bo', time: '2023-03-08', text: 'That sounds dangerous' },
  { speaker: 'Bo', time: '2023-05-02', text: 'I started to keep chickens in the yard' },
  { speaker: 'Ann', time: '2023-05-02', text: 'Chickens are louder than you think' },
  { speaker: 'Ann', time: '2024-01-10', text: 'I started to keep sheep on the hill' },
];
const entities = turns.map((properties, at) => ({ id: `t${at}`, type: 'Turn', name: `turn ${at}`, properties }));
const relationships = [
  { from: 't0', type: 'NEXT', to: 't1', properties: {} },
  { from: 't2', type: 'NEXT', to: 't3', properties: {} },
];

beforeAll(async () => {
  const { apiKey } = await createWorkspace(deps);
  const credentials = { authorization: `Bearer ${apiKey}` };
  api = apiClient(testRun().url, credentials);
  reranking = apiClient((await product.api()).url, credentials);
  expect(await api.post('/v1/save-context', { entities, relationships })).toMatchObject({ status: 200 });
});

async function ask(query: string, rest = {}, by = api) {
  const { status, body } = await by.post('/v1/query-context', { query, ...rest });
  expect([status, body.error]).toEqual([200, undefined]);
  return body;
}
const ids = (answer: any) => answer.entities.map(({ id }: any) => id);

describe('POST /v1/query-context with a question', () => {
  test('prefers what the named speaker said', async () => {
    verifies('retrieval.names');
    expect(
      ids(await ask('What did Ann start to keep?'))
        .slice(0, 2)
        .sort(),
    ).toEqual(['t0', 't4']);
    expect(ids(await ask("What are Bo's animals he started to keep?"))[0]).toBe('t2');
  });

  test('prefers what lies in the named time', async () => {
    verifies('retrieval.dates');
    expect(ids(await ask('who started to keep something in May 2023'))[0]).toBe('t2');
    expect(ids(await ask('who started to keep something in 2024'))[0]).toBe('t4');
    expect(ids(await ask('who started to keep something 2023年5月'))[0]).toBe('t2');
  });

  test('finds the turn next to a match, and the one saved last first if all else is equal', async () => {
    verifies('retrieval.neighbours');
    expect(ids(await ask('bees'))).toEqual(['t0', 't1']);
  });

  test('puts a question behind the text that answers it', async () => {
    verifies('retrieval.questions');
    const { apiKey } = await createWorkspace(deps);
    const own = apiClient(testRun().url, { authorization: `Bearer ${apiKey}` });
    const turn = (id: string, text: string) => ({ id, type: 'Turn', name: id, properties: { text } });
    const saved = await own.post('/v1/save-context', {
      entities: [turn('a', 'Who sold the old green car?'), turn('b', 'Ann sold the old green car.')],
    });
    expect(saved).toMatchObject({ status: 200 });
    const answer = await ask('old green car', { explain: true }, own);
    expect(ids(answer)).toEqual(['b', 'a']);
    // The question has the best text, because its name is a word that the index ignores.
    expect(answer.explanation.scores[1].text).toBeCloseTo(0.7, 5);
    expect(JSON.stringify(answer)).not.toContain('_asks');
  });

  test('explains each score, and why neither vectors nor an endpoint for the order were used', async () => {
    verifies('retrieval.explain');
    const answer = await ask('What did Ann start to keep in March 2023?', { explain: true });
    const { vectors, reranking: order, scores } = answer.explanation;
    expect(vectors).toEqual({ used: false, generations: [], reason: expect.stringContaining('no embedding endpoint') });
    expect(order).toEqual({ used: false, model: null, reason: expect.stringContaining('no reranking endpoint') });
    expect(scores.map(({ id }: any) => id)).toEqual(ids(answer));
    expect(scores[0]).toMatchObject({ id: 't0', vector: 0, time: 0.6 });
    expect(scores[0].text).toBeGreaterThan(0);
    expect(scores[0].names).toBeGreaterThan(0);
    const besides = scores.find(({ id }: any) => id === 't1');
    expect(besides).toMatchObject({ names: 0, time: 0.6 });
    expect(besides.neighbours).toBeGreaterThan(0);
    expect(await ask('bees')).not.toHaveProperty('explanation');
    const reason = 'the question has no words';
    expect(await ask('🐝?', { explain: true })).toMatchObject({
      entities: [],
      explanation: { vectors: { used: false, reason }, reranking: { used: false, reason }, scores: [] },
    });
  });

  test('says whether there is more', async () => {
    verifies('retrieval.has-more');
    expect(await ask('keep', { limit: 1 })).toMatchObject({ truncated: true, entities: { length: 1 } });
    expect(await ask('keep', { limit: 200 })).toMatchObject({ truncated: false });
  });
});

describe('the time at which something holds', () => {
  const march = '2023-03-15T00:00:00Z';
  let own: ApiClient;
  beforeAll(async () => {
    own = apiClient(testRun().url, { authorization: `Bearer ${(await createWorkspace(deps)).apiKey}` });
    const site = { type: 'Site', properties: { about: 'depot' } };
    const saved = await own.post('/v1/save-context', {
      entities: [
        {
          ...site,
          id: 'north',
          name: 'Depot North',
          valid_from: '2020-01-01T00:00:00Z',
          valid_to: '2024-01-01T00:00:00Z',
        },
        { ...site, id: 'south', name: 'Depot South', valid_from: 1704067200 },
        { ...site, id: 'always', name: 'Depot Head' },
      ],
      relationships: [
        { from: 'always', type: 'SUPPLIES', to: 'north', properties: {}, valid_to: '2023-01-01T00:00:00Z' },
        { from: 'always', type: 'SUPPLIES', to: 'south', properties: {} },
      ],
      facts: [
        { subject: 'always', predicate: 'leader', object: 'Ida', valid_from: '2020-01-01T00:00:00Z' },
        { subject: 'always', predicate: 'leader', object: 'Jon', valid_from: '2024-01-01T00:00:00Z' },
      ],
    });
    expect(saved).toMatchObject({ status: 200 });
  });
  const leaders = (answer: any) => answer.facts.map(({ object }: any) => object);

  test('limits entities and relationships like facts, in questions and in Cypher', async () => {
    verifies('retrieval.as-of');
    const count = 'MATCH (n:Site) WHERE n.project_id = $project_id RETURN n.id AS id ORDER BY id';
    const links = 'MATCH (:Site)-[r:SUPPLIES]->(b:Site) WHERE r.project_id = $project_id RETURN b.id AS id ORDER BY id';
    for (const [as_of, sites, supplied, leader] of [
      ['2022-06-01T00:00:00Z', ['always', 'north'], ['north'], ['Ida']],
      [march, ['always', 'north'], [], ['Ida']],
      ['2024-06-01T00:00:00Z', ['always', 'south'], ['south'], ['Jon']],
    ] as const) {
      const answer = await ask('depot', { as_of }, own);
      expect(ids(answer).sort()).toEqual(sites);
      expect(answer.relationships.map(({ to }: any) => to)).toEqual(supplied);
      expect(leaders(answer)).toEqual(leader);
      const rows = async (query: string) => (await ask(query, { as_of }, own)).rows.map(({ id }: any) => id);
      expect([await rows(count), await rows(links)]).toEqual([sites, supplied]);
    }
    const { entities } = await ask('depot', { as_of: march }, own);
    expect(entities.find(({ id }: any) => id === 'north')).toMatchObject({
      valid_from: 1577836800,
      valid_to: 1704067200,
    });
    expect(entities.find(({ id }: any) => id === 'always')).not.toHaveProperty('valid_from');
  });

  test('that a question names adds what held then, and prefers it', async () => {
    verifies('retrieval.as-of', 'retrieval.dates');
    expect(ids(await ask('depot', {}, own)).sort()).toEqual(['always', 'south']);
    const answer = await ask('Which depot was open in March 2023?', {}, own);
    expect(ids(answer).sort()).toEqual(['always', 'north', 'south']);
    expect(leaders(answer)).toEqual(['Ida', 'Jon']);
    const barn = (id: string, rest: object) => ({ id, type: 'Barn', name: 'Barn', ...rest });
    const entities = [barn('old', { valid_to: '2023-12-01T00:00:00Z' }), barn('new', {}), barn('newest', {})];
    expect(await own.post('/v1/save-context', { entities })).toMatchObject({ status: 200 });
    expect(ids(await ask('Which barn was open in March 2023?', {}, own))[0]).toBe('old');
    expect(ids(await ask('Which barn is open?', {}, own))).not.toContain('old');
    expect(leaders(await ask('depot leader', {}, own))).toEqual(['Jon']);
  });

  test('stays with a save that does not name it, is removed by null, and must be in order', async () => {
    verifies('retrieval.as-of');
    const save = (rest: object) =>
      own.post('/v1/save-context', { entities: [{ id: 'e1', type: 'Hut', name: 'Hut one', ...rest }] });
    const found = async () => ids(await ask('hut', {}, own));
    await save({ valid_to: march });
    await save({ properties: { colour: 'red' } });
    expect(await found()).toEqual([]);
    expect(await save({ valid_from: '2023-04-01T00:00:00Z' })).toMatchObject({ status: 422 });
    expect(await save({ valid_from: 2, valid_to: 1 })).toMatchObject({ status: 400 });
    expect(await save({ valid_to: null })).toMatchObject({ status: 200 });
    expect(await found()).toEqual(['e1']);
  });
});

describe('with an endpoint for the order', () => {
  let received: any[] = [];
  let respond: (asked: any, res: ServerResponse) => void;
  const send = (res: ServerResponse, body: unknown) =>
    res.setHeader('content-type', 'application/json').end(typeof body === 'string' ? body : JSON.stringify(body));
  /** The endpoint prefers texts with sheep. */
  const sheepFirst = ({ documents }: any, res: ServerResponse) =>
    send(res, {
      results: documents.map((text: string, index: number) => ({ index, relevance_score: /sheep/.test(text) ? 1 : 0 })),
    });
  beforeEach(() => {
    received = [];
    respond = sheepFirst;
  });
  sink.answer('/v1/rerank', ({ body, headers }, res) => {
    const asked = JSON.parse(body);
    received.push({ ...asked, authorization: headers.authorization });
    respond(asked, res);
  });

  test('puts the one that it prefers first if the search finds several about equally good', async () => {
    verifies('retrieval.rerank');
    const query = 'Who started to keep something?';
    expect(ids(await ask(query))[0]).not.toBe('t4');
    const answer = await ask(query, { explain: true }, reranking);
    expect(ids(answer)[0]).toBe('t4');
    expect(answer.entities[0].score).toBe(1);
    expect(answer.explanation.reranking).toEqual({ used: true, model: 'order-1', reason: null });
    expect(received[0]).toMatchObject({ model: 'order-1', query, authorization: 'Bearer key-1' });
    expect(received[0].documents.length).toBeLessThanOrEqual(50);
  });

  test('does not put the one that it prefers before a far better match of the search', async () => {
    verifies('retrieval.rerank');
    const query = 'What did Bo start to keep?';
    expect(ids(await ask(query)).indexOf('t4')).toBeGreaterThan(1);
    expect(ids(await ask(query, {}, reranking)).slice(0, 2)).toEqual(['t2', 't4']);
  });

  test.each([
    ['refuses', (_: any, res: ServerResponse) => void res.writeHead(500).end('secret'), 'answered 500'],
    ['answers no JSON', (_: any, res: ServerResponse) => void send(res, '<html>'), 'does not answer'],
    [
      'answers nonsense',
      (_: any, res: ServerResponse) => void send(res, { results: [{ index: 99 }] }),
      'no usable scores',
    ],
    ['is silent', () => undefined, 'did not answer'],
  ])('keeps its own order and says why if the endpoint %s', async (_, answerWith, reason) => {
    verifies('retrieval.rerank');
    respond = answerWith as typeof respond;
    // The time limit is for the database. The endpoint may be silent for 2 s.
    const answer = await ask('What did Bo start to keep?', { explain: true, timeout_ms: 1900 }, reranking);
    expect(ids(answer)[0]).toBe('t2');
    expect(answer.explanation.reranking).toMatchObject({ used: false, model: null });
    expect(answer.explanation.reranking.reason).toContain(reason);
    expect(JSON.stringify(answer)).not.toContain('secret');
  });
});
