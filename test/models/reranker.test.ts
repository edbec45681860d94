import { expect, test } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { createReranker } from '../../src/models/reranker.js';
import { eventually } from '../support/eventually.js';
import { useHttpSink } from '../support/use-http-sink.js';
import { verifies } from '../support/verifies.js';

const sink = await useHttpSink();
const texts = ['one', 'two'];
const results = texts.map((_, index) => ({ index, relevance_score: index }));

test('stops using an endpoint that hangs, and tries it again with one question after a pause', async () => {
  verifies('retrieval.rerank-hangs');
  const unanswered: ServerResponse[] = [];
  sink.answer('/rerank', (_, res) => void unanswered.push(res));
  const options = { timeoutMs: 300, pauseMs: 1000 };
  const { rerank } = createReranker({ baseUrl: sink.url, apiKey: undefined, model: 'order-1' }, options)!;
  const ask = () => rerank('question', texts);
  const late = { unavailable: expect.stringContaining('did not answer within 300 ms') };
  const unused = { unavailable: expect.stringContaining('is not used for 1 s') };
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([late, late, late]);
  expect(await Promise.all([ask(), ask()])).toEqual([unused, unused]);

  await eventually(async () => expect(await Promise.all([ask(), ask(), ask()])).toEqual([late, unused, unused]));
  expect(unanswered.length).toBeLessThanOrEqual(4);

  sink.answer('/rerank', (_, res) => void res.end(JSON.stringify({ results })));
  const ordered = { scores: [0, 1] };
  await eventually(async () => expect(await Promise.all([ask(), ask()])).toEqual([ordered, ordered]));
});

test('continues to use an endpoint that answers with an error', async () => {
  verifies('retrieval.rerank-hangs');
  sink.requests.length = 0;
  sink.answer('/rerank', (_, res) => void res.writeHead(500).end());
  const { rerank } = createReranker({ baseUrl: sink.url, apiKey: undefined, model: 'order-1' })!;
  for (let asked = 1; asked <= 5; asked += 1)
    expect(await rerank('question', texts)).toEqual({ unavailable: 'the reranking endpoint answered 500' });
  expect(sink.requests).toHaveLength(5);
});
