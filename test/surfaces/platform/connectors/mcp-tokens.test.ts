import { expect, test } from '@jest/globals';
import { createMcpTokens, type TokenFor } from '../../../../src/domain/mcp-servers/operations/tokens.js';
import type { McpOauth } from '../../../../src/outbound/mcp-oauth.js';
import { epochSeconds } from '../../../../src/base/time.js';
import { createPerson } from '../../../auth/auth-server.js';
import { eventually } from '../../../support/eventually.js';
import { personOf, type Workspace } from '../../../support/fixture.js';
import { acceptTools } from '../../../support/mcp-agents.js';
import { authorize, authorizePath, complete, grantAccess } from '../../../support/oauth-mcp.js';
import { verifies } from '../../../support/verifies.js';
import { useProtectedServer } from './protected-server.js';

/** How tokens for MCP servers are refreshed, and how they end. */
const at = useProtectedServer();
const { deps, workspace, personIn, connect, authorized, callAs } = at;

/** What the service recorded about tokens of the project that it revoked. */
const revocations = ({ projectID }: Workspace) =>
  deps.mongo.collections.lifecycles.find({ project_id: projectID, tool: 'mcp-revocation' }).toArray();

test('an expired or refused token is refreshed once, also if the answer was lost or the server failed', async () => {
  verifies('mcp-oauth.refresh');
  const { member, id } = await authorized();
  const before = await at.server.control({ expire: true, losses: 1 });
  expect(await callAs(member, id)).toEqual({ text: 'ann' });
  expect(await at.server.control({ expire: true, failures: 2 })).toMatchObject({ refreshes: before.refreshes + 1 });
  expect(await callAs(member, id)).toEqual({ text: 'ann' });
  expect(await at.server.control()).toMatchObject({ refreshes: before.refreshes + 2 });
  await at.server.control({ expire: true, forget: true });
  expect(await callAs(member, id)).toMatchObject({
    error: { code: 'authorization_needed', message: expect.stringContaining('invalid_grant') },
  });
  expect(await member.api.get(authorizePath(member, id))).toMatchObject({ body: { state: 'ended' } });
  await authorize(member, id, 'ann');
  expect(await callAs(member, id)).toEqual({ text: 'ann' });
});

test('a server that lost its clients gets a new registration at the next authorization', async () => {
  verifies('mcp-oauth.client', 'mcp-oauth.ended');
  const { member, id } = await authorized();
  // The server refuses the client when a token is refreshed, and then when a code is exchanged.
  const { registrations } = await at.server.control({ expire: true, forgetClients: true });
  expect(await callAs(member, id)).toMatchObject({
    error: { code: 'authorization_needed', message: expect.stringContaining('invalid_client') },
  });
  const begun = await member.api.post(authorizePath(member, id));
  const back = await grantAccess(begun.body.authorization_url, 'ann');
  await at.server.control({ forgetClients: true });
  expect(await complete(member, id, back)).toMatchObject({
    status: 422,
    body: { error_description: expect.stringContaining('refused: invalid_client') },
  });
  expect(await authorize(member, id, 'ann')).toMatchObject({ status: 200, body: { state: 'authorized' } });
  expect(await callAs(member, id)).toEqual({ text: 'ann' });
  expect(await at.server.control()).toMatchObject({ registrations: registrations + 2 });
});

test('a token without a refresh token is used until it expires, and then the person is asked to authorize again', async () => {
  verifies('mcp-oauth.ended');
  await at.server.control({ refreshable: false });
  const { member, id } = await authorized();
  const { mcp_authorizations } = deps.mongo.collections;
  const passed = async (seconds: number) => {
    const { refresh_at = null, valid_until = null } = (await mcp_authorizations.findOne({ connector_id: id })) ?? {};
    const $set = { refresh_at: refresh_at && refresh_at - seconds, valid_until: valid_until && valid_until - seconds };
    await mcp_authorizations.updateOne({ connector_id: id }, { $set });
  };
  // Shortly before a token expires, it would be refreshed if that were possible.
  await passed(3580);
  expect(await callAs(member, id)).toEqual({ text: 'ann' });
  await passed(20);
  expect(await callAs(member, id)).toMatchObject({
    error: { code: 'authorization_needed', message: expect.stringContaining('no refresh token') },
  });
  expect(await member.api.get(authorizePath(member, id))).toMatchObject({ body: { state: 'ended' } });
});

