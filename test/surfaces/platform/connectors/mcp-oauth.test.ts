import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createClient } from '../../../../sdk/node/src/index.js';
import { newId } from '../../../../src/ids.js';
import { epochSeconds } from '../../../../src/time.js';
import { sizeOf } from '../../../requirements/full-forms.js';
import { createPerson } from '../../../auth/auth-server.js';
import { apiClient } from '../../../support/client.js';
import { decoded } from '../../../support/decoded.js';
import { eventually } from '../../../support/eventually.js';
import { runOf, startExecution, untilExecution } from '../../../support/executions.js';
import { startFakeModel, type FakeModel } from '../../../support/fake-model.js';
import { createKey, createWorkspace, personOf, useDeps, type Workspace } from '../../../support/fixture.js';
import { agentThatCalls, answersTo } from '../../../support/mcp-agents.js';
import {
  authorize,
  authorizePath,
  complete,
  grantAccess,
  startOauthMcpServer,
  type OauthMcpServer,
} from '../../../support/oauth-mcp.js';
import { ownProduct } from '../../../support/own-product.js';
import { pythonTest } from '../../../support/python-test.js';
import { testRun } from '../../../support/run.js';
import { verifies } from '../../../support/verifies.js';
import { python } from '../../../sdk/python.js';
import { signedInConsole } from '../../console/console-browser.js';

const deps = useDeps();
const overrides: Record<string, string> = { STEP_PATIENCE: '25' };
const product = ownProduct(overrides);
const guarded = ownProduct({ ALLOW_PRIVATE_TARGETS: 'false' });
let model: FakeModel;
let server: OauthMcpServer;
let url: string;
/** As the product names itself. */
let publicUrl: string;
const usual = { documents: false, lifetime: 3600, issuer: 'right', methods: ['S256'], tokenEndpoint: '' };

beforeAll(async () => {
  [model, server] = await Promise.all([startFakeModel(), startOauthMcpServer()]);
  overrides.LLM_BASE_URL = model.url;
  // Two workers, so that refreshes compete across processes.
  const [api] = await Promise.all([product.api(), product.worker(), product.worker()]);
  url = api.url;
  publicUrl = url.replace('127.0.0.1', 'localhost');
});
beforeEach(() => server.control({ ...usual, failures: 0, losses: 0 }));
afterAll(async () => {
  await Promise.all([model.close(), server.close()]);
});

const workspace = async (): Promise<Workspace> => {
  const made = await createWorkspace(deps);
  return { ...made, api: apiClient(url, { 'x-api-key': made.apiKey }) };
};

/** Another person on the same project. */
async function personIn(member: Workspace): Promise<Workspace> {
  const userId = newId();
  const apiKey = await createKey(deps, { ...member, userId });
  return { ...member, userId, apiKey, api: apiClient(url, { 'x-api-key': apiKey }) };
}

async function connect({ api, projectID }: Workspace, auth: object = {}): Promise<string> {
  const given = { name: 'Protected', url: server.url, auth: { type: 'oauth', ...auth } };
  const answer = await api.post(`/connectors/${projectID}/mcp`, given);
  expect(answer).toMatchObject({ status: 200, body: { status: 'active' } });
  return answer.body._id;
}

async function acceptAll(member: Workspace, id: string): Promise<void> {
  const path = `/connectors/${member.projectID}/${id}/tools`;
  const { body } = await member.api.get(path);
  expect(await member.api.post(`${path}/accept`, { tools: 'all', hash: body.hash })).toMatchObject({ status: 200 });
}

/** A project whose person has authorized the server as `ann`, with all tools accepted. */
async function authorized(auth: object = {}): Promise<{ member: Workspace; id: string }> {
  const member = await workspace();
  const id = await connect(member, auth);
  expect(await authorize(member, id, 'ann')).toMatchObject({ status: 200, body: { state: 'authorized' } });
  await acceptAll(member, id);
  return { member, id };
}

async function lastExecution(member: Workspace): Promise<string> {
  return (await member.api.get(`/${member.projectID}/execution_flows`)).body.data[0].execution_id;
}

/** All inputs and results of its activities, and its own input. */
async function historyOf(execution: string): Promise<unknown[]> {
  const { events } = await runOf(deps, execution).fetchHistory();
  const payloads = (events ?? []).flatMap((event) => [
    ...(event.workflowExecutionStartedEventAttributes?.input?.payloads ?? []),
    ...(event.activityTaskScheduledEventAttributes?.input?.payloads ?? []),
    ...(event.activityTaskCompletedEventAttributes?.result?.payloads ?? []),
  ]);
  return Promise.all(payloads.map((payload) => decoded(deps, payload)));
}

