import { describe, expect, test } from '@jest/globals';
import { changeRoles } from '../../../src/auth/memberships.js';
import { memberRoles } from '../../../src/auth/grants.js';
import { grantRole, membershipOn } from '../../../src/auth/users.js';
import { setPlan } from '../../../src/domain/customers/operations/account.js';
import { encodeCursor } from '../../../src/stores/lists.js';
import { newId } from '../../../src/base/ids.js';
import { createPerson, sessionOf, useAuthServer, userToken, type Person } from '../../auth/auth-server.js';
import { apiClient, type ApiClient } from '../../support/client.js';
import {
  createKey,
  createPersonalWorkspace,
  createWorkspace,
  personOf,
  type Workspace,
} from '../../support/fixture.js';
import { refusal } from '../../support/refusal.js';
import { testRun } from '../../support/run.js';
import { verifies } from '../../support/verifies.js';

const server = useAuthServer();
const { deps } = server;
const { collections } = deps.mongo;
const pathOf = ({ projectID }: Workspace, userId = '') =>
  `/project-member/${projectID}${userId === '' ? '' : `/${userId}`}`;
const personIn = (workspace: Workspace, role: string | null) => createPerson(deps, { workspace, role });
const usersOf = async (workspace: Workspace) =>
  (await workspace.api.get(pathOf(workspace))).body.data.map(({ user_id }: { user_id: string }) => user_id) as string[];

/** The API with a key of a role, for any or a given person. */
async function keyOf(workspace: Workspace, role: string, { userId } = workspace): Promise<ApiClient> {
  const grants = ['svc:orchestrate.read', 'svc:orchestrate.write'] as const;
  return apiClient(testRun().url, { 'x-api-key': await createKey(deps, { ...workspace, userId }, { role, grants }) });
}

/** Every kind of credential: a user token, a session with its refresh token, a key, a grant to an OAuth client. */
async function credentialsOf(person: Person, role: string) {
  const { workspace, userId } = person;
  const [token, session, key] = await Promise.all([
    userToken(server, person),
    sessionOf(server, person),
    keyOf(workspace, role, { ...workspace, userId }),
  ]);
  const grant = {
    _id: newId(),
    client_id: 'client',
    user_id: userId,
    project_id: workspace.projectID,
    scopes: ['svc:query.read' as const],
    resource: 'r',
  };
  await deps.oauth.grants.open(grant);
  return async () => ({
    token: (await server.as(token).get('/probe')).status,
    session: (await server.as(session.access).get('/probe')).status,
    refresh: (await server.client().post('/v1/auth/refresh', { refresh_token: session.refresh })).status,
    key: (await key.get('/agentflow')).status,
    grant: await deps.oauth.grants.isLive(grant._id),
  });
}

const none = { token: 401, session: 401, refresh: 401, key: 401, grant: false };