test('a person whose registration the server refused gets a new one at the next attempt', async () => {
  verifies('mcp-oauth.client');
  const member = await workspace();
  const id = await connect(member);
  const { body } = await member.api.post(authorizePath(member, id));
  await at.server.control({ forgetClients: true });
  // The authorization server shows a page, and does not send the person back.
  await expect(grantAccess(body.authorization_url, 'ann')).rejects.toThrow('400');
  expect(await authorize(member, id, 'ann')).toMatchObject({ status: 200, body: { state: 'authorized' } });
});

test('a tool that the server does not offer to one person stays accepted for the others', async () => {
  verifies('mcp-client.suspended');
  const { member: ann, id } = await authorized();
  const bob = await personIn(ann);
  await authorize(bob, id, 'bob');
  await at.server.control({ hidden: { bob: ['leak'] } });
  const { tools } = await acceptTools(bob, id);
  expect(tools.find(({ name }: any) => name === 'leak')).toMatchObject({ state: 'accepted', live: null });
  expect(await callAs(bob, id, 'leak')).toMatchObject({
    error: {
      code: 'tool_not_accepted',
      message: expect.stringContaining('does not offer the tool "leak" to the person'),
    },
  });
  expect(await callAs(bob, id)).toEqual({ text: 'bob' });
  expect(await callAs(ann, id, 'leak')).toMatchObject({ text: expect.stringContaining('your token is') });
});

test('the lease of a process that died during a refresh ends', async () => {
  verifies('mcp-oauth.refresh', 'mcp-oauth.ended');
  const { member, id } = await authorized();
  await at.server.control({ expire: true });
  const lease = { id: 'of a dead process', until: epochSeconds() + 3 };
  await deps.mongo.collections.mcp_authorizations.updateOne({ connector_id: id }, { $set: { lease } });
  expect(await callAs(member, id)).toEqual({ text: 'ann' });
  expect(epochSeconds()).toBeGreaterThan(lease.until);
  // The dead process had received tokens that it did not store, and the server no longer accepts the earlier ones.
  await at.server.control({ expire: true, forget: true });
  await deps.mongo.collections.mcp_authorizations.updateOne(
    { connector_id: id },
    { $set: { lease: { ...lease, until: 1 } } },
  );
  expect(await callAs(member, id)).toMatchObject({
    error: { code: 'authorization_needed', message: expect.stringContaining('a process ended before it stored') },
  });
  const reason = expect.stringContaining('a process ended before it stored');
  expect(await member.api.get(authorizePath(member, id))).toMatchObject({ body: { state: 'ended', reason } });
  const inboxOf = async ({ api }: Workspace) => (await api.get('/inbox')).body.data;
  const [item, ...others] = await inboxOf(member);
  expect([item, others]).toMatchObject([
    {
      ...{ kind: 'authorization', status: 'waiting', may_decide: false, expires_at: null },
      body: { connector_id: id, server: at.server.url, owner: 'person', reason },
    },
    [],
  ]);
  expect(await member.api.post(`/inbox/${item._id}/reply`, { decision: 'approve' })).toMatchObject({ status: 409 });
  expect(await member.api.post(`/inbox/${item._id}/read`)).toMatchObject({ status: 200, body: { _id: item._id } });
  const other = await personIn(member);
  expect(await inboxOf(other)).toEqual([]);
  expect(await other.api.post(`/inbox/${item._id}/read`)).toMatchObject({ status: 404 });
  await authorize(member, id, 'ann');
  expect(await inboxOf(member)).toEqual([]);
});

