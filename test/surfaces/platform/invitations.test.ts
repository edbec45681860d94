import { describe, expect, test } from '@jest/globals';
import { newId } from '../../../src/base/ids.js';
import { acceptInvitation, openInvitation } from '../../../src/domain/invitations/operations/accept.js';
import { createPerson, useAuthServer, userToken, type Person } from '../../auth/auth-server.js';
import { apiClient } from '../../support/client.js';
import { createKey } from '../../support/fixture.js';
import { refusal } from '../../support/refusal.js';
import { testRun } from '../../support/run.js';
import { verifies } from '../../support/verifies.js';

const server = useAuthServer();
const { deps } = server;
const pathOf = ({ workspace }: Person) => `/project-member/${workspace.projectID}/invitations`;
const clientOf = async (person: Person) =>
  apiClient(testRun().url, { authorization: `Bearer ${await userToken(server, person)}` });
const newEmail = () => `${newId()}@example.com`;
const tokenIn = (link: string) => new URL(link).searchParams.get('token') ?? '';
const password = 'a long enough pass phrase';
const gone = /was used, withdrawn, or has expired/;

async function invited(role = 'EDITOR') {
  const owner = await createPerson(deps);
  const email = newEmail();
  const { status, body } = await (await clientOf(owner)).post(pathOf(owner), { email, role });
  expect(status).toBe(201);
  return { owner, email, token: tokenIn(body.link), id: body.invitation_id as string };
}

const accept = (token: string, name = 'Grace') => acceptInvitation(deps, { token, name, password });