describe('GET /project-member/{projectID}', () => {
  test('lists people with a role on the project or its organization, in pages, and the summary counts them', async () => {
    verifies('platform.members.list', 'platform.members.summary');
    const workspace = await createWorkspace(deps);
    const elsewhere = await createWorkspace(deps, { organizationId: workspace.organizationId });
    const people = {
      owner: await personIn(workspace, 'OWNER'),
      viewer: await personIn(workspace, 'VIEWER'),
      member: await personIn(workspace, 'MEMBER'),
    };
    await Promise.all([personIn(elsewhere, 'MEMBER'), createPerson(deps), personIn(workspace, null)]);
    const { body } = await workspace.api.get(pathOf(workspace));
    expect(body).toMatchObject({ total_count: 3, next_cursor: null });
    const { owner, viewer } = people;
    expect(body.data).toContainEqual({
      ...{ user_id: viewer.userId, email: viewer.email.toLowerCase(), name: 'Person' },
      ...{ role: 'VIEWER', roles: ['VIEWER'] },
      ...{ projectID: workspace.projectID, whole_organization: false, created_at: expect.any(Number) },
    });
    expect(body.data).toContainEqual(
      expect.objectContaining({ user_id: owner.userId, role: 'OWNER', whole_organization: true }),
    );
    const ids = Object.values(people).map(({ userId }) => userId);
    const summary = await workspace.api.get(`${pathOf(workspace)}/summary`);
    expect(summary.body).toEqual({ total_count: 3, user_ids: expect.arrayContaining(ids) });
    const first = (await workspace.api.get(`${pathOf(workspace)}?limit=2`)).body;
    const second = (await workspace.api.get(`${pathOf(workspace)}?limit=2&cursor=${first.next_cursor}`)).body;
    expect([...first.data, ...second.data]).toEqual(body.data);
    for (const cursor of ['x', encodeCursor('x')])
      expect(await workspace.api.get(`${pathOf(workspace)}?cursor=${cursor}`)).toMatchObject(
        refusal(400, 'invalid_request', 'cursor'),
      );
  });

  test('continues after a member who was removed since the previous page', async () => {
    verifies('platform.members.list');
    const workspace = await createWorkspace(deps);
    for (let count = 0; count < 4; count += 1) await personIn(workspace, 'MEMBER');
    const whole = await usersOf(workspace);
    const first = (await workspace.api.get(`${pathOf(workspace)}?limit=2`)).body;
    await workspace.api.delete(pathOf(workspace, first.data[1].user_id));
    const second = await workspace.api.get(`${pathOf(workspace)}?limit=2&cursor=${first.next_cursor}`);
    expect(second).toMatchObject({ status: 200, body: { total_count: 3, next_cursor: null } });
    expect(second.body.data.map(({ user_id }: { user_id: string }) => user_id)).toEqual(whole.slice(2));
  });

  test('requires a credential of the project', async () => {
    const [{ api }, other] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
    for (const path of [pathOf(other), `${pathOf(other)}/summary`])
      expect(await api.get(path)).toMatchObject(refusal(403, 'access_denied'));
    expect(await api.post(pathOf(other), { user_id: 'u', role: 'MEMBER' })).toMatchObject(
      refusal(403, 'access_denied'),
    );
    expect(await api.delete(pathOf(other, 'u'))).toMatchObject(refusal(403, 'access_denied'));
  });
});

