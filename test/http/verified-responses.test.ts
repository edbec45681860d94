import { expect, test } from '@jest/globals';
import { newId } from '../../src/base/ids.js';
import { createWorkspace, useDeps } from '../support/fixture.js';
import { useOwnApp } from '../support/own-app.js';
import { refusal } from '../support/refusal.js';

const deps = useDeps();
const verifying = useOwnApp({ VERIFY_RESPONSES: 'true' });
const trusting = useOwnApp({ VERIFY_RESPONSES: 'false' });

test('a response that differs from the schema of its route is sent only without VERIFY_RESPONSES', async () => {
  const workspace = await createWorkspace(deps);
  const { projectID, userId } = workspace;
  const tag = { _id: newId(), name: 'urgent', color: null, projectID, created_by: userId, created_at: 1 };
  await deps.mongo.collections.tags.insertOne(tag);
  for (const app of [verifying, trusting])
    expect(await app.through(workspace).api.get('/tag')).toMatchObject({ status: 200, body: { data: [tag] } });
  await deps.mongo.collections.tags.updateOne({ _id: tag._id }, { $set: { color: 7 as never } });
  expect(await trusting.through(workspace).api.get('/tag')).toMatchObject({
    status: 200,
    body: { data: [{ color: 7 }] },
  });
  expect(await verifying.through(workspace).api.get('/tag')).toMatchObject(refusal(500, 'internal_error'));
});
