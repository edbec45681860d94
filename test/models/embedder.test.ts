import { expect, test } from '@jest/globals';
import { createEmbedder } from '../../src/models/embedder.js';
import { sendVectors, useEmbeddingEndpoint } from '../support/embedding-endpoint.js';
import { eventually } from '../support/eventually.js';
import { verifies } from '../support/verifies.js';

const dimensions = 16;
const endpoint = await useEmbeddingEndpoint(dimensions);

test('asks for fewer texts at once after an endpoint was too slow', async () => {
  verifies('embeddings.slow-endpoint');
  const { embed } = createEmbedder({
    baseUrl: endpoint.baseUrl,
    apiKey: undefined,
    model: 'slow',
    dimensions,
    requestsPerSecond: 1000,
  });
  const asked: number[] = [];
  endpoint.answer((request, res) => {
    asked.push(request.input.length);
    // More texts get no answer in time.
    if (request.input.length <= 16) sendVectors(request, res, dimensions);
  });
  const texts = Array.from({ length: 64 }, (_, at) => `text ${at}`);
  const { signal } = new AbortController();
  await expect(embed(texts, { signal, timeoutMs: 300 })).rejects.toMatchObject({ code: 'timeout' });
  const { vectors } = await eventually(() => embed(texts, { signal, timeoutMs: 5000 }));
  expect(vectors).toHaveLength(64);
  expect(asked[0]).toBe(64);
  expect(Math.max(...asked.slice(1))).toBeLessThanOrEqual(16);
});