describe('POST /project-member/{projectID}', () => {
  test('gives a user of the organization a role, by id or mail address, with which they can sign in', async () => {
    verifies('platform.members.add');
    const workspace = await createPersonalWorkspace(deps);
    const [one, two, three] = await Promise.all([
      personIn(workspace, null),
      personIn(workspace, null),
      personIn(workspace, null),
    ]);
    const made = await workspace.api.post(pathOf(workspace), { email: one.email.toUpperCase(), role: 'MEMBER' });
    expect(made).toMatchObject({
      status: 201,
      body: { user_id: one.userId, role: 'MEMBER', whole_organization: false },
    });
    expect(await workspace.api.post(pathOf(workspace), { user_id: two.userId, role: 'PROJECT_ADMIN' })).toMatchObject({
      status: 201,
    });
    expect(await workspace.api.post(pathOf(workspace), { user_id: three.userId, role: 'ORG_ADMIN' })).toMatchObject({
      status: 201,
      body: { whole_organization: true },
    });
    expect(await server.as(await userToken(server, two)).get('/probe')).toMatchObject({
      body: { role: 'PROJECT_ADMIN' },
    });
    const elsewhere = await createWorkspace(deps, { organizationId: workspace.organizationId });
    expect(await server.as(await userToken(server, { ...three, workspace: elsewhere })).get('/probe')).toMatchObject({
      body: { role: 'ORG_ADMIN' },
    });
    expect(await workspace.api.post(pathOf(workspace), { user_id: one.userId, role: 'VIEWER' })).toMatchObject(
      refusal(409, 'conflict', 'MEMBER'),
    );
    expect(await workspace.api.post(pathOf(workspace), { user_id: one.userId, role: 'OWNER' })).toMatchObject(
      refusal(409, 'conflict', 'MEMBER'),
    );
    expect(await workspace.api.get('/customer')).toMatchObject({ body: { usage: { number_of_members: 3 } } });
  });

  test('gives an unknown user and one of another organization the same refusal, and refuses an invalid request', async () => {
    const [workspace, stranger] = await Promise.all([createWorkspace(deps), createPerson(deps, { role: null })]);
    for (const who of [
      { user_id: newId() },
      { email: 'nobody@example.com' },
      { user_id: stranger.userId },
      { email: stranger.email },
    ]) {
      expect(await workspace.api.post(pathOf(workspace), { ...who, role: 'MEMBER' })).toMatchObject(
        refusal(404, 'not_found'),
      );
    }
    for (const body of [
      { user_id: 'u' },
      { role: 'MEMBER' },
      { user_id: 'u', email: 'a@example.com', role: 'MEMBER' },
      { user_id: 'u', role: 'KING' },
      { user_id: 'u', role: 'MEMBER', x: 1 },
    ]) {
      expect(await workspace.api.post(pathOf(workspace), body)).toMatchObject(refusal(400, 'invalid_request'));
    }
  });

  test('requires an administrator, who cannot give a role above their own', async () => {
    const workspace = await createWorkspace(deps);
    const { userId: user_id } = await personIn(workspace, null);
    const [member, admin, orgAdmin] = await Promise.all(
      ['MEMBER', 'PROJECT_ADMIN', 'ORG_ADMIN'].map((role) => keyOf(workspace, role)),
    );
    expect(await member?.post(pathOf(workspace), { user_id, role: 'VIEWER' })).toMatchObject(
      refusal(403, 'access_denied'),
    );
    expect(await admin?.post(pathOf(workspace), { user_id, role: 'ORG_ADMIN' })).toMatchObject(
      refusal(403, 'access_denied', 'higher'),
    );
    expect(await orgAdmin?.post(pathOf(workspace), { user_id, role: 'OWNER' })).toMatchObject(
      refusal(403, 'access_denied', 'higher'),
    );
    expect(await usersOf(workspace)).toEqual([]);
    // The key has fewer grants than the role.
    expect(await admin?.post(pathOf(workspace), { user_id, role: 'PROJECT_ADMIN' })).toMatchObject(
      refusal(403, 'access_denied', 'svc:query.read'),
    );
    const person = await personOf(deps, workspace, { role: 'PROJECT_ADMIN', userId: newId() });
    expect(await person.post(pathOf(workspace), { user_id, role: 'PROJECT_ADMIN' })).toMatchObject({ status: 201 });
  });

  test('is limited by the plan, also for concurrent calls; one person on two projects is one member', async () => {
    verifies('customer.quota-enforced', 'platform.members.add');
    const workspace = await createWorkspace(deps);
    const second = await createWorkspace(deps, { organizationId: workspace.organizationId });
    await setPlan(collections, workspace.organizationId, { number_of_members: 2 });
    const people = await Promise.all(Array.from({ length: 5 }, () => personIn(workspace, null)));
    const answers = await Promise.all(
      people.map(({ userId }) => workspace.api.post(pathOf(workspace), { user_id: userId, role: 'MEMBER' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 403, 403, 403]);
    expect(answers.find(({ status }) => status === 403)).toMatchObject(
      refusal(403, 'plan_limit', 'number_of_members: the plan allows 2, 2 are in use'),
    );
    const [member = '', other = ''] = await usersOf(workspace);
    expect(await second.api.post(pathOf(second), { user_id: member, role: 'MEMBER' })).toMatchObject({ status: 201 });
    expect(await workspace.api.delete(pathOf(workspace, member))).toMatchObject({ status: 200 });
    const refused = people.find(({ userId }) => ![member, other].includes(userId));
    const add = () => workspace.api.post(pathOf(workspace), { user_id: refused?.userId, role: 'MEMBER' });
    expect(await add()).toMatchObject(refusal(403, 'plan_limit'));
    expect(await second.api.delete(pathOf(second, member))).toMatchObject({ status: 200 });
    expect(await add()).toMatchObject({ status: 201 });
    expect(await workspace.api.get('/customer')).toMatchObject({ body: { usage: { number_of_members: 2 } } });
  });
});

describe('PATCH /project-member/{projectID}/{user_id}', () => {
  test('changes the role, and the next call uses only the new role', async () => {
    verifies('platform.members.update');
    const person = await createPerson(deps, { role: 'PROJECT_ADMIN' });
    const { workspace, userId } = person;
    const check = await credentialsOf(person, 'PROJECT_ADMIN');
    expect(await workspace.api.patch(pathOf(workspace, userId), { role: 'VIEWER' })).toMatchObject({
      status: 200,
      body: { user_id: userId, role: 'VIEWER' },
    });
    expect(await check()).toEqual(none);
    const { body } = await server.as(await userToken(server, person)).get('/probe');
    expect(body).toMatchObject({ role: 'VIEWER', grants: ['svc:query.read', 'svc:docs.read'] });
  });

  test('moves a role between the project and the organization, and removes roles on other projects', async () => {
    const workspace = await createPersonalWorkspace(deps);
    const person = await personIn(workspace, 'ORG_ADMIN');
    const { userId } = person;
    const elsewhere = await createWorkspace(deps, { organizationId: workspace.organizationId });
    const check = await credentialsOf({ ...person, workspace: elsewhere }, 'ORG_ADMIN');
    expect(await workspace.api.patch(pathOf(workspace, userId), { role: 'MEMBER' })).toMatchObject({
      status: 200,
      body: { role: 'MEMBER', whole_organization: false },
    });
    expect(await check()).toEqual(none);
    expect(await usersOf(elsewhere)).toEqual([]);
    expect(await workspace.api.patch(pathOf(workspace, userId), { role: 'OWNER' })).toMatchObject({
      status: 200,
      body: { role: 'OWNER', whole_organization: true },
    });
    expect(await usersOf(elsewhere)).toEqual([userId]);
    expect(await workspace.api.get('/customer')).toMatchObject({ body: { usage: { number_of_members: 1 } } });
  });

  test('does not overwrite a role on the organization that another request gave meanwhile', async () => {
    verifies('platform.members.update');
    const person = await personIn(await createWorkspace(deps), 'PROJECT_ADMIN');
    const { workspace, userId } = person;
    const { organizationId, projectID } = workspace;
    const seen = await membershipOn(collections, userId, projectID, organizationId);
    const owner = await grantRole(collections, { userId, organizationId, projectId: null, role: 'OWNER' });
    await expect(changeRoles(collections, seen!, projectID, ['ORG_ADMIN'])).rejects.toMatchObject({ code: 'conflict' });
    expect(await collections.memberships.findOne({ _id: owner._id })).toMatchObject({ role: 'OWNER' });
  });

  test("refuses a role above the caller's, a member above the caller, an unknown user, and callers who are not administrators", async () => {
    const workspace = await createWorkspace(deps);
    const [owner, member] = await Promise.all([personIn(workspace, 'OWNER'), personIn(workspace, 'MEMBER')]);
    const [admin, nobody] = await Promise.all([keyOf(workspace, 'PROJECT_ADMIN'), keyOf(workspace, 'MEMBER')]);
    expect(await admin.patch(pathOf(workspace, owner.userId), { role: 'VIEWER' })).toMatchObject(
      refusal(403, 'access_denied'),
    );
    expect(await admin.patch(pathOf(workspace, member.userId), { role: 'OWNER' })).toMatchObject(
      refusal(403, 'access_denied'),
    );
    expect(await nobody.patch(pathOf(workspace, member.userId), { role: 'VIEWER' })).toMatchObject(
      refusal(403, 'access_denied'),
    );
    expect(await admin.patch(pathOf(workspace, newId()), { role: 'VIEWER' })).toMatchObject(refusal(404, 'not_found'));
    expect(await admin.patch(pathOf(workspace, member.userId), { role: 'KING' })).toMatchObject(
      refusal(400, 'invalid_request'),
    );
  });
});

describe('several roles', () => {
  test('are given and changed together, and the highest is shown as `role`', async () => {
    verifies('roles.several');
    const workspace = await createPersonalWorkspace(deps);
    const person = await personIn(workspace, null);
    const { userId: user_id } = person;
    const roles = ['APPROVER', 'EDITOR', 'EDITOR'];
    const both = { role: 'EDITOR', roles: ['EDITOR', 'APPROVER'] };
    expect(await workspace.api.post(pathOf(workspace), { user_id, roles })).toMatchObject({ status: 201, body: both });
    expect(await workspace.api.post(pathOf(workspace), { user_id, roles })).toMatchObject({ status: 201, body: both });
    expect(await workspace.api.post(pathOf(workspace), { user_id, role: 'EDITOR' })).toMatchObject(
      refusal(409, 'conflict', 'EDITOR, APPROVER'),
    );
    expect((await workspace.api.get(pathOf(workspace))).body.data).toMatchObject([both]);
    const signedIn = await server
      .client()
      .post('/v1/auth/sign-in', { email: person.email, password: person.password, project_id: workspace.projectID });
    expect(signedIn.body.scope).toMatchObject(both);
    const token = signedIn.body.access_token as string;
    expect(await server.as(token).get('/probe')).toMatchObject({ body: both });
    const session = await server
      .client()
      .post('/v1/auth/login', { email: person.email, password: person.password, project_id: workspace.projectID });
    const change = (body: object) => workspace.api.patch(pathOf(workspace, user_id), body);
    expect(await change({ role: 'EDITOR' })).toMatchObject({ status: 200, body: { roles: ['EDITOR'] } });
    expect(await server.as(token).get('/probe')).toMatchObject({ status: 401 });
    expect(await server.client().post('/v1/auth/refresh', { refresh_token: session.body.refresh_token })).toMatchObject(
      { status: 401 },
    );
    const stored = await collections.memberships.findOne({ user_id });
    expect(stored).toMatchObject({ role: 'EDITOR' });
    expect(stored).not.toHaveProperty('roles');
    const raised = { role: 'ORG_ADMIN', roles: ['ORG_ADMIN', 'APPROVER'], whole_organization: true };
    expect(await change({ roles: ['APPROVER', 'ORG_ADMIN'] })).toMatchObject({ status: 200, body: raised });
    expect(await change({ roles: ['MEMBER', 'VIEWER'] })).toMatchObject({
      body: { role: 'MEMBER', roles: ['MEMBER', 'VIEWER'], whole_organization: false },
    });
    for (const body of [
      {},
      { role: 'EDITOR', roles: ['EDITOR'] },
      { roles: [] },
      { roles: ['KING'] },
      { roles: 'EDITOR' },
    ])
      expect(await change(body)).toMatchObject(refusal(400, 'invalid_request'));
  });

  test('of an OWNER can change while they stay the last OWNER', async () => {
    verifies('roles.several');
    const workspace = await createPersonalWorkspace(deps);
    const owner = await personIn(workspace, 'OWNER');
    const change = (body: object) => workspace.api.patch(pathOf(workspace, owner.userId), body);
    expect(await change({ roles: ['OWNER', 'APPROVER'] })).toMatchObject({
      status: 200,
      body: { roles: ['OWNER', 'APPROVER'] },
    });
    expect(await change({ roles: ['APPROVER'] })).toMatchObject(refusal(409, 'conflict', 'last OWNER'));
    expect(await change({ role: 'OWNER' })).toMatchObject({ status: 200, body: { roles: ['OWNER'] } });
    expect(await workspace.api.delete(pathOf(workspace, owner.userId))).toMatchObject(refusal(409, 'conflict'));
  });

  test('are given by no person who lacks a right of one of them, over all pairs', async () => {
    verifies('roles.no-escalation');
    const workspace = await createWorkspace(deps);
    for (const giver of memberRoles) {
      const api = await personOf(deps, workspace, { role: giver, userId: newId() });
      for (const given of memberRoles) {
        const { userId: user_id } = await personIn(workspace, null);
        const answer = await api.post(pathOf(workspace), { user_id, roles: [given, 'VIEWER'] });
        const manages = ['PROJECT_ADMIN', 'ORG_ADMIN', 'OWNER'].includes(giver);
        const mayGive = manages && memberRoles.indexOf(given) <= memberRoles.indexOf(giver);
        expect([giver, given, answer.status]).toEqual([giver, given, mayGive ? 201 : 403]);
        const present = await personIn(workspace, given);
        const taken = await api.patch(pathOf(workspace, present.userId), { role: 'VIEWER' });
        expect([giver, given, taken.status]).toEqual([giver, given, mayGive ? 200 : 403]);
      }
    }
  });
});

describe('DELETE /project-member/{projectID}/{user_id}', () => {
  test('removes the member, whose credentials are invalid from the next call', async () => {
    verifies('platform.members.remove');
    const workspace = await createWorkspace(deps);
    const [person, stays] = await Promise.all([personIn(workspace, 'PROJECT_ADMIN'), personIn(workspace, 'MEMBER')]);
    const [check, others] = await Promise.all([credentialsOf(person, 'PROJECT_ADMIN'), credentialsOf(stays, 'MEMBER')]);
    expect(await workspace.api.delete(pathOf(workspace, person.userId))).toMatchObject({
      status: 200,
      body: { user_id: person.userId, role: 'PROJECT_ADMIN' },
    });
    expect(await check()).toEqual(none);
    expect(await others()).toEqual({ token: 200, session: 200, refresh: 200, key: 200, grant: true });
    expect(await usersOf(workspace)).toEqual([stays.userId]);
    expect(await workspace.api.delete(pathOf(workspace, person.userId))).toMatchObject(refusal(404, 'not_found'));
    expect(
      await server
        .client()
        .post('/v1/auth/sign-in', { email: person.email, password: person.password, project_id: workspace.projectID }),
    ).toMatchObject({ status: 403 });
  });

  test('completes an interrupted removal on a repeat', async () => {
    const person = await createPerson(deps, { role: 'MEMBER' });
    const { workspace, userId } = person;
    const check = await credentialsOf(person, 'MEMBER');
    await collections.memberships.deleteOne({ _id: `project:${workspace.projectID}:${userId}` });
    expect(await workspace.api.delete(pathOf(workspace, userId))).toMatchObject({ status: 404 });
    expect(await check()).toEqual(none);
  });

  test('keeps the last OWNER under concurrent removals of any kind', async () => {
    verifies('platform.members.remove', 'platform.members.update');
    const rounds = Array.from({ length: 4 }, async (_, round) => {
      const workspace = await createPersonalWorkspace(deps);
      const owners = await Promise.all(Array.from({ length: 3 }, () => personIn(workspace, 'OWNER')));
      const answers = await Promise.all(
        owners.map(({ userId }, at) => {
          if ((round + at) % 3 === 0) return workspace.api.delete(pathOf(workspace, userId));
          return workspace.api.patch(pathOf(workspace, userId), {
            role: (round + at) % 3 === 1 ? 'ORG_ADMIN' : 'MEMBER',
          });
        }),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 409]);
      expect(answers.find(({ status }) => status === 409)).toMatchObject(refusal(409, 'conflict', 'last OWNER'));
      const left = await collections.memberships
        .find({ organization_id: workspace.organizationId, role: 'OWNER' })
        .toArray();
      expect(left).toHaveLength(1);
      expect(await workspace.api.delete(pathOf(workspace, left[0]?.user_id))).toMatchObject(
        refusal(409, 'conflict', 'last OWNER'),
      );
    });
    await Promise.all(rounds);
  });

  test('is not blocked by an interrupted removal of an owner', async () => {
    const workspace = await createPersonalWorkspace(deps);
    const [one, two] = await Promise.all([personIn(workspace, 'OWNER'), personIn(workspace, 'OWNER')]);
    const left = await collections.memberships.updateOne(
      { user_id: one.userId },
      { $set: { leaving: { token: 'of a dead process', at: 1 } } },
    );
    expect(left.matchedCount).toBe(1);
    expect(await workspace.api.delete(pathOf(workspace, two.userId))).toMatchObject({ status: 200 });
    expect(await usersOf(workspace)).toEqual([one.userId]);
  });
});
