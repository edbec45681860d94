import { describe, expect, test } from '@jest/globals';
import { createPerson, userToken as signedIn, useAuthServer, type Person } from '../../auth/auth-server.js';
import { consoleUrl, signIn, withPage } from '../console/chromium.js';
import { eventually } from '../../support/eventually.js';
import { createKey, createWorkspace, personOf } from '../../support/fixture.js';
import { bearerClient } from '../../support/gateway.js';
import { refusal } from '../../support/refusal.js';
import { verifies } from '../../support/verifies.js';
import {
  allow,
  authorizationPath,
  exchange,
  newPkce,
  obtainTokens,
  postForm,
  refresh,
  registerClient,
} from './flow.js';
import { useOauthServer } from './oauth-server.js';

const server = useOauthServer();
const accounts = useAuthServer();
const { deps } = server;

async function connect(person: Person) {
  const { client, tokens, ...rest } = await obtainTokens(server, person, { choice: { scopes: ['svc:query.read'] } });
  return { client, tokens, ...rest };
}

const auditOf = async ({ workspace }: Person) =>
  (await deps.governance.audit.list(workspace.organizationId, { limit: 50 })).data;

describe('GET /v1/connected-apps', () => {
  test('lists the apps of the person with client, scopes and last use', async () => {
    verifies('oauth.connected-apps.list');
    const person = await createPerson(deps);
    const { client, tokens } = await connect(person);
    const api = bearerClient(await signedIn(accounts, person));
    const listed = await api.get('/v1/connected-apps');
    expect(listed).toMatchObject({
      status: 200,
      body: {
        total_count: 1,
        data: [
          {
            client_id: client.client_id,
            client_name: 'Test client',
            user_id: person.userId,
            project_id: person.workspace.projectID,
            scopes: ['svc:query.read'],
            last_used_at: null,
          },
        ],
      },
    });
    expect((await server.as(tokens.access_token).get('/probe')).status).toBe(200);
    await eventually(async () =>
      expect((await api.get('/v1/connected-apps')).body.data[0].last_used_at).toEqual(expect.any(Number)),
    );
    const stranger = await personOf(deps, await createWorkspace(deps));
    expect(await stranger.get('/v1/connected-apps')).toMatchObject({ body: { total_count: 0 } });
    expect(await bearerClient(person.workspace.apiKey).get('/v1/connected-apps')).toMatchObject(
      refusal(403, 'S2:resolve-scope', 'user token'),
    );
  });

  test('shows administrators all apps of the project', async () => {
    verifies('oauth.connected-apps.list');
    const person = await createPerson(deps, { role: 'MEMBER' });
    await connect(person);
    const { workspace } = person;
    const everyone = '/v1/connected-apps?everyone=true';
    expect(await (await personOf(deps, workspace)).get(everyone)).toMatchObject({
      status: 200,
      body: { total_count: 1, data: [{ user_id: person.userId }] },
    });
    expect(await (await personOf(deps, workspace, { role: 'MEMBER' })).get(everyone)).toMatchObject(
      refusal(403, 'S2:resolve-scope', 'svc:governance.read'),
    );
    expect(
      await bearerClient(await createKey(deps, workspace, { grants: ['svc:query.read'] })).get(everyone),
    ).toMatchObject(refusal(403, 'S2:resolve-scope'));
  });
});

