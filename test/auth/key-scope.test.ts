import { describe, expect, test } from '@jest/globals';
import { defaultGrants, type Grant } from '../../src/auth/grants.js';
import { csrfOf, signedInConsole } from '../surfaces/console/console-browser.js';
import { apiClient } from '../support/client.js';
import { createKey, createWorkspace, personOf, userTokenOf, type Workspace } from '../support/fixture.js';
import { bearerClient, colleagueOf } from '../support/gateway.js';
import { refusal } from '../support/refusal.js';
import { testRun } from '../support/run.js';
import { verifies } from '../support/verifies.js';
import { createPerson, useAuthServer, userToken } from './auth-server.js';

const server = useAuthServer();
const { deps } = server;
const plain = defaultGrants('OWNER');
const permitAll = { policies: [{ policy_id: 'all', effect: 'permit' }] };

/** Creates one key of an OWNER and returns its clients for both surfaces. */
async function keyWith(workspace: Workspace, grants: readonly Grant[]) {
  const secret = await createKey(deps, workspace, { grants });
  return { gateway: bearerClient(secret), platform: apiClient(testRun().url, { 'x-api-key': secret }) };
}

/** Makes a call by a member of the project that a policy holds until it is approved. */
async function heldCall(workspace: Workspace): Promise<string> {
  const owner = await personOf(deps, workspace);
  const rules = {
    policies: [
      { policy_id: 'all', effect: 'permit' },
      { policy_id: 'ask', effect: 'require_approval', tools: ['save-model'] },
    ],
  };
  expect((await owner.put('/v1/policies', rules)).status).toBe(200);
  const colleague = await colleagueOf(deps, workspace, { role: 'PROJECT_ADMIN' });
  const held = await colleague.post('/v1/save-model', { model: 'a-model' });
  expect(held.status).toBe(202);
  return held.body.approval_id as string;
}