/** A refresh that this process requests and the test answers. */
async function refreshing(of: TokenFor, refused: string) {
  const { mcp_authorizations, ...others } = deps.mongo.collections;
  let answer: (given: Awaited<ReturnType<McpOauth['refresh']>>) => void = () => undefined;
  const answered = new Promise<Awaited<ReturnType<McpOauth['refresh']>>>((resolve) => (answer = resolve));
  let asked = () => undefined as void;
  const isAsked = new Promise<void>((resolve) => (asked = resolve));
  let decided = () => undefined as void;
  const isDecided = new Promise<void>((resolve) => (decided = resolve));
  const updateOne: typeof mcp_authorizations.updateOne = async (...given: [any, any]) => {
    const result = await mcp_authorizations.updateOne(...given);
    decided();
    return result;
  };
  const watched = Object.assign(Object.create(mcp_authorizations), { updateOne });
  const oauth = { refresh: () => (asked(), answered) };
  const collections = { ...others, mcp_authorizations: watched };
  const token = createMcpTokens({ collections, box: deps.auth.box, oauth }).tokenFor(of, refused);
  token.catch(() => undefined);
  await isAsked;
  return { token, answer, isDecided };
}

const renewedTokens = { access_token: 'renewed', refresh_token: 'rotated' };

async function heldToken() {
  const { member, id } = await authorized({ owner: 'project' });
  const of: TokenFor = {
    ...{ connectorId: id, projectId: member.projectID, server: at.server.url, owner: 'project', userId: undefined },
  };
  const first = await createMcpTokens({
    ...{ collections: deps.mongo.collections, box: deps.auth.box },
    oauth: { refresh: () => Promise.reject(new Error('not asked')) },
  }).tokenFor(of);
  return { member, id, of, first };
}

test('a process whose lease has expired neither ends the authorization nor releases the lease of the next holder', async () => {
  verifies('mcp-oauth.one-refresh');
  const { id, of, first } = await heldToken();
  const { mcp_authorizations } = deps.mongo.collections;
  const late = await refreshing(of, first);
  await mcp_authorizations.updateOne({ connector_id: id }, { $set: { 'lease.until': 1 } });
  const next = await refreshing(of, first);
  const lease = (await mcp_authorizations.findOne({ connector_id: id }))?.lease;
  late.answer({ refused: 'invalid_grant' });
  await late.isDecided;
  expect(await mcp_authorizations.findOne({ connector_id: id })).toMatchObject({ ended: null, lease });
  next.answer(renewedTokens);
  expect(await Promise.all([late.token, next.token])).toEqual(['renewed', 'renewed']);
  expect(await mcp_authorizations.findOne({ connector_id: id })).toMatchObject({ ended: null, lease: null });
});

test('tokens that arrive after their connector was deleted are revoked and never used', async () => {
  verifies('mcp-oauth.revoked');
  const { member, id, of, first } = await heldToken();
  const late = await refreshing(of, first);
  expect(await member.api.delete(`/connectors/${member.projectID}/${id}`)).toMatchObject({ status: 200 });
  late.answer(renewedTokens);
  await expect(late.token).rejects.toMatchObject({ code: 'authorization_needed' });
  await eventually(async () => expect(await revocations(member)).toHaveLength(2));
});

test('50 simultaneous expiries cause one refresh', async () => {
  verifies('mcp-oauth.one-refresh');
  // Refreshes also compete across processes.
  await at.product.worker();
  const { member, id } = await authorized({ owner: 'project' });
  const { refreshes, asked } = await at.server.control({ expire: true });
  const answers = await Promise.all(Array.from({ length: 50 }, () => callAs(member, id)));
  expect(new Set(answers.map(({ text }) => text))).toEqual(new Set(['ann']));
  expect(await at.server.control()).toMatchObject({ refreshes: refreshes + 1, asked: asked + 1 });
});

