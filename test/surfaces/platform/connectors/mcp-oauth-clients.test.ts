import { expect, test } from '@jest/globals';
import { newId } from '../../../../src/base/ids.js';
import { acceptTools } from '../../../support/mcp-agents.js';
import { authorize, authorizePath, startOauthMcpServer } from '../../../support/oauth-mcp.js';
import { verifies } from '../../../support/verifies.js';
import { useProtectedServer } from './protected-server.js';

const at = useProtectedServer();
const { deps, workspace, connect, authorized, callAs } = at;

test.each(['basic', 'body'] as const)(
  'a client that is registered already is used first, its secret sent as %s',
  async (send_as) => {
    verifies('mcp-oauth.pre-registered');
    const [client_id, client_secret] = [`known:${newId()} +%`, `s:ec/re+t%&= ${newId()}`];
    const { registrations } = await at.server.control({
      registers: false,
      client: { id: client_id, secret: client_secret },
    });
    const member = await workspace();
    const id = await connect(member, { client_id, client_secret, send_as });
    expect(await authorize(member, id, 'ann')).toMatchObject({ status: 200, body: { state: 'authorized' } });
    await acceptTools(member, id);
    expect(await callAs(member, id)).toEqual({ text: 'ann' });
    await at.server.control({ expire: true });
    expect(await callAs(member, id)).toEqual({ text: 'ann' });
    const now = await at.server.control();
    expect(now.registrations).toBe(registrations);
    expect(now.authorizations.at(-1).client_id).toBe(client_id);
    // The secret is sealed, and never shown.
    const shown = await member.api.get(`/connectors/${member.projectID}/${id}`);
    expect(shown.body.config.auth).toMatchObject({ client_id, client_secret: '[stored]' });
    const { connectors, mcp_oauth_clients, mcp_authorizations } = deps.mongo.collections;
    const stored = await Promise.all([
      connectors.find({ _id: id }).toArray(),
      mcp_oauth_clients.find({ connector_id: id }).toArray(),
      mcp_authorizations.find({ connector_id: id }).toArray(),
    ]);
    expect(JSON.stringify([shown.body, stored])).not.toContain(client_secret);
  },
);

test('a public client that is registered already needs no secret', async () => {
  verifies('mcp-oauth.pre-registered');
  const client_id = newId();
  await at.server.control({ registers: false, client: { id: client_id } });
  const member = await workspace();
  const id = await connect(member, { client_id });
  expect(await authorize(member, id, 'ann')).toMatchObject({ status: 200 });
});

test('without such a client, a server that cannot register any says what is missing', async () => {
  verifies('mcp-oauth.pre-registered');
  await at.server.control({ registers: false });
  const member = await workspace();
  expect(await member.api.post(authorizePath(member, await connect(member)))).toMatchObject({
    status: 422,
    body: { error_description: expect.stringContaining('client_id') },
  });
  const alone = { name: 'Alone', url: at.server.url, auth: { type: 'oauth', client_secret: 'x' } };
  expect(await member.api.post(`/connectors/${member.projectID}/mcp`, alone)).toMatchObject({ status: 400 });
});

test('the secret goes to no other authorization server than the first one, or the one that is named', async () => {
  verifies('mcp-oauth.pre-registered');
  const other = await startOauthMcpServer();
  const client = { id: newId(), secret: newId() };
  await Promise.all([at.server.control({ client }), other.control({ client })]);
  const member = await workspace();
  const auth = { client_id: client.id, client_secret: client.secret };
  const id = await connect(member, auth);
  const named = await connect(member, { ...auth, issuer: new URL(at.server.url).origin });
  expect(await authorize(member, id, 'ann')).toMatchObject({ status: 200 });
  await at.server.control({ otherIssuer: new URL(other.url).origin });
  for (let attempt = 0; attempt < 3; attempt += 1)
    expect(await member.api.post(authorizePath(member, id))).toMatchObject({
      status: 409,
      body: { error_description: expect.stringContaining('another authorization server') },
    });
  expect(await authorize(member, named, 'ann')).toMatchObject({ status: 200 });
  expect(await other.control()).toMatchObject({ authorizations: [], exchanges: 0 });
  await other.close();
});

test('a scope that a call needs is requested together with the present ones', async () => {
  verifies('mcp-oauth.step-up');
  const { member, id } = await authorized();
  await at.server.control({ needed: 'tools:write' });
  const refused = await callAs(member, id);
  expect(refused).toMatchObject({
    error: { code: 'authorization_needed', message: expect.stringContaining('"tools:write"') },
  });
  const begun = await member.api.post(authorizePath(member, id));
  expect(begun).toMatchObject({ status: 200, body: { scope: 'tools offline_access tools:write' } });
  expect(new URL(begun.body.authorization_url).searchParams.get('scope')).toBe(begun.body.scope);
  expect(await authorize(member, id, 'ann')).toMatchObject({ status: 200 });
  expect(await callAs(member, id)).toEqual({ text: 'ann' });
  // Authorized once more, it keeps the scope.
  expect((await member.api.post(authorizePath(member, id))).body.scope).toBe('tools offline_access tools:write');
});