/** What an agent that works for this person gets from the tool. */
async function callAs(member: Workspace, id: string, tool = 'whoami', input: object = {}): Promise<any> {
  const name = newId();
  const execution = await startExecution(member, agentThatCalls(model, name, id, [tool], [[tool, input]]));
  await untilExecution(member, execution, 'completed');
  return answersTo(model, name)?.[0];
}

test('a person authorizes a server with PKCE, state and resource, and runs use the token', async () => {
  verifies('mcp-oauth.flow');
  const member = await workspace();
  const id = await connect(member);
  expect(await member.api.get(authorizePath(member, id))).toMatchObject({ body: { state: 'none', owner: 'person' } });
  const tools = await member.api.get(`/connectors/${member.projectID}/${id}/tools`);
  expect(tools).toMatchObject({
    status: 422,
    body: { error_description: expect.stringContaining(`POST ${authorizePath(member, id)}`) },
  });
  const begun = await member.api.post(authorizePath(member, id));
  const asked = Object.fromEntries(new URL(begun.body.authorization_url).searchParams);
  expect(asked).toMatchObject({
    ...{ response_type: 'code', code_challenge_method: 'S256', scope: 'tools offline_access' },
    ...{ resource: server.url, redirect_uri: `${publicUrl}/console/mcp-servers/authorized` },
  });
  const back = await grantAccess(begun.body.authorization_url, 'ann');
  expect(back.origin + back.pathname).toBe(asked.redirect_uri);
  const done = await complete(member, id, back);
  expect(done).toMatchObject({
    status: 200,
    body: { state: 'authorized', owner: 'person', authorized_by: member.userId, scope: 'tools' },
  });
  await acceptAll(member, id);
  expect(await callAs(member, id)).toEqual({ text: 'ann' });
});

test('a state works once, for the person and the connector that it was made for', async () => {
  verifies('mcp-oauth.state');
  const member = await workspace();
  const other = await personIn(member);
  const [id, otherId] = [await connect(member), await connect(member)];
  const begin = async () =>
    grantAccess((await member.api.post(authorizePath(member, id))).body.authorization_url, 'ann');
  const back = await begin();
  expect(await complete(other, id, back)).toMatchObject({ status: 404 });
  expect(await complete(member, otherId, back)).toMatchObject({ status: 404 });
  const [one, two] = await Promise.all([complete(member, id, back), complete(member, id, back)]);
  expect([one.status, two.status].sort()).toEqual([200, 404]);
  expect(await complete(member, id, back)).toMatchObject({ status: 404 });
  const elsewhere = await workspace();
  expect(await elsewhere.api.post(authorizePath(elsewhere, id))).toMatchObject({ status: 404 });
  const { body } = await member.api.post(authorizePath(member, id));
  const declined = await complete(member, id, await grantAccess(body.authorization_url, ''));
  expect(declined).toMatchObject({
    status: 422,
    body: { error_description: expect.stringContaining('access_denied') },
  });
});

test('another issuer, a server without PKCE, a private or insecure endpoint, and no OAuth are refused', async () => {
  verifies('mcp-oauth.refused');
  const member = await workspace();
  const id = await connect(member);
  await server.control({ issuer: 'wrong' });
  expect(await authorize(member, id, 'ann')).toMatchObject({
    status: 422,
    body: { error_description: expect.stringContaining('issuer') },
  });
  const { exchanges } = await server.control({ issuer: 'right', methods: [] });
  expect(exchanges).toBe((await server.control()).exchanges);
  expect(await authorize(member, id, 'ann')).toMatchObject({
    status: 422,
    body: { error_description: expect.stringContaining('PKCE') },
  });
  await server.control({ methods: ['S256'], tokenEndpoint: 'http://192.168.1.1/token' });
  expect(await authorize(member, id, 'ann')).toMatchObject({
    status: 422,
    body: { error_description: expect.stringContaining('https') },
  });
  const plain = await member.api.post(`/connectors/${member.projectID}/mcp`, { name: 'Plain', url: server.url });
  expect(await member.api.post(authorizePath(member, plain.body._id))).toMatchObject({ status: 409 });
});

