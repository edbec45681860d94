import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { apiClient, type ApiClient } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { useDeps } from '../support/fixture.js';
import { useOwnApp } from '../support/own-app.js';
import { startApi } from '../support/processes.js';
import { testRun } from '../support/run.js';
import { verifies } from '../support/verifies.js';
import { createPerson } from './auth-server.js';

const deps = useDeps();
const one = apiClient(testRun().url);
/** An API in this process, in addition to the shared process. */
const here = useOwnApp();
let two: ApiClient;

beforeAll(() => {
  two = apiClient(here.url());
});

function bearer(token: string) {
  return { authorization: `Bearer ${token}` };
}

describe('two API processes', () => {
  test('accept each other’s tokens, and apply a logout to the next call', async () => {
    verifies('auth.logout');
    const { email, password, workspace } = await createPerson(deps);
    const token = (await one.post('/v1/auth/sign-in', { email, password })).body.access_token;
    const list = () => two.get(`/v1/apikeys?project_id=${workspace.projectID}`, bearer(token));
    expect((await list()).status).toBe(200);
    expect((await one.post('/v1/auth/logout', undefined, bearer(token))).status).toBe(200);
    expect(await list()).toMatchObject({
      status: 401,
      body: { error: 'invalid_token', error_description: 'token invalid' },
    });
  });

  test('apply the revocation of a key to the next call on the platform and the gateway', async () => {
    verifies('auth.keys.revoke.immediate', 'platform.auth.same-keys', 'errors.status.401');
    const { email, password, workspace } = await createPerson(deps);
    const token = (await one.post('/v1/auth/sign-in', { email, password })).body.access_token;
    const key = await one.post('/v1/apikeys', { name: 'k', project_id: workspace.projectID }, bearer(token));
    const uses = () =>
      Promise.all([
        two.get('/v1/project', { 'x-api-key': key.body.secret }),
        two.post('/v1/orchestrate', { operation: 'list' }, bearer(key.body.secret)),
      ]);
    for (const { status } of await uses()) expect(status).toBe(200);
    await one.delete(`/v1/apikeys/${key.body.id}?project_id=${workspace.projectID}`, bearer(token));
    for (const use of await uses())
      expect(use).toMatchObject({ status: 401, body: { error_description: 'api key invalid or revoked' } });
  });

  test('return the same child to fifty concurrent refreshes', async () => {
    verifies('auth.refresh.grace');
    const { email, password } = await createPerson(deps);
    const { refresh_token } = (await one.post('/v1/auth/login', { email, password })).body;
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => (at % 2 ? one : two).post('/v1/auth/refresh', { refresh_token })),
    );
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.refresh_token}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(200);
  });
});

test('a process in production without SECRETS_KEY refuses to start and names the variable', async () => {
  verifies('first-start.production-generated-secrets');
  const log = path.join(testRun().logs, 'api-production.log');
  await expect(startApi({ ...testRun().env, NODE_ENV: 'production', SECRETS_KEY: '' }, log)).rejects.toThrow(
    /ended \(1\)/,
  );
  await eventually(async () => expect(await readFile(log, 'utf8')).toContain('SECRETS_KEY is not set'));
});
