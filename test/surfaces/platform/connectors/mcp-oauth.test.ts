import { expect, test } from '@jest/globals';
import { createClient } from '../../../../sdk/node/src/index.js';
import { setPlan } from '../../../../src/domain/customers/operations/account.js';
import { sizeOf } from '../../../requirements/full-forms.js';
import { createPerson } from '../../../auth/auth-server.js';
import { decoded } from '../../../support/decoded.js';
import { eventually } from '../../../support/eventually.js';
import { runOf } from '../../../support/executions.js';
import { personOf, type Workspace } from '../../../support/fixture.js';
import { acceptTools } from '../../../support/mcp-agents.js';
import { authorize, authorizePath, complete, grantAccess } from '../../../support/oauth-mcp.js';
import { pythonTest } from '../../../support/python-test.js';
import { testRun } from '../../../support/run.js';
import { verifies } from '../../../support/verifies.js';
import { python } from '../../../sdk/python.js';
import { signedInConsole } from '../../console/console-browser.js';
import { useProtectedServer } from './protected-server.js';

const at = useProtectedServer();
const { deps, workspace, personIn, connect, authorized, callAs, callsAs } = at;
/** The public address of the product. */
const publicUrl = () => at.url.replace('127.0.0.1', 'localhost');

async function lastExecution(member: Workspace): Promise<string> {
  return (await member.api.get(`/${member.projectID}/execution_flows`)).body.data[0].execution_id;
}

/** The input of the workflow, and all inputs and results of its activities. */
async function historyOf(execution: string): Promise<unknown[]> {
  const { events } = await runOf(deps, execution).fetchHistory();
  const payloads = (events ?? []).flatMap((event) => [
    ...(event.workflowExecutionStartedEventAttributes?.input?.payloads ?? []),
    ...(event.activityTaskScheduledEventAttributes?.input?.payloads ?? []),
    ...(event.activityTaskCompletedEventAttributes?.result?.payloads ?? []),
  ]);
  return Promise.all(payloads.map((payload) => decoded(deps, payload)));
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
    ...{ resource: at.server.url, redirect_uri: `${publicUrl()}/console/mcp-servers/authorized` },
  });
  const back = await grantAccess(begun.body.authorization_url, 'ann');
  expect(back.origin + back.pathname).toBe(asked.redirect_uri);
  const done = await complete(member, id, back);
  expect(done).toMatchObject({
    status: 200,
    body: { state: 'authorized', owner: 'person', authorized_by: member.userId, scope: 'tools' },
  });
  await acceptTools(member, id);
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
  await at.server.control({ issuer: 'wrong' });
  expect(await authorize(member, id, 'ann')).toMatchObject({
    status: 422,
    body: { error_description: expect.stringContaining('issuer') },
  });
  const { exchanges } = await at.server.control({ issuer: 'right', methods: [] });
  expect(exchanges).toBe((await at.server.control()).exchanges);
  expect(await authorize(member, id, 'ann')).toMatchObject({
    status: 422,
    body: { error_description: expect.stringContaining('PKCE') },
  });
  await at.server.control({ methods: ['S256'], tokenEndpoint: 'http://192.168.1.1/token' });
  expect(await authorize(member, id, 'ann')).toMatchObject({
    status: 422,
    body: { error_description: expect.stringContaining('https') },
  });
  const plain = await member.api.post(`/connectors/${member.projectID}/mcp`, { name: 'Plain', url: at.server.url });
  expect(await member.api.post(authorizePath(member, plain.body._id))).toMatchObject({ status: 409 });
});

