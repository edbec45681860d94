import { describe, expect, test } from '@jest/globals';
import { Grant } from '../../src/auth/grants.js';
import { memberOf } from '../../src/auth/principal.js';
import { grantRole } from '../../src/auth/users.js';
import { newId } from '../../src/base/ids.js';
import { sha256Hex } from '../../src/base/hash.js';
import { eventually } from '../support/eventually.js';
import { createWorkspace } from '../support/fixture.js';
import { refusal } from '../support/refusal.js';
import { verifies } from '../support/verifies.js';
import { createPerson, sessionOf, useAuthServer, userToken, type Person } from './auth-server.js';

const server = useAuthServer();
const two = useAuthServer();
const { collections } = server.deps.mongo;
const eight = [
  'svc:query.read',
  'svc:docs.read',
  'svc:ontology.write',
  'svc:orchestrate.read',
  'svc:orchestrate.write',
  'svc:agent.run',
  'svc:skill.write',
  'svc:model.write',
];

async function adminOf(person: Person) {
  return server.as(await userToken(server, person));
}

describe('POST /v1/apikeys', () => {
  test('creates a key for a project and stores only its hash', async () => {
    verifies(
      'auth.keys.create',
      'resource.api-key',
      'auth.keys.hashed',
      'auth.keys.default-grants.admin',
      'auth.keys.secret-once',
    );
    const person = await createPerson(server.deps);
    const { organizationId: org_id, departmentId: dept_id, projectID: project_id } = person.workspace;
    const admin = await adminOf(person);
    const { status, body, headers } = await admin.post('/v1/apikeys', { name: 'import', org_id, dept_id, project_id });
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toEqual({
      id: expect.any(String),
      name: 'import',
      note: expect.stringMatching(/once/),
      scope: {
        org_id,
        dept_id,
        project_id,
        user_id: person.userId,
        role: 'OWNER',
        grants: eight,
        auth_kind: 'api_key',
      },
      secret: expect.stringMatching(/^svc_sk_[\w-]{43}$/),
    });
    expect((await two.as(body.secret).get('/probe')).body).toMatchObject({
      kind: 'api_key',
      keyId: body.id,
      grants: eight,
    });
    const stored = await collections.api_keys.findOne({ id: body.id });
    expect(stored?._id).toBe(sha256Hex(body.secret));
    const listed = await admin.get(`/v1/apikeys?project_id=${project_id}`);
    expect(JSON.stringify([stored, listed.body])).not.toContain(body.secret.slice('svc_sk_'.length));
  });

  test('accepts each of the three admin roles and refuses a lower role with the reason', async () => {
    verifies('auth.keys.create.admin-only');
    const workspace = await createWorkspace(server.deps);
    const statusOf = async (role: string) => {
      const admin = await adminOf(await createPerson(server.deps, { role, workspace }));
      return admin.post('/v1/apikeys', { name: 'k', project_id: workspace.projectID });
    };
    for (const role of ['OWNER', 'ORG_ADMIN', 'PROJECT_ADMIN'])
      expect((await statusOf(role)).body.scope.role).toBe(role);
    for (const role of ['MEMBER', 'VIEWER', 'owner', 'ADMIN']) {
      const { status, body } = await statusOf(role);
      expect([status, body]).toEqual([
        403,
        { error: 'S2:resolve-scope', error_description: 'API key creation requires an admin role on this project' },
      ]);
    }
  });

  test('checks the current role on the target project, not the role in the token', async () => {
    const admin = await createPerson(server.deps, { role: 'PROJECT_ADMIN' });
    const { projectID } = admin.workspace;
    const sister = await createWorkspace(server.deps, { organizationId: admin.workspace.organizationId });
    const client = await adminOf(admin);
    const mint = (project_id: string) => client.post('/v1/apikeys', { name: 'k', project_id });
    expect((await mint(projectID)).status).toBe(200);
    expect((await mint(sister.projectID)).status).toBe(403);
    expect((await mint(newId())).status).toBe(403);
    await collections.memberships.updateOne(
      { _id: `project:${projectID}:${admin.userId}` },
      { $set: { role: 'VIEWER' } },
    );
    expect((await mint(projectID)).status).toBe(403);
    await collections.memberships.deleteOne({ _id: `project:${projectID}:${admin.userId}` });
    expect((await mint(projectID)).status).toBe(403);
  });

  test('obeys the rules of the organization of the key, and is recorded there, whatever the project of the token', async () => {
    const person = await createPerson(server.deps);
    const target = await createPerson(server.deps);
    const { projectID: project_id, organizationId } = target.workspace;
    await grantRole(collections, { userId: person.userId, organizationId, projectId: null, role: 'OWNER' });
    const client = await adminOf(person);
    const { id } = (await client.post('/v1/apikeys', { name: 'k', project_id })).body;
    const { audit, policies } = server.deps.governance;
    const entries = async () =>
      (await audit.list(organizationId, { limit: 10 })).data.filter(({ action }) => action.startsWith('api-key.'));
    expect(await entries()).toMatchObject([{ action: 'api-key.create', outcome: 'completed' }]);
    const owner = memberOf({ userId: target.userId, organizationId, projectId: project_id }, Grant.options);
    await policies.replace({ ...owner, role: 'OWNER' }, [
      { policy_id: 'none', description: '', effect: 'forbid', tools: ['api-key.create', 'api-key.revoke'] },
    ]);
    for (const refused of [
      await client.post('/v1/apikeys', { name: 'k', project_id }),
      await client.post(`/api-key?projectID=${project_id}`, { name: 'k' }),
      await client.delete(`/v1/apikeys/${id}?project_id=${project_id}`),
    ])
      expect(refused).toMatchObject(refusal(403, 'S5:policy'));
    expect(await entries()).toHaveLength(4);
  });

  test('accepts neither a key nor a session on any of its routes', async () => {
    verifies('auth.keys.create.not-by-key', 'auth.session.not-for-keys', 'auth.wrong-kind');
    const owner = await createPerson(server.deps);
    const { projectID, apiKey } = owner.workspace;
    for (const credential of [apiKey, (await sessionOf(server, owner)).access]) {
      const client = server.as(credential);
      const answers = [
        await client.post('/v1/apikeys', { name: 'k', project_id: projectID }),
        await client.get(`/v1/apikeys?project_id=${projectID}`),
        await client.delete(`/v1/apikeys/${newId()}?project_id=${projectID}`),
        await client.post(`/api-key?projectID=${projectID}`, { name: 'k' }),
      ];
      for (const answer of answers) expect(answer).toMatchObject(refusal(401, 'invalid_token', 'token invalid. '));
      expect(answers[0]?.body.error_description).toMatch(
        /(API keys|SDK sessions) cannot create keys: use a user token$/,
      );
    }
  });

  test('returns each explicit grant once and no unknown grant', async () => {
    verifies('auth.keys.explicit-grants');
    const owner = await createPerson(server.deps);
    const admin = await adminOf(owner);
    const mint = (grants: unknown) =>
      admin.post('/v1/apikeys', { name: 'k', project_id: owner.workspace.projectID, grants });
    const two = ['svc:docs.read', 'svc:agent.run'];
    const made = await mint([...two, ...two]);
    expect(made.body.scope.grants).toEqual(two);
    expect((await server.as(made.body.secret).get('/probe')).body.grants).toEqual(two);
    // No role has this grant by default, so only an administrator can give it (docs/decisions/0017).
    expect((await mint(['svc:codesync.write'])).body.scope.grants).toEqual(['svc:codesync.write']);
    const unknown = await mint(['svc:docs.read', 'svc:everything']);
    expect([unknown.status, unknown.body.error]).toEqual([400, 'invalid_request']);
    expect(unknown.body.error_description).toContain('svc:everything');
    for (const wrong of [[], 'svc:docs.read', [null], [{}]]) expect((await mint(wrong)).status).toBe(400);
  });

  test('does not create a key with more grants than the token has', async () => {
    const owner = await createPerson(server.deps);
    const { tokens } = server.deps.auth;
    const claims = await tokens.verify(await userToken(server, owner), { tokenUse: ['user'] });
    const narrow = server.as(await tokens.sign({ ...claims, grants: ['svc:docs.read'] }, { expiresInSeconds: 60 }));
    const mint = (grants?: string[]) =>
      narrow.post('/v1/apikeys', { name: 'k', project_id: owner.workspace.projectID, grants });
    expect((await mint()).body.scope.grants).toEqual(['svc:docs.read']);
    expect((await mint(['svc:query.read'])).status).toBe(403);
  });

  test('refuses another organization or department, missing and unknown fields', async () => {
    const owner = await createPerson(server.deps);
    const admin = await adminOf(owner);
    const good = { name: 'k', project_id: owner.workspace.projectID };
    for (const foreign of [{ org_id: newId() }, { dept_id: newId() }]) {
      expect((await admin.post('/v1/apikeys', { ...good, ...foreign })).status).toBe(403);
    }
    const wrong: [object, string][] = [
      [{ name: 'k' }, 'project_id'],
      [{ project_id: good.project_id }, 'name'],
      [{ ...good, name: '  ' }, 'name'],
      [{ ...good, role: 'OWNER' }, 'role'],
      [{ ...good, project_id: { $gt: '' } }, 'project_id'],
    ];
    for (const [body, field] of wrong) {
      const answer = await admin.post('/v1/apikeys', body);
      expect([answer.status, answer.body.error_description]).toEqual([400, expect.stringContaining(field)]);
    }
  });
});

