import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { embedNext } from '../../src/domain/embedding/embed-next.js';
import { saveContext } from '../../src/domain/tools/save-context.js';
import { loadConfig } from '../../src/config.js';
import { createDeps } from '../../src/deps.js';
import type { Deps } from '../../src/domain/deps.js';
import { prepareGraph } from '../../src/graph/store/schema.js';
import { newId } from '../../src/base/ids.js';
import { startEmbeddingServer, type EmbeddingServer } from '../support/embedding-server.js';
import { eventually } from '../support/eventually.js';
import { pythonTest, pythonTestsRun } from '../support/python-test.js';
import { testRun } from '../support/run.js';
import { verifies } from '../support/verifies.js';
import { call, contextOf, toolWith } from './tool-call.js';

let server: EmbeddingServer | undefined;
let deps: Deps | undefined;

beforeAll(async () => {
  if (!pythonTestsRun) return;
  server = await startEmbeddingServer();
  const env = { ...testRun().env, ...server.env, LOG_LEVEL: 'silent' };
  deps = createDeps(loadConfig(env), 'test');
  await prepareGraph(deps.graph);
});
afterAll(async () => {
  await deps?.close();
  await server?.stop();
});

/** Each question shares no word with its answer. */
const questions = {
  physician: 'Who could treat an illness?',
  pastry: 'a place that sells sweet things to eat',
  vessel: 'something to cross the ocean with',
};
const entities = [
  { id: 'physician', type: 'Person', name: 'Doctor Hale', properties: { about: 'works at the hospital' } },
  { id: 'pastry', type: 'Shop', name: 'Croissant & Co', properties: { about: 'bakery with cakes and cookies' } },
  { id: 'vessel', type: 'Machine', name: 'Aurora', properties: { about: 'large sailing ship' } },
  { id: 'ledger', type: 'Book', name: 'Ledger', properties: { about: 'accounting records of last year' } },
  { id: 'router', type: 'Machine', name: 'Router 5', properties: { about: 'network device in the basement' } },
];

describe('vectors of all-MiniLM-L6-v2', () => {
  pythonTest('find what shares no word with the question', async () => {
    verifies('embeddings.by-meaning');
    if (!deps) throw new Error('no server');
    const { nearestByText } = deps;
    const ctx = contextOf();
    await call(toolWith(deps, saveContext), ctx, { entities });
    const request = { project_id: ctx.projectId, organization_id: ctx.organizationId };
    const { signal } = new AbortController();
    while (!(await embedNext(deps, { ...request, charge_key: newId() }, signal)).done);
    for (const [id, question] of Object.entries(questions)) {
      // On a busy machine, the model may take longer than a search waits.
      const answer = await eventually(async () => {
        const given = (await nearestByText(ctx.projectId, question, 1)) as any;
        expect(given).toHaveProperty('hits');
        return given;
      });
      expect([question, answer.hits[0]?.id]).toEqual([question, id]);
    }
  });
});