test('a server or an authorization server at a private address is refused', async () => {
  verifies('mcp-oauth.private-addresses');
  const api = await guarded.api();
  const member = guarded.through(api, await createWorkspace(deps));
  expect(await member.api.post(authorizePath(member, await connect(member)))).toMatchObject({
    status: 422,
    body: { error_description: expect.stringContaining('public') },
  });
});

test('the product registers once for each connector, or shows its metadata document', async () => {
  verifies('mcp-oauth.client');
  const member = await workspace();
  const id = await connect(member);
  const before = (await server.control()).registrations;
  await authorize(member, id, 'ann');
  await authorize(await personIn(member), id, 'bob');
  expect((await server.control({ documents: true })).registrations).toBe(before + 1);
  const known = await connect(member);
  expect(await authorize(member, known, 'ann')).toMatchObject({ status: 200 });
  const { registrations, authorizations } = await server.control();
  expect(registrations).toBe(before + 1);
  const document = `${publicUrl}/oauth/client-metadata.json`;
  expect(authorizations.at(-1).client_id).toBe(document);
  expect(await (await fetch(document)).json()).toMatchObject({
    ...{ client_id: document, redirect_uris: [`${publicUrl}/console/mcp-servers/authorized`] },
    token_endpoint_auth_method: 'none',
  });
});

test('the page of the console completes the flow for the person who is signed in', async () => {
  verifies('mcp-oauth.console');
  const person = await createPerson(deps);
  const member = { ...person.workspace, api: await personOf(deps, person.workspace, { userId: person.userId }) };
  const id = await connect(member);
  const { body } = await member.api.post(authorizePath(member, id));
  const back = await grantAccess(body.authorization_url, 'ann');
  expect(back.port).toBe(new URL(testRun().url).port);
  const page = back.pathname + back.search;
  const other = await signedInConsole(await createPerson(deps, { workspace: person.workspace }));
  expect(await other.open(page)).toMatchObject({ status: 404 });
  const mine = await signedInConsole(person);
  expect(await mine.open(page)).toMatchObject({ status: 200, html: expect.stringContaining('is authorized') });
  expect(await mine.open(page)).toMatchObject({ status: 404 });
  expect(await member.api.get(authorizePath(member, id))).toMatchObject({ body: { state: 'authorized' } });
});

test('an expired or refused token is refreshed once, also if the answer was lost or the server failed', async () => {
  verifies('mcp-oauth.refresh');
  const { member, id } = await authorized();
  const before = await server.control({ expire: true, losses: 1 });
  expect(await callAs(member, id)).toEqual({ text: 'ann' });
  expect(await server.control({ expire: true, failures: 2 })).toMatchObject({ refreshes: before.refreshes + 1 });
  expect(await callAs(member, id)).toEqual({ text: 'ann' });
  expect(await server.control()).toMatchObject({ refreshes: before.refreshes + 2 });
  await server.control({ expire: true, forget: true });
  expect(await callAs(member, id)).toMatchObject({
    error: { code: 'authorization_needed', message: expect.stringContaining('invalid_grant') },
  });
  expect(await member.api.get(authorizePath(member, id))).toMatchObject({ body: { state: 'ended' } });
  await authorize(member, id, 'ann');
  expect(await callAs(member, id)).toEqual({ text: 'ann' });
});

test('the lease of a process that died during a refresh ends', async () => {
  verifies('mcp-oauth.refresh');
  const { member, id } = await authorized();
  await server.control({ expire: true });
  const lease = { id: 'of a dead process', until: epochSeconds() + 3 };
  await deps.mongo.collections.mcp_authorizations.updateOne({ connector_id: id }, { $set: { lease } });
  expect(await callAs(member, id)).toEqual({ text: 'ann' });
  expect(epochSeconds()).toBeGreaterThan(lease.until);
});

test('50 simultaneous expiries cause one refresh', async () => {
  verifies('mcp-oauth.one-refresh');
  const { member, id } = await authorized({ owner: 'project' });
  const { refreshes, asked } = await server.control({ expire: true });
  const answers = await Promise.all(Array.from({ length: 50 }, () => callAs(member, id)));
  expect(new Set(answers.map(({ text }) => text))).toEqual(new Set(['ann']));
  expect(await server.control()).toMatchObject({ refreshes: refreshes + 1, asked: asked + 1 });
});

const calls = sizeOf('MCP_OAUTH_CALLS');