describe('POST /project-member/{projectID}/invitations', () => {
  test('makes a link with which a new person gets an account and the roles, once', async () => {
    verifies('members.invitations');
    const { owner, email, token } = await invited();
    expect(await openInvitation(deps, token)).toMatchObject({ email, roles: ['EDITOR'], inviter: 'Person' });
    const twice = await Promise.allSettled([accept(token), accept(token)]);
    expect(twice.some(({ status }) => status === 'fulfilled')).toBe(true);
    await expect(accept(token)).rejects.toThrow(gone);
    const api = await clientOf(owner);
    const { body } = await api.get(`/project-member/${owner.workspace.projectID}`);
    const found = body.data.filter((member: { email: string }) => member.email === email);
    expect(found).toMatchObject([{ name: 'Grace', roles: ['EDITOR'] }]);
    expect((await api.get(pathOf(owner))).body.data).toEqual([]);
    const joined = await clientOf({ ...owner, email, password });
    expect((await joined.get('/agentflow')).status).toBe(200);
    const audit = await api.get('/v1/audit?action=accept-invitation');
    const actors = audit.body.data.map(({ actor }: { actor: string }) => actor);
    expect(new Set(actors)).toEqual(new Set([`user_jwt:${found[0].user_id}`]));
  });

  test('shows the link once: neither the list nor the stored record contains it', async () => {
    verifies('members.invitations');
    const { owner, token, email } = await invited();
    const list = await (await clientOf(owner)).get(pathOf(owner));
    expect(list.body.data).toMatchObject([{ email, invited_by: owner.userId }]);
    const stored = await deps.mongo.collections.invitations.find({ email }).toArray();
    expect(JSON.stringify([list.body, stored])).not.toContain(token);
  });

  test('a link ends when it is withdrawn, replaced or expired', async () => {
    verifies('members.invitations');
    const { owner, token, id, email } = await invited();
    const api = await clientOf(owner);
    const again = await api.post(pathOf(owner), { email, role: 'MEMBER' });
    await expect(accept(token)).rejects.toThrow(gone);
    expect((await api.delete(`${pathOf(owner)}/${id}`)).status).toBe(404);
    const stranger = await createPerson(deps);
    const elsewhere = `${pathOf(stranger)}/${again.body.invitation_id}`;
    expect((await (await clientOf(stranger)).delete(elsewhere)).status).toBe(404);
    expect((await api.delete(`${pathOf(owner)}/${again.body.invitation_id}`)).status).toBe(200);
    await expect(accept(tokenIn(again.body.link))).rejects.toThrow(gone);
    const third = await api.post(pathOf(owner), { email, role: 'MEMBER' });
    await deps.mongo.collections.invitations.updateOne({ email }, { $set: { expires_at: new Date(Date.now() - 1) } });
    await expect(accept(tokenIn(third.body.link))).rejects.toThrow(gone);
    for (const wrong of ['', 'x', `svc_inv_${'a'.repeat(43)}`]) await expect(accept(wrong)).rejects.toThrow(gone);
  });

  test('a link gives nothing that its inviter could not give at that time', async () => {
    verifies('members.invitations');
    const { owner } = await invited();
    const admin = await createPerson(deps, { workspace: owner.workspace, role: 'PROJECT_ADMIN' });
    const asAdmin = await clientOf(admin);
    expect(await asAdmin.post(pathOf(owner), { email: newEmail(), role: 'OWNER' })).toMatchObject(
      refusal(403, 'access_denied', 'higher than the role of the caller'),
    );
    const email = newEmail();
    const { body } = await asAdmin.post(pathOf(owner), { email, role: 'PROJECT_ADMIN' });
    const asOwner = await clientOf(owner);
    const demoted = { role: 'EDITOR' };
    await asOwner.patch(`/project-member/${owner.workspace.projectID}/${admin.userId}`, demoted);
    await expect(accept(tokenIn(body.link))).rejects.toThrow(gone);
    expect(await deps.mongo.collections.users.findOne({ email })).toBeNull();
  });

  test('only administrators invite, as people', async () => {
    verifies('members.invitations');
    const { owner } = await invited();
    const editor = await createPerson(deps, { workspace: owner.workspace, role: 'EDITOR' });
    const body = { email: newEmail(), role: 'VIEWER' };
    expect((await (await clientOf(editor)).post(pathOf(owner), body)).status).toBe(403);
    const grants = ['svc:orchestrate.read', 'svc:orchestrate.write', 'svc:governance.write'] as const;
    const key = await createKey(deps, { ...owner.workspace, userId: owner.userId }, { role: 'OWNER', grants });
    expect(await apiClient(testRun().url, { 'x-api-key': key }).post(pathOf(owner), body)).toMatchObject(
      refusal(403, 'access_denied', 'only a person'),
    );
  });

  test('rules about adding members apply to invitations', async () => {
    verifies('members.invitations');
    const { owner } = await invited();
    const api = await clientOf(owner);
    const forbid = {
      ...{ policy_id: 'no-admins', effect: 'forbid', tools: ['member.add'] },
      when: 'context.input.roles.contains("PROJECT_ADMIN")',
    };
    await api.put('/v1/policies', { policies: [{ policy_id: 'all', effect: 'permit' }, forbid] });
    const ask = (role: string) => api.post(pathOf(owner), { email: newEmail(), role });
    expect(await ask('PROJECT_ADMIN')).toMatchObject({ status: 403 });
    expect(await ask('EDITOR')).toMatchObject({ status: 201 });
  });

  test('a known user of the organization is added instead, and an address of another one is not revealed', async () => {
    verifies('members.invitations');
    const { owner } = await invited();
    const [colleague, stranger] = await Promise.all([
      createPerson(deps, { workspace: owner.workspace, role: null }),
      createPerson(deps),
    ]);
    const api = await clientOf(owner);
    const ask = (email: string) => api.post(pathOf(owner), { email, role: 'MEMBER' });
    expect(await ask(colleague.email)).toMatchObject(refusal(409, 'conflict', 'add the user as a member'));
    const { status, body } = await ask(stranger.email);
    expect(status).toBe(201);
    await expect(accept(tokenIn(body.link))).rejects.toThrow('has an account already');
  });
});

test.each([
  ['', password, /name must have/],
  ['Grace', 'too short', /password must have 12/],
])('the name %j and the password %j are refused, and the link stays', async (name, tried, problem) => {
  verifies('members.invitations');
  const { token } = await invited();
  await expect(acceptInvitation(deps, { token, name, password: tried })).rejects.toThrow(problem);
  expect(await accept(token)).toContain('@example.com');
});
