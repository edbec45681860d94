import { beforeAll, test } from '@jest/globals';
import { newId } from '../../../../src/ids.js';
import { epochSeconds } from '../../../../src/time.js';
import { createWorkspace, useDeps, type Workspace } from '../../../support/fixture.js';
import { createLoopMeter } from '../../../support/loop-meter.js';
import { ownProduct } from '../../../support/own-product.js';
import type { Api } from '../../../support/processes.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const { environment, measure, expectNoBlock } = createLoopMeter(() => api);
const product = ownProduct({ ...environment, VERIFY_RESPONSES: 'false', QUOTA_PROJECT_MAX: '0', QUOTA_ORG_MAX: '0' });
let api: Api;

beforeAll(async () => {
  api = await product.api();
});

/** A memory that waits for a review, with as many findings in each part as an answer of a model can contain. */
async function keepLargeMemory({ projectID, organizationId, userId }: Workspace): Promise<void> {
  const { memories, memory_parts } = deps.mongo.collections;
  const memory_id = newId();
  // The number of parts of the longest text. An answer of a model has at most a million characters.
  const parts = 34;
  const quote = { memory_id, turn: null, start: 0, end: 1 };
  const fact = { predicate: 'city', object: 'x'.repeat(3000), valid_from: 0, valid_to: null, span: quote };
  const found = {
    entities: [{ type: 'Person', name: 'Ada', aliases: [], properties: {} }],
    facts: Array.from({ length: 300 }, () => ({ subject: { type: 'Person', name: 'Ada' }, ...fact })),
  };
  await memory_parts.insertMany(
    Array.from({ length: parts }, (_, part) => {
      const _id = `${memory_id}:${part}`;
      const counts = { entities: 1, facts: 300, without_span: 0, outside_ontology: 0, beyond_limit: 0 };
      const sealed = deps.auth.box.seal(JSON.stringify(found), _id);
      return { _id, memory_id, part, attempts: {}, found: { sealed }, is_extracted: true, counts, saved: null };
    }),
  );
  await memories.insertOne({
    ...{ _id: memory_id, project_id: projectID, organization_id: organizationId, user_id: userId, digest: '' },
    ...{ source: null, turns: { sealed: '' }, is_conversation: false, parts: [], entity_types: null, model: 'm' },
    ...{ budget: null, review: { asked_at: epochSeconds(), until: epochSeconds() + 1000 }, wants_review: true },
    ...{ status: 'waiting', failure: null, decided_by: null, created_at: epochSeconds(), ended_at: null },
  });
}

test('the review of a very long text does not delay other requests', async () => {
  verifies('memory.review');
  const workspace = await createWorkspace(deps);
  await keepLargeMemory(workspace);
  const headers = { 'x-api-key': workspace.apiKey };
  await measure({ name: 'the inbox', method: 'GET', path: '/inbox', headers, answers: 200 });
  expectNoBlock(0);
});