describe('an API key of an OWNER', () => {
  test('with only svc:query.read cannot read or change records of the organization', async () => {
    verifies('auth.keys.pinned', 'governance.grants');
    const workspace = await createWorkspace(deps);
    const approval = await heldCall(workspace);
    const { gateway } = await keyWith(workspace, ['svc:query.read']);
    expect(await gateway.put('/v1/policies', permitAll)).toMatchObject(
      refusal(403, 'S2:resolve-scope', 'svc:governance.write'),
    );
    for (const path of [
      '/v1/policies',
      '/v1/policies/versions',
      '/v1/policies/versions/1',
      '/v1/audit',
      '/v1/audit/verify',
      '/v1/audit/checkpoints',
      '/v1/audit/export',
      '/v1/connected-apps?everyone=true',
    ]) {
      expect(await gateway.get(path)).toMatchObject(refusal(403, 'S2:resolve-scope', 'svc:governance.read'));
    }
    expect(await gateway.post('/v1/policies/evaluate', { tool: 'docs' })).toMatchObject(
      refusal(403, 'S2:resolve-scope'),
    );
    expect(await gateway.get('/v1/approvals')).toMatchObject({ status: 200, body: { total_count: 0 } });
    expect(await gateway.get(`/v1/approvals/${approval}`)).toMatchObject({ status: 404 });
    for (const vote of ['approve', 'reject'])
      expect(await gateway.post(`/v1/approvals/${approval}/${vote}`, {})).toMatchObject(
        refusal(403, 'S2:resolve-scope'),
      );
    expect(await (await personOf(deps, workspace)).get('/v1/policies')).toMatchObject({ body: { version: 1 } });
  });

  test('with the default grants cannot govern, create an OWNER or access another project', async () => {
    verifies('auth.keys.pinned', 'governance.grants');
    const workspace = await createWorkspace(deps);
    const other = await createWorkspace(deps, { organizationId: workspace.organizationId });
    const approval = await heldCall(workspace);
    const { gateway, platform } = await keyWith(workspace, plain);
    expect((await gateway.put('/v1/policies', permitAll)).status).toBe(403);
    expect((await gateway.get('/v1/audit/export')).status).toBe(403);
    expect((await gateway.post(`/v1/approvals/${approval}/approve`, {})).status).toBe(403);
    const somebody = await createPerson(deps, { workspace, role: null });
    for (const role of ['OWNER', 'ORG_ADMIN']) {
      expect(
        await platform.post(`/project-member/${workspace.projectID}`, { user_id: somebody.userId, role }),
      ).toMatchObject(refusal(403, 'access_denied', 'only a user'));
    }
    const owner = await createPerson(deps, { workspace, role: 'OWNER' });
    expect(
      await platform.patch(`/project-member/${workspace.projectID}/${owner.userId}`, { role: 'VIEWER' }),
    ).toMatchObject(refusal(403, 'access_denied', 'only a user'));
    expect(await platform.delete(`/project-member/${workspace.projectID}/${owner.userId}`)).toMatchObject(
      refusal(403, 'access_denied', 'only a user'),
    );
    expect(await platform.delete(`/v1/project/${other.projectID}`)).toMatchObject(
      refusal(403, 'access_denied', 'own project'),
    );
    expect(await platform.patch(`/v1/project/${other.projectID}`, { description: 'taken over' })).toMatchObject(
      refusal(403, 'access_denied', 'own project'),
    );
    expect(await other.api.get(`/v1/project/${other.projectID}`)).toMatchObject({
      status: 200,
      body: { description: '' },
    });
  });

  test('works in its own project, reads the project records of the organization and creates a project', async () => {
    verifies('auth.keys.pinned');
    const workspace = await createWorkspace(deps);
    const other = await createWorkspace(deps, { organizationId: workspace.organizationId });
    const { platform } = await keyWith(workspace, plain);
    expect(await platform.patch(`/v1/project/${workspace.projectID}`, { description: 'ours' })).toMatchObject({
      status: 200,
      body: { description: 'ours' },
    });
    expect(await platform.get(`/v1/project/${other.projectID}`)).toMatchObject({ status: 200 });
    expect(await platform.get('/v1/project')).toMatchObject({ body: { total_count: 2 } });
    expect(await platform.get(`/settings/${other.projectID}`)).toMatchObject(refusal(403, 'access_denied'));
    const elsewhere = { 'x-service-workspace': `ws_${other.projectID}` };
    expect(await platform.post('/tag', { name: 'lost' }, elsewhere)).toMatchObject(refusal(403, 'access_denied'));
    expect(await platform.post('/v1/project', { name: 'made by a key' })).toMatchObject({ status: 201 });
    const somebody = await createPerson(deps, { workspace, role: null });
    const member = `/project-member/${workspace.projectID}`;
    // Of a role with governance grants, a key needs these grants as well.
    expect(await platform.post(member, { user_id: somebody.userId, role: 'PROJECT_ADMIN' })).toMatchObject(
      refusal(403, 'access_denied', 'svc:governance'),
    );
    expect(await platform.post(member, { user_id: somebody.userId, role: 'MEMBER' })).toMatchObject({ status: 201 });
    expect(await platform.patch(`${member}/${somebody.userId}`, { role: 'VIEWER' })).toMatchObject(
      refusal(403, 'access_denied', 'svc:governance.read'),
    );
    expect(await platform.delete(`${member}/${somebody.userId}`)).toMatchObject({ status: 200 });
  });

  test('reads only the spending of its own project', async () => {
    verifies('auth.keys.pinned');
    const workspace = await createWorkspace(deps);
    const { organizationId, projectID } = workspace;
    const entry = (project_id: string) => ({
      _id: `${project_id}-entry`,
      organization_id: organizationId,
      project_id,
      execution_id: 'e',
      agentflow_id: 'a',
      kind: 'execution' as const,
      credits: 1,
      model: null,
      input_tokens: 0,
      output_tokens: 0,
      at: 1,
      applied: true,
    });
    await deps.mongo.collections.credit_history.insertMany([entry(projectID), entry(`${projectID}-other`)] as never[]);
    const { platform } = await keyWith(workspace, plain);
    expect(await platform.get('/credit/history')).toMatchObject({
      status: 200,
      body: { total_count: 1, data: [{ project_id: projectID }] },
    });
    expect(await (await personOf(deps, workspace)).get('/credit/history')).toMatchObject({
      status: 200,
      body: { total_count: 2 },
    });
  });
});

describe('the governance grants', () => {
  test('can be given only explicitly, by OWNER and ORG_ADMIN, and allow the operations that they name', async () => {
    verifies('governance.grants', 'governance.grants.given');
    const owner = await createPerson(deps);
    const { workspace } = owner;
    const mint = async (token: string, grants?: string[]) =>
      server
        .as(token)
        .post('/v1/apikeys', { name: 'governor', project_id: workspace.projectID, ...(grants && { grants }) });
    const token = await userToken(server, owner);
    expect((await mint(token)).body.scope.grants).not.toEqual(
      expect.arrayContaining([expect.stringContaining('governance')]),
    );
    const admin = await createPerson(deps, { workspace, role: 'PROJECT_ADMIN' });
    expect(await mint(await userToken(server, admin), ['svc:governance.read'])).toMatchObject(
      refusal(403, 'S2:resolve-scope', 'svc:governance.read'),
    );
    const approval = await heldCall(workspace);
    const reader = bearerClient((await mint(token, ['svc:governance.read'])).body.secret as string);
    for (const path of ['/v1/audit', '/v1/audit/export', '/v1/policies', `/v1/approvals/${approval}`])
      expect((await reader.get(path)).status).toBe(200);
    expect((await reader.put('/v1/policies', permitAll)).status).toBe(403);
    expect((await reader.post(`/v1/approvals/${approval}/approve`, {})).status).toBe(403);
    const writer = bearerClient(
      (await mint(token, ['svc:governance.read', 'svc:governance.write'])).body.secret as string,
    );
    expect(await writer.post(`/v1/approvals/${approval}/approve`, {})).toMatchObject({
      status: 200,
      body: { status: 'approved' },
    });
    expect((await writer.put('/v1/policies', permitAll)).status).toBe(200);
  });

  test('are available to a person with a role that reads the whole project', async () => {
    verifies('governance.grants');
    const workspace = await createWorkspace(deps);
    const audit = async (role: string) => (await (await personOf(deps, workspace, { role })).get('/v1/audit')).status;
    expect(await Promise.all(['OWNER', 'ORG_ADMIN', 'PROJECT_ADMIN', 'MEMBER', 'VIEWER'].map(audit))).toEqual([
      200, 200, 200, 403, 200,
    ]);
  });
});