const stored = (connector_id: string) => deps.mongo.collections.mcp_authorizations.countDocuments({ connector_id });

/** Authorizes the server. Returns a function that reports how many of its tokens the server still accepts. */
async function tokensOf(member: Workspace, id: string, person: string): Promise<() => Promise<number>> {
  const before = (await at.server.control()).tokens;
  expect(await authorize(member, id, person)).toMatchObject({ status: 200 });
  const own = (await at.server.control()).tokens.filter((token: string) => !before.includes(token));
  expect(own).toHaveLength(2);
  return async () => (await at.server.control()).tokens.filter((token: string) => own.includes(token)).length;
}

test('tokens of a deleted connector are deleted at once, and revoked when the authorization server answers', async () => {
  verifies('mcp-oauth.deleted', 'mcp-oauth.revoked');
  const { mcp_revocations, mcp_oauth_clients } = deps.mongo.collections;
  const member = await workspace();
  const gone = await connect(member);
  const working = await tokensOf(member, gone, 'ann');
  await at.server.control({ revocation: 'fails' });
  expect(await member.api.delete(`/connectors/${member.projectID}/${gone}`)).toMatchObject({ status: 200 });
  expect(await stored(gone)).toBe(0);
  expect(await mcp_oauth_clients.countDocuments({ connector_id: gone })).toBe(0);
  await eventually(async () =>
    expect(await mcp_revocations.findOne({ connector_id: gone })).toMatchObject({ attempts: 1 }),
  );
  expect(await working()).toBe(2);
  await at.server.control({ revocation: 'works' });
  // Simulates that the pause has passed.
  await mcp_revocations.updateOne({ connector_id: gone }, { $set: { next_at: epochSeconds() } });
  await eventually(async () => expect(await working()).toBe(0));
  await eventually(async () => {
    expect(await revocations(member)).toMatchObject([{ status: 'completed' }]);
    expect(await mcp_revocations.countDocuments({ connector_id: gone })).toBe(0);
  });
});

test('tokens of a removed member are deleted at once, and revoked', async () => {
  verifies('mcp-oauth.deleted', 'mcp-oauth.revoked');
  const member = await workspace();
  const id = await connect(member);
  const person = await createPerson(deps, { role: 'PROJECT_ADMIN', workspace: member });
  const theirs = {
    ...member,
    api: await personOf(deps, member, { userId: person.userId, role: 'PROJECT_ADMIN', url: at.url }),
  };
  const working = await tokensOf(theirs, id, 'bob');
  const admin = await createPerson(deps, { workspace: member });
  const administrator = await personOf(deps, member, { userId: admin.userId, url: at.url });
  expect(await administrator.delete(`/project-member/${member.projectID}/${person.userId}`)).toMatchObject({
    status: 200,
  });
  expect(await stored(id)).toBe(0);
  await eventually(async () => expect(await working()).toBe(0));
});

test('a withdrawal deletes the tokens, revokes them, and says whether that worked', async () => {
  verifies('mcp-oauth.deleted', 'mcp-oauth.revoked');
  const member = await workspace();
  const kept = await connect(member);
  await authorize(member, kept, 'ann');
  const before = (await at.server.control()).tokens.length;
  const withdraw = () => member.api.delete(authorizePath(member, kept));
  expect(await withdraw()).toMatchObject({ status: 200, body: { state: 'none', revocation: 'done' } });
  expect(await stored(kept)).toBe(0);
  expect((await at.server.control()).tokens.length).toBe(before - 2);
  for (const [revocation, reported] of [
    ['fails', 'failed'],
    ['none', 'not_supported'],
  ]) {
    await at.server.control({ revocation });
    await authorize(member, kept, 'ann');
    expect(await withdraw()).toMatchObject({ status: 200, body: { state: 'none', revocation: reported } });
    expect(await stored(kept)).toBe(0);
  }
  expect((await withdraw()).body).not.toHaveProperty('revocation');
});