test('the product registers once for each connector, or shows its metadata document', async () => {
  verifies('mcp-oauth.client');
  const member = await workspace();
  const id = await connect(member);
  const before = (await at.server.control()).registrations;
  await authorize(member, id, 'ann');
  await authorize(await personIn(member), id, 'bob');
  expect((await at.server.control({ documents: true })).registrations).toBe(before + 1);
  const known = await connect(member);
  expect(await authorize(member, known, 'ann')).toMatchObject({ status: 200 });
  const { registrations, authorizations } = await at.server.control();
  expect(registrations).toBe(before + 1);
  const document = `${publicUrl()}/oauth/client-metadata.json`;
  expect(authorizations.at(-1).client_id).toBe(document);
  expect(await (await fetch(document)).json()).toMatchObject({
    ...{ client_id: document, redirect_uris: [`${publicUrl()}/console/mcp-servers/authorized`] },
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

const calls = sizeOf('MCP_OAUTH_CALLS');
const callsOfRun = calls < 1000 ? 1 : 10;

test(
  'interleaved calls of 50 people never carry the token of another',
  async () => {
    verifies('mcp-oauth.own-token');
    const { member, id } = await authorized();
    // Each run has its own agentflow.
    await setPlan(deps.mongo.collections, member.organizationId, { number_of_coworkers: calls + 100 });
    const people = await Promise.all(
      Array.from({ length: 50 }, async (_, at) => ({ name: `person-${at}`, member: await personIn(member) })),
    );
    await Promise.all(people.map(({ name, member: each }) => authorize(each, id, name)));
    const before = await at.server.control();
    for (let made = 0; made < calls; made += people.length * callsOfRun) {
      // The tokens expire before the second round, so that refreshes are interleaved as well.
      if (made === people.length * callsOfRun) await at.server.control({ expire: true });
      const answers = await Promise.all(
        people.map(({ name, member: each }) =>
          callsAs(
            each,
            id,
            Array.from({ length: callsOfRun }, () => ['whoami', { person: name }]),
          ),
        ),
      );
      expect(answers).toEqual(people.map(({ name }) => Array.from({ length: callsOfRun }, () => ({ text: name }))));
    }
    const after = await at.server.control();
    expect(after.mismatches).toEqual([]);
    expect(after.calls - before.calls).toBeGreaterThanOrEqual(calls);
  },
  600_000 + calls * 3000,
);

test('a person without an authorization is refused, and so is a connector that names another address', async () => {
  verifies('mcp-oauth.needed');
  const { member, id } = await authorized();
  const other = await personIn(member);
  const calls = (await at.server.control()).calls;
  const refused = { error: { code: 'authorization_needed', message: expect.stringContaining('/authorize') } };
  expect(await callAs(other, id)).toMatchObject(refused);
  const moved = await member.api.patch(`/connectors/${member.projectID}/${id}`, {
    config: { url: `${at.server.url}?moved=1` },
  });
  expect(moved).toMatchObject({ status: 200 });
  expect(await member.api.get(authorizePath(member, id))).toMatchObject({ body: { state: 'none' } });
  expect(await member.api.get(`/connectors/${member.projectID}/${id}/tools`)).toMatchObject({
    status: 422,
    body: { error_description: expect.stringContaining('another address') },
  });
  expect((await at.server.control()).calls).toBe(calls);
});

test('no token is in an answer, an audit entry, a record or a history', async () => {
  verifies('mcp-oauth.sealed');
  const { member, id } = await authorized();
  const answer = await callAs(member, id, 'leak');
  expect(answer.text).toContain('[secret]');
  const { tokens } = await at.server.control();
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
  const { call } = createClient({ workspace: `${at.url}/ws_${member.projectID}`, apiKey: member.apiKey });
  const created = await call('post', '/connectors/{projectID}/mcp', {
    body: { name: 'Protected', url: at.server.url, auth: { type: 'oauth', owner: 'person' } },
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
    SERVICE_WORKSPACE: `${at.url}/ws_${member.projectID}`,
    SERVICE_API_KEY: member.apiKey,
    CONNECTOR: await connect(member),
  });
  expect(JSON.parse(stdout)).toMatchObject([
    { authorization_url: expect.any(String) },
    { state: 'none' },
    { state: 'none' },
  ]);
});