describe('GET /v1/apikeys', () => {
  test('lists the keys of the project in pages, newest first, without secrets', async () => {
    verifies('auth.keys.list');
    const owner = await createPerson(server.deps);
    const { projectID } = owner.workspace;
    const admin = await adminOf(owner);
    for (const name of ['a', 'b', 'c']) await admin.post('/v1/apikeys', { name, project_id: projectID });
    const first = await admin.get(`/v1/apikeys?project_id=${projectID}&limit=2`);
    expect(first.body).toMatchObject({ total_count: 4, data: [{ name: 'c' }, { name: 'b' }] });
    expect(Object.keys(first.body.data[0]).sort()).toEqual([
      'created_at',
      'created_by',
      'expires_at',
      'id',
      'last_used_at',
      'name',
      'revoked_at',
      'scope',
    ]);
    expect(first.body.data[0]).toMatchObject({
      created_by: owner.userId,
      last_used_at: null,
      revoked_at: null,
      expires_at: null,
    });
    const second = await admin.get(`/v1/apikeys?project_id=${projectID}&limit=2&cursor=${first.body.next_cursor}`);
    expect(second.body).toMatchObject({ data: [{ name: 'a' }, { name: 'test' }], next_cursor: null });
    expect((await admin.get(`/v1/apikeys?project_id=${projectID}&cursor=junk`)).status).toBe(400);
    expect((await admin.get('/v1/apikeys')).status).toBe(400);
    const member = await adminOf(await createPerson(server.deps, { role: 'MEMBER', workspace: owner.workspace }));
    expect((await member.get(`/v1/apikeys?project_id=${projectID}`)).status).toBe(403);
    expect((await admin.get(`/v1/apikeys?project_id=${(await createWorkspace(server.deps)).projectID}`)).status).toBe(
      403,
    );
  });

  test('shows the last use, at the cost of at most one write per minute', async () => {
    const owner = await createPerson(server.deps);
    const admin = await adminOf(owner);
    const before = Date.now() / 1000;
    await Promise.all(Array.from({ length: 20 }, () => server.as(owner.workspace.apiKey).get('/probe')));
    const lastUse = async () => {
      const { body } = await admin.get(`/v1/apikeys?project_id=${owner.workspace.projectID}`);
      return body.data[0].last_used_at as number;
    };
    const used = await eventually(async () => {
      const at = await lastUse();
      expect(at).toBeGreaterThanOrEqual(before);
      return at;
    });
    await server.as(owner.workspace.apiKey).get('/probe');
    expect(await lastUse()).toBe(used);
  });
});