test(
  'interleaved calls of 50 people never carry the token of another',
  async () => {
    verifies('mcp-oauth.own-token');
    const { member, id } = await authorized();
    const people = await Promise.all(
      Array.from({ length: 50 }, async (_, at) => ({ name: `person-${at}`, member: await personIn(member) })),
    );
    await Promise.all(people.map(({ name, member: each }) => authorize(each, id, name)));
    const before = await server.control();
    for (let made = 0; made < calls; made += people.length) {
      // Tokens end in the middle, so that refreshes interleave too.
      if (made === people.length) await server.control({ expire: true });
      const answers = await Promise.all(
        people.map(({ name, member: each }) => callAs(each, id, 'whoami', { person: name })),
      );
      expect(answers).toEqual(people.map(({ name }) => ({ text: name })));
    }
    const after = await server.control();
    expect(after.mismatches).toEqual([]);
    expect(after.calls - before.calls).toBeGreaterThanOrEqual(calls);
  },
  600_000 + calls * 3000,
);

test('a person without an authorization is refused, and so is a connector that names another address', async () => {
  verifies('mcp-oauth.needed');
  const { member, id } = await authorized();
  const other = await personIn(member);
  const calls = (await server.control()).calls;
  const refused = { error: { code: 'authorization_needed', message: expect.stringContaining('/authorize') } };
  expect(await callAs(other, id)).toMatchObject(refused);
  const moved = await member.api.patch(`/connectors/${member.projectID}/${id}`, {
    config: { url: `${server.url}?moved=1` },
  });
  expect(moved).toMatchObject({ status: 200 });
  expect(await member.api.get(authorizePath(member, id))).toMatchObject({ body: { state: 'none' } });
  expect(await member.api.get(`/connectors/${member.projectID}/${id}/tools`)).toMatchObject({
    status: 422,
    body: { error_description: expect.stringContaining('another address') },
  });
  expect((await server.control()).calls).toBe(calls);
});

test('withdrawing, deleting the connector and removing the member delete the tokens', async () => {
  verifies('mcp-oauth.deleted', 'mcp-oauth.revoked');
  const { collections } = deps.mongo;
  const member = await workspace();
  const [kept, gone] = [await connect(member), await connect(member)];
  const stored = (connector_id: string) => collections.mcp_authorizations.countDocuments({ connector_id });
  await authorize(member, gone, 'ann');
  expect(await stored(gone)).toBe(1);
  await member.api.delete(`/connectors/${member.projectID}/${gone}`);
  expect(await stored(gone)).toBe(0);
  expect(await collections.mcp_oauth_clients.countDocuments({ connector_id: gone })).toBe(0);
  await authorize(member, kept, 'ann');
  const before = (await server.control()).tokens.length;
  const withdraw = () => member.api.delete(authorizePath(member, kept));
  expect(await withdraw()).toMatchObject({ status: 200, body: { state: 'none', revocation: 'done' } });
  expect(await stored(kept)).toBe(0);
  expect((await server.control()).tokens.length).toBe(before - 2);
  for (const [revocation, reported] of [
    ['fails', 'failed'],
    ['none', 'not_supported'],
  ]) {
    await server.control({ revocation });
    await authorize(member, kept, 'ann');
    expect(await withdraw()).toMatchObject({ status: 200, body: { state: 'none', revocation: reported } });
    expect(await stored(kept)).toBe(0);
  }
  await server.control({ revocation: 'works' });
  expect((await withdraw()).body).not.toHaveProperty('revocation');
  const person = await createPerson(deps, { role: 'PROJECT_ADMIN', workspace: member });
  const theirs = {
    ...member,
    api: await personOf(deps, member, { userId: person.userId, role: 'PROJECT_ADMIN', url }),
  };
  expect(await authorize(theirs, kept, 'bob')).toMatchObject({ status: 200 });
  expect(await stored(kept)).toBe(1);
  const admin = await createPerson(deps, { workspace: member });
  const administrator = await personOf(deps, member, { userId: admin.userId, url });
  expect(await administrator.delete(`/project-member/${member.projectID}/${person.userId}`)).toMatchObject({
    status: 200,
  });
  expect(await stored(kept)).toBe(0);
});

