import { expect, test } from '@jest/globals';
import { createEmbedder } from '../../src/models/embedder.js';
import { createQuestionVector } from '../../src/models/question-vector.js';
import { sendError, sendVectors, useEmbeddingEndpoint } from '../support/embedding-endpoint.js';
import { eventually } from '../support/eventually.js';
import { verifies } from '../support/verifies.js';

const dimensions = 16;
const endpoint = await useEmbeddingEndpoint(dimensions);

const never = new AbortController().signal;
const embedderOf = (requestsPerSecond = 1000) =>
  createEmbedder({ baseUrl: endpoint.baseUrl, apiKey: undefined, model: 'words', dimensions, requestsPerSecond });

test('sends fewer texts per request after an endpoint was too slow', async () => {
  verifies('embeddings.slow-endpoint');
  const { embed } = embedderOf();
  // The first request of a process takes longer.
  await embed(['test'], { signal: never });
  const asked: number[] = [];
  endpoint.answer((request, res) => {
    asked.push(request.input.length);
    // A request with more texts gets no response in time.
    if (request.input.length <= 16) sendVectors(request, res, dimensions);
  });
  const texts = Array.from({ length: 64 }, (_, at) => `text ${at}`);
  await expect(embed(texts, { signal: never, timeoutMs: 2000 })).rejects.toMatchObject({ code: 'timeout' });
  const { vectors } = await eventually(() => embed(texts, { signal: never, timeoutMs: 5000 }));
  expect(vectors).toHaveLength(64);
  expect(asked[0]).toBe(64);
  expect(Math.max(...asked.slice(1))).toBeLessThanOrEqual(16);
});

test('gives no turn to a caller that has aborted', async () => {
  verifies('embeddings.failures');
  const { embed } = embedderOf(1);
  await embed(['first'], { signal: never });
  const gone = Array.from({ length: 60 }, (_, at) =>
    embed([`gone ${at}`], { signal: new AbortController().signal, timeoutMs: 50 }),
  );
  for (const result of await Promise.allSettled(gone)) expect(result.status).toBe('rejected');
  // Waiting for their turns would take a minute.
  const { vectors } = await embed(['last'], { signal: never, timeoutMs: 30_000 });
  expect(vectors).toHaveLength(1);
});

test('the requests of many texts of one owner do not delay the request of another', async () => {
  verifies('shares.embeddings');
  const { embed } = embedderOf(50);
  const order: string[] = [];
  endpoint.answer((request, res) => {
    order.push(request.input[0]?.split(' ')[0] ?? '');
    sendVectors(request, res, dimensions);
  });
  const busy = Array.from({ length: 40 }, (_, at) => embed([`busy ${at}`], { signal: never, owner: 'busy' }));
  await embed(['other text'], { signal: never, owner: 'other' });
  await Promise.all(busy);
  expect(order.indexOf('other')).toBeLessThan(10);
});

test.each([
  ['a status', (_: unknown, res: any) => sendError(res, 400)],
  ['a vector of zeros', (asked: any, res: any) => sendVector(asked, res, () => 0)],
  ['numbers that are zero with 32 bits', (asked: any, res: any) => sendVector(asked, res, () => 1e-60)],
  ['numbers that are infinite with 32 bits', (asked: any, res: any) => sendVector(asked, res, () => 1e300)],
])('a question that the endpoint refuses by %s does not stop other questions', async (_, refuse) => {
  verifies('embeddings.failures');
  const vectorOf = createQuestionVector(embedderOf());
  const model = { model: 'words', dimensions };
  endpoint.answer(refuse);
  await expect(vectorOf('too long', model)).rejects.toThrow(/endpoint/);
  endpoint.answer(undefined);
  expect(await vectorOf('a question', model)).toHaveLength(dimensions);
});

test('pauses questions to a model that fails, and only to that model', async () => {
  verifies('embeddings.failures');
  const vectorOf = createQuestionVector(embedderOf());
  const asked: string[] = [];
  endpoint.answer((request, res) => {
    asked.push(request.model);
    if (request.model === 'words') sendVectors(request, res, dimensions);
    else sendError(res, 404);
  });
  const old = { model: 'old', dimensions };
  await expect(vectorOf('one', old)).rejects.toThrow('status 404');
  await expect(vectorOf('two', old)).rejects.toThrow('status 404');
  expect(await vectorOf('three', { model: 'words', dimensions })).toHaveLength(dimensions);
  expect(asked).toEqual(['old', 'words']);
});

test('pauses questions after an endpoint hung, also if the caller left before', async () => {
  verifies('embeddings.failures');
  const vectorOf = createQuestionVector(embedderOf());
  const model = { model: 'words', dimensions };
  let requests = 0;
  endpoint.answer(() => void (requests += 1));
  const callers = [1, 2].map(() => vectorOf('a question', model, { signal: AbortSignal.timeout(10) }));
  for (const result of await Promise.allSettled(callers)) expect(result.status).toBe('rejected');
  await eventually(() =>
    expect(vectorOf('another', model, { signal: AbortSignal.timeout(10) })).rejects.toThrow('no answer within'),
  );
  const before = requests;
  await expect(vectorOf('one more', model)).rejects.toThrow('no answer within');
  expect(requests).toBe(before);
});

function sendVector({ input }: { input: string[] }, res: any, value: () => number): void {
  const data = input.map((_, index) => ({ index, embedding: Array.from({ length: dimensions }, value) }));
  res.setHeader('content-type', 'application/json').end(JSON.stringify({ data }));
}