describe('DELETE /v1/apikeys/{key_id}', () => {
  test('revokes a key immediately in every process, and again without change', async () => {
    verifies('auth.keys.revoke');
    const owner = await createPerson(server.deps);
    const { projectID } = owner.workspace;
    const admin = await adminOf(owner);
    const { id, secret } = (await admin.post('/v1/apikeys', { name: 'k', project_id: projectID })).body;
    expect((await two.as(secret).get('/probe')).status).toBe(200);
    const revoke = () => admin.delete(`/v1/apikeys/${id}?project_id=${projectID}`);
    expect(await revoke()).toMatchObject({ status: 200, body: { id, revoked: true } });
    expect((await two.as(secret).get('/probe')).body).toMatchObject({
      error_description: 'api key invalid or revoked',
    });
    const [{ revoked_at }] = (await admin.get(`/v1/apikeys?project_id=${projectID}`)).body.data;
    expect(revoked_at).toEqual(expect.any(Number));
    expect((await revoke()).body).toEqual({ id, revoked: true });
    expect((await admin.get(`/v1/apikeys?project_id=${projectID}`)).body.data[0].revoked_at).toBe(revoked_at);
  });

  test('answers 404 for a key of another project, 400 without a project and 403 for a lower role', async () => {
    const owner = await createPerson(server.deps);
    const stranger = await createPerson(server.deps);
    const { projectID } = owner.workspace;
    const admin = await adminOf(owner);
    const foreign = (await server.as(stranger.workspace.apiKey).get('/probe')).body.keyId;
    for (const id of [foreign, newId(), 'no-id', '%00', '$ne']) {
      expect((await admin.delete(`/v1/apikeys/${id}?project_id=${projectID}`)).status).toBe(404);
    }
    expect((await admin.delete(`/v1/apikeys/${foreign}?project_id=${stranger.workspace.projectID}`)).status).toBe(403);
    expect((await admin.delete(`/v1/apikeys/${foreign}`)).status).toBe(400);
    const member = await adminOf(await createPerson(server.deps, { role: 'MEMBER', workspace: owner.workspace }));
    const own = (await server.as(owner.workspace.apiKey).get('/probe')).body.keyId;
    expect((await member.delete(`/v1/apikeys/${own}?project_id=${projectID}`)).status).toBe(403);
    expect((await server.as(stranger.workspace.apiKey).get('/probe')).status).toBe(200);
  });
});

describe('POST /api-key', () => {
  test('creates a key by the rules of the gateway with the bearer token of a user', async () => {
    verifies('platform.api-keys.create');
    const owner = await createPerson(server.deps);
    const { projectID } = owner.workspace;
    const path = `/api-key?projectID=${projectID}`;
    const { status, body } = await (
      await adminOf(owner)
    ).post(path, { name: 'platform', grants: ['svc:orchestrate.read'] });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      name: 'platform',
      scope: { project_id: projectID, grants: ['svc:orchestrate.read'] },
    });
    expect((await server.as(body.secret).get('/probe')).status).toBe(200);
    const member = await adminOf(await createPerson(server.deps, { role: 'MEMBER', workspace: owner.workspace }));
    expect((await member.post(path, { name: 'k' })).status).toBe(403);
    expect((await server.client().post(path, { name: 'k' })).status).toBe(401);
  });
});