describe('the platform API', () => {
  test('accepts a user token and a session with the role of their person', async () => {
    verifies('platform.credentials.person');
    const owner = await createPerson(deps);
    const { workspace } = owner;
    const other = await createWorkspace(deps, { organizationId: workspace.organizationId });
    const { body } = await server.client().post('/v1/auth/login', { email: owner.email, password: owner.password });
    for (const token of [await userToken(server, owner), body.access_token as string]) {
      const person = bearerClient(token);
      expect(await person.get(`/settings/${workspace.projectID}`)).toMatchObject({ status: 200 });
      expect(await person.patch(`/v1/project/${other.projectID}`, { description: 'by the owner' })).toMatchObject({
        status: 200,
      });
      expect(await person.get(`/settings/${other.projectID}`)).toMatchObject(refusal(403, 'access_denied'));
    }
    const moved = bearerClient(await userToken(server, owner));
    expect(
      await moved.get(`/settings/${other.projectID}`, { 'x-service-workspace': `ws_${other.projectID}` }),
    ).toMatchObject({ status: 200 });
    expect(await moved.get('/v1/project', { 'x-service-workspace': 'ws_unknown' })).toMatchObject(
      refusal(403, 'access_denied'),
    );
    const member = bearerClient(await userTokenOf(deps, workspace, { role: 'MEMBER' }));
    expect(await member.get(`/settings/${workspace.projectID}`)).toMatchObject(
      refusal(403, 'access_denied', 'svc:orchestrate.read'),
    );
  });

  test('accepts the console cookie only from its own pages', async () => {
    verifies('platform.credentials.person');
    const owner = await createPerson(deps);
    const { cookie = '' } = await signedInConsole(owner);
    const origin = testRun().url.replace('127.0.0.1', 'localhost');
    const token = await csrfOf(cookie);
    const ask = (headers: Record<string, string>) =>
      apiClient(testRun().url, { cookie, 'x-csrf-token': token, ...headers }).get('/v1/project');
    expect(await ask({ origin })).toMatchObject({ status: 200, body: { total_count: 1 } });
    const foreign: Record<string, string>[] = [
      { 'x-csrf-token': '' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: `${origin}0` },
    ];
    for (const headers of foreign) {
      expect(await ask(headers)).toMatchObject(refusal(401, 'invalid_token'));
    }
    expect(await ask({ origin, 'x-service-workspace': 'ws_unknown' })).toMatchObject(refusal(403, 'access_denied'));
    const other = await createWorkspace(deps, { organizationId: owner.workspace.organizationId });
    const moved = apiClient(testRun().url, {
      cookie,
      'x-csrf-token': token,
      'x-service-workspace': `ws_${other.projectID}`,
    });
    expect(await moved.get(`/settings/${other.projectID}`)).toMatchObject({ status: 200 });
  });

  test('lets a person delete another project and create an OWNER', async () => {
    verifies('platform.credentials.person');
    const workspace = await createWorkspace(deps);
    const other = await createWorkspace(deps, { organizationId: workspace.organizationId });
    const person = await personOf(deps, workspace);
    const somebody = await createPerson(deps, { workspace, role: null });
    expect(
      await person.post(`/project-member/${workspace.projectID}`, { user_id: somebody.userId, role: 'OWNER' }),
    ).toMatchObject({ status: 201 });
    expect(await person.delete(`/v1/project/${other.projectID}`)).toMatchObject({ status: 200 });
  });

  test('refuses an API key as bearer, an invalid token and a missing credential, and names what it accepts', async () => {
    verifies('platform.credentials.person');
    const workspace = await createWorkspace(deps);
    expect(await bearerClient(workspace.apiKey).get('/v1/project')).toMatchObject(
      refusal(401, 'invalid_token', 'x-api-key'),
    );
    expect(await bearerClient('no.such.token').get('/v1/project')).toMatchObject(refusal(401, 'invalid_token'));
    expect(await apiClient(testRun().url).get('/v1/project')).toMatchObject(refusal(401, 'invalid_token', 'x-api-key'));
  });
});

test('creating a key with an API key is refused with advice to use a user token', async () => {
  verifies('auth.keys.create.not-by-key');
  const { projectID, apiKey } = await createWorkspace(deps);
  const answer = await bearerClient(apiKey).post('/v1/apikeys', { name: 'another', project_id: projectID });
  expect(answer).toMatchObject(
    refusal(401, 'invalid_token', 'token invalid. API keys cannot create keys: use a user token'),
  );
});