describe('DELETE /v1/connected-apps/{id}', () => {
  test('disconnects the app immediately, only for its person and for an administrator, and audits it', async () => {
    verifies('oauth.connected-apps.end');
    const person = await createPerson(deps, { role: 'MEMBER' });
    const { workspace } = person;
    const own = await personOf(deps, workspace, { role: 'MEMBER', userId: person.userId });
    const admin = await personOf(deps, workspace, { userId: 'an-administrator' });
    const others = [
      await personOf(deps, workspace, { role: 'MEMBER', userId: 'a-colleague' }),
      await personOf(deps, await createWorkspace(deps)),
      bearerClient(await createKey(deps, workspace, { grants: ['svc:query.read'] })),
    ];
    for (const whoever of [own, admin]) {
      const { client, tokens } = await connect(person);
      const [app] = (await own.get('/v1/connected-apps')).body.data;
      for (const other of others) expect((await other.delete(`/v1/connected-apps/${app.id}`)).status).toBe(404);
      expect((await server.as(tokens.access_token).get('/probe')).status).toBe(200);
      expect(await whoever.delete(`/v1/connected-apps/${app.id}`)).toMatchObject({
        status: 200,
        body: { id: app.id, ended: true },
      });
      expect((await server.as(tokens.access_token).get('/probe')).status).toBe(401);
      expect(await refresh(server.client(), client, tokens.refresh_token)).toMatchObject({
        status: 400,
        body: { error: 'invalid_grant' },
      });
      expect((await whoever.delete(`/v1/connected-apps/${app.id}`)).status).toBe(404);
      expect(await auditOf(person)).toContainEqual(
        expect.objectContaining({ action: 'connected-app-end', resource: `oauth-grant:${app.id}` }),
      );
    }
    expect((await own.delete('/v1/connected-apps/no-id')).status).toBe(404);
  });

  test('is a page of the console, which disconnects an app after a confirmation', async () => {
    verifies('console.connected-apps');
    const person = await createPerson(deps);
    const { tokens } = await connect(person);
    await withPage(async (page) => {
      await signIn(page, person, consoleUrl(person, '/apps'));
      await page.getByRole('table', { name: 'Apps in this project' }).getByText('Test client').waitFor();
      await page
        .getByRole('table', { name: 'Your apps' })
        .getByRole('button', { name: 'Disconnect Test client…' })
        .click();
      await page.getByText('Its tokens stop working immediately.').waitFor();
      expect((await server.as(tokens.access_token).get('/probe')).status).toBe(200);
      await page.getByRole('button', { name: 'Disconnect app' }).click();
      await page.getByText('Test client was disconnected.').waitFor();
      await page.getByText('No apps are connected.').nth(1).waitFor();
    });
    expect((await server.as(tokens.access_token).get('/probe')).status).toBe(401);
    const viewer = await createPerson(deps, { role: 'VIEWER', workspace: person.workspace });
    await withPage(async (page) => {
      await signIn(page, viewer, consoleUrl(viewer, '/apps'));
      await page.getByText('No apps are connected.').waitFor();
      expect(await page.getByText('Apps in this project').count()).toBe(0);
    });
  });
});

describe('the audit chain', () => {
  test('records a revocation by the client, a reused refresh token and a reused code', async () => {
    verifies('oauth.audited');
    const person = await createPerson(deps);
    const first = await connect(person);
    expect(
      (
        await postForm(
          server.client(),
          '/oauth/revoke',
          new URLSearchParams({ token: first.tokens.refresh_token, client_id: first.client.client_id }).toString(),
        )
      ).status,
    ).toBe(200);
    const second = await connect(person);
    expect((await refresh(server.client(), second.client, second.tokens.refresh_token)).status).toBe(200);
    await deps.mongo.collections.oauth_grants.updateMany({ user_id: person.userId }, { $set: { 'rotated_at.g0': 1 } });
    expect((await refresh(server.client(), second.client, second.tokens.refresh_token)).status).toBe(400);
    const third = await connect(person);
    expect(
      (await exchange(server.client(), third.client, { code: third.code, code_verifier: third.verifier })).status,
    ).toBe(400);
    const actions = (await auditOf(person)).map(({ action }) => action);
    expect(actions).toEqual(expect.arrayContaining(['oauth-revocation', 'oauth-refresh-reuse', 'oauth-code-reuse']));
  });
});

test('a code is not exchanged after its person has lost the role', async () => {
  verifies('oauth.token.second-look');
  const person = await createPerson(deps, { role: 'PROJECT_ADMIN' });
  const client = await registerClient(server);
  const { verifier, challenge } = newPkce();
  const code = (await allow(server, person, authorizationPath(client, { verifier, challenge }))).get('code') ?? '';
  await deps.mongo.collections.memberships.updateOne({ user_id: person.userId }, { $set: { role: 'VIEWER' } });
  expect(await exchange(server.client(), client, { code, code_verifier: verifier })).toMatchObject({
    status: 400,
    body: { error: 'invalid_grant' },
  });
  expect(await deps.mongo.collections.oauth_grants.findOne({ user_id: person.userId })).toMatchObject({
    revoked_because: 'the role was changed after the consent',
  });
});