test('no token is in an answer, an audit entry, a record or a history', async () => {
  verifies('mcp-oauth.sealed');
  const { member, id } = await authorized();
  const answer = await callAs(member, id, 'leak');
  expect(answer.text).toContain('[secret]');
  const { tokens } = await server.control();
  const { collections } = deps.mongo;
  const history = await historyOf(await lastExecution(member));
  expect(JSON.stringify(history)).toContain('[secret]');
  const shown = JSON.stringify([
    history,
    (await member.api.get(`/connectors/${member.projectID}/${id}`)).body,
    (await member.api.get(authorizePath(member, id))).body,
    await collections.mcp_authorizations.find({ connector_id: id }).toArray(),
    await collections.mcp_oauth_clients.find({ connector_id: id }).toArray(),
    await eventually(async () => {
      const entries = await collections.audit_entries.find({ _id: { $regex: `^${member.organizationId}:` } }).toArray();
      expect(JSON.stringify(entries)).toContain('mcp-authorization.complete');
      return entries;
    }),
    await collections.lifecycles.find({ project_id: member.projectID }).toArray(),
  ]);
  expect(tokens.filter((token: string) => shown.includes(token))).toEqual([]);
});

test('images, audio and blobs of a result become files of the project, at most 20', async () => {
  verifies('mcp-client.files');
  const { member, id } = await authorized();
  const answer = await callAs(member, id, 'files');
  const fileId = expect.any(String);
  expect(answer.content).toEqual([
    { type: 'image', mime_type: 'image/png', size_bytes: expect.any(Number), file_id: fileId },
    { type: 'audio', mime_type: 'audio/wav', size_bytes: 6, file_id: fileId },
    {
      ...{ type: 'resource', uri: 'file:///tmp/a%20report.bin', mime_type: 'application/x-report' },
      ...{ size_bytes: 6, file_id: fileId },
    },
    { type: 'resource', uri: 'file:///note', text: 'a note' },
  ]);
  const [image, , report] = answer.content.map(({ file_id }: any) => file_id);
  const read = async (file: string) => (await member.api.get(`/file/${member.projectID}/${file}`)).body;
  const tags = [`execution:${await lastExecution(member)}`];
  expect(await read(image)).toMatchObject({
    ...{ name: 'files-1.png', mime_type: 'image/png', connector_id: id },
    tags,
  });
  const { name, url: address } = await read(report);
  expect([name, await (await fetch(address)).text()]).toEqual(['a report.bin', 'a blob']);
  const many = (await callAs(member, id, 'many')).content;
  expect(many.filter(({ file_id }: any) => file_id)).toHaveLength(20);
  expect(many.at(-1)).toMatchObject({ file_error: expect.stringContaining('at most 20') });
});

const route = '/connectors/{projectID}/{connector_id}/authorize';

test('the generated client for Node authorizes a server', async () => {
  verifies('mcp-oauth.clients');
  const member = await workspace();
  const { call } = createClient({ workspace: `${url}/ws_${member.projectID}`, apiKey: member.apiKey });
  const created = await call('post', '/connectors/{projectID}/mcp', {
    body: { name: 'Protected', url: server.url, auth: { type: 'oauth', owner: 'person' } },
  });
  const params = { connector_id: String(created._id) };
  const { authorization_url } = await call('post', route, { params });
  const back = await grantAccess(authorization_url, 'ann');
  const body = { state: back.searchParams.get('state') ?? '', code: back.searchParams.get('code') ?? '' };
  const iss = back.searchParams.get('iss') ?? '';
  const done = await call('post', `${route}/complete`, { params, body: { ...body, iss } });
  expect(done).toMatchObject({ state: 'authorized' });
  expect(await call('get', route, { params })).toMatchObject({ state: 'authorized' });
  expect(await call('delete', route, { params })).toMatchObject({ state: 'none' });
});

pythonTest('the generated client for Python begins, reads and withdraws an authorization', async () => {
  verifies('mcp-oauth.clients');
  const member = await workspace();
  const program = `
import json, os
from governed_context_service import Client
client = Client()
params = {"connector_id": os.environ["CONNECTOR"]}
answers = [client.call(method, "${route}", params=params) for method in ("post", "get", "delete")]
print(json.dumps(answers))`;
  const { stdout } = await python(['-c', program], {
    SERVICE_WORKSPACE: `${url}/ws_${member.projectID}`,
    SERVICE_API_KEY: member.apiKey,
    CONNECTOR: await connect(member),
  });
  expect(JSON.parse(stdout)).toMatchObject([
    { authorization_url: expect.any(String) },
    { state: 'none' },
    { state: 'none' },
  ]);
});
