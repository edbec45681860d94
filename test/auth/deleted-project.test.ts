import { describe, expect, test } from '@jest/globals';
import { apiClient } from '../support/client.js';
import { createKey, createPersonalWorkspace, useDeps } from '../support/fixture.js';
import { testRun } from '../support/run.js';

const deps = useDeps();

describe('DELETE /v1/project/{project_id}', () => {
  test('revokes the keys of the project immediately, and no others', async () => {
    const owner = await createPersonalWorkspace(deps);
    const { body: made } = await owner.api.post('/v1/project', { name: 'short-lived' });
    const { url } = testRun();
    const inside = await createKey(deps, { ...owner, projectID: made._id });
    const ask = (key: string) => apiClient(url, { 'x-api-key': key }).get('/v1/project');
    const askGateway = (key: string) =>
      apiClient(url, { authorization: `Bearer ${key}` }).post('/v1/docs', { topic: 'errors' });
    expect([(await ask(inside)).status, (await askGateway(inside)).status]).toEqual([200, 200]);
    await owner.api.delete(`/v1/project/${made._id}`);
    expect([(await ask(inside)).status, (await askGateway(inside)).status]).toEqual([401, 401]);
    expect((await ask(owner.apiKey)).status).toBe(200);
  });
});
