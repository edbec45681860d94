import { describe, expect, test } from '@jest/globals';
import { readMcpResult } from '../../../src/domain/actions/mcp-result.js';
import { clientDocument } from '../../../src/domain/mcp-servers/rules/client-document.js';
import { createMcpClient } from '../../../src/outbound/mcp-client.js';
import { createMcpOauth } from '../../../src/outbound/mcp-oauth.js';
import { useDeps, createWorkspace } from '../../support/fixture.js';
import { connectServer, toolsOf, toolsPath } from '../../support/mcp-agents.js';
import { useHttpSink } from '../../support/use-http-sink.js';
import { verifies } from '../../support/verifies.js';
import { expectSources, readWorld } from '../../support/world.js';
import { authorizationPath, newPkce, redirectUri, token } from '../oauth/flow.js';
import { openBrowser } from '../oauth/form-browser.js';
import { randomAddress, useOauthServer } from '../oauth/oauth-server.js';

/** What a server, a client or an authorization server sends according to a public source, and what must come of it. */
interface Case {
  name: string;
  source: string;
  outcome: any;
  [input: string]: any;
}

const world = readWorld<Case>('mcp');
const casesIn = (name: string): [string, Case][] =>
  world.cases
    .filter(({ file }) => file === name)
    .map(({ file: _file, at: _at, ...each }): [string, Case] => [each.name, each]);

const deps = useDeps();
const server = useOauthServer({ env: { OAUTH_APP_SCHEMES: 'myeditor' } });
const sink = await useHttpSink();
let count = 0;
/** An address of its own for each case. */
const nextPath = () => `/case-${1000 + (count += 1)}/`;

/** An MCP server of revision 2025-06-18 that answers one method in its own way. */
function serve(
  method: string,
  { wrapped, mediaType = 'application/json', status = 200, body, ...answer }: any,
): string {
  const path = nextPath();
  const results: Record<string, object> = {
    initialize: {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'odd', version: '1' },
    },
    'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
  };
  sink.answer(path, (request, res) => {
    if (request.method !== 'POST') return void res.writeHead(405).end();
    const { id, method: asked } = JSON.parse(request.body);
    if (id === undefined) return void res.writeHead(202).end();
    const result = results[asked];
    const known = result ? { result } : { error: { code: -32601, message: 'no' } };
    const message = { jsonrpc: '2.0', id, ...(asked === method ? answer : known) };
    if (asked !== method)
      return void res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(message));
    const text = typeof body === 'string' ? body : JSON.stringify(body ?? (wrapped === 'array' ? [message] : message));
    res.writeHead(status, { 'content-type': typeof body === 'string' ? 'text/plain' : mediaType }).end(text);
  });
  return `${sink.url}${path}mcp`;
}

test('there are inputs of many clients and servers, each with its public source', () => {
  verifies('mcp.world');
  const cases = world.cases.map(({ file, name, source }) => ({ title: `${file}: ${name}`, source }));
  expectSources(world, cases, { files: 6, cases: 100 });
});

describe('a list of tools', () => {
  test.each(casesIn('tools'))('in which %s', async (_name, { list, outcome, wrapped, mediaType }) => {
    verifies('mcp-client.odd-tools');
    const member = await createWorkspace(deps);
    const id = await connectServer(member, { url: serve('tools/list', { result: list, wrapped, mediaType }) });
    const listed = await member.api.get(toolsPath(member, id));
    if (outcome.refused !== undefined) {
      expect(listed).toMatchObject({
        status: 422,
        body: { error_description: expect.stringContaining(outcome.refused) },
      });
      return;
    }
    expect(listed).toMatchObject({ status: 200 });
    const odd = listed.body.tools.filter(({ problems }: any) => problems.length > 0);
    expect(Object.fromEntries(odd.map(({ name, problems }: any) => [name, problems]))).toEqual(
      Object.fromEntries(
        Object.entries<string[]>(outcome.odd).map(([name, problems]) => [
          name,
          problems.map((each) => expect.stringContaining(each)),
        ]),
      ),
    );
    const { hash } = await toolsOf(member, id);
    const accepted = await member.api.post(`${toolsPath(member, id)}/accept`, { tools: 'all', hash });
    expect(accepted).toMatchObject({ status: 200 });
    for (const { name, state } of accepted.body.tools) expect(state).toBe(name in outcome.odd ? 'new' : 'accepted');
    for (const name of Object.keys(outcome.odd))
      expect((await member.api.post(`${toolsPath(member, id)}/accept`, { tools: [name], hash })).status).toBe(422);
  });
});

describe('a result', () => {
  const client = createMcpClient(deps.http, deps.mcpChecks.problemOfOutput);
  test.each(casesIn('results'))('with %s', async (_name, { name: _, source: __, outcome, ...answer }) => {
    verifies('mcp-client.odd-results');
    const { signal } = new AbortController();
    const options = { owner: 'organization', timeoutMs: 600_000, signal, secrets: [] };
    const call = client.use({ url: serve('tools/call', answer), headers: {} }, options, async (session) => {
      await session.listTools();
      return readMcpResult('echo', await session.callTool('echo', {}, { meta: {} })).value;
    });
    if (outcome.refused === undefined) expect(await call).toEqual(outcome);
    else
      await expect(call).rejects.toMatchObject({
        code: 'action_refused',
        message: expect.stringContaining(outcome.refused),
      });
  });
});

describe('a client metadata document', () => {
  test.each(casesIn('documents'))('%s', async (_name, { document, outcome }) => {
    verifies('oauth.client-metadata-document.others');
    const path = nextPath();
    const client_id = `${sink.url}${path}client.json`;
    sink.answer(path, (_request, res) => {
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ client_id, ...document }));
    });
    const page = await openBrowser(server.url).open(
      authorizationPath({ client_id, token_endpoint_auth_method: 'none' }, newPkce()),
    );
    const stored = await server.deps.mongo.collections.oauth_clients.findOne({ _id: client_id });
    if (outcome.refused === undefined) {
      expect([page.status, stored?.token_endpoint_auth_method]).toEqual([200, outcome.method]);
    } else {
      expect([page.status, stored]).toEqual([400, null]);
      expect(page.html.toLowerCase()).toContain(outcome.refused.toLowerCase());
    }
  });
});

describe('a registration', () => {
  test.each(casesIn('registrations'))('%s', async (_name, { register, outcome }) => {
    verifies('oauth.register.others');
    const { status, body } = await server
      .client()
      .post('/oauth/register', register, { 'x-forwarded-for': randomAddress() });
    if (outcome.refused !== undefined) {
      expect([status, body.error]).toEqual([400, 'invalid_redirect_uri']);
      expect(body.error_description).toContain(outcome.refused);
    } else expect([status, body.token_endpoint_auth_method]).toEqual([201, outcome.method]);
  });
});

describe('a client that authenticates', () => {
  const basicOf = (id: string, secret: string) => `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
  /** The fields and the header of each way to authenticate. */
  const ways: Record<string, (id: string, secret: string) => [Record<string, string>, Record<string, string>?]> = {
    body: (client_id, client_secret) => [{ client_id, client_secret }],
    basic: (id, secret) => [{}, { authorization: basicOf(id, secret) }],
    none: (client_id) => [{ client_id }],
    wrong: (client_id) => [{ client_id, client_secret: 'svc_ocs_wrong' }],
    'empty-basic': (id) => [{}, { authorization: basicOf(id, '') }],
    'empty-body': (client_id) => [{ client_id, client_secret: '' }],
    both: (client_id, client_secret) => [
      { client_id, client_secret },
      { authorization: basicOf(client_id, client_secret) },
    ],
  };
  /** A code that does not exist is refused only after the client has been accepted. */
  const answers: Record<string, [number, string]> = {
    accepted: [400, 'invalid_grant'],
    refused: [401, 'invalid_client'],
    invalid: [400, 'invalid_request'],
  };

  test.each(casesIn('authentications'))('with %s', async (_name, { registered, sent, outcome }) => {
    verifies('oauth.client-authentication.any-way');
    const address = { 'x-forwarded-for': randomAddress() };
    const metadata = { redirect_uris: [redirectUri], token_endpoint_auth_method: registered };
    const { body: client } = await server.client().post('/oauth/register', metadata, address);
    const [fields, header = {}] = ways[sent]?.(client.client_id, client.client_secret ?? '') ?? [{}];
    const exchange = { code: 'svc_oac_none', redirect_uri: redirectUri, code_verifier: 'v'.repeat(43) };
    const asked = { grant_type: 'authorization_code', ...exchange, ...fields };
    const { status, body } = await token(server.client(), asked, { ...address, ...header });
    expect([status, body.error]).toEqual(answers[outcome.status]);
  });
});

describe('an authorization server of others', () => {
  /** An MCP server with an authorization server, which answers in its own way. */
  function serveAuthorization({
    metadata = {},
    registration = { client_id: 'c1' },
    registrationStatus = 201,
    token: issued,
  }: any) {
    const path = nextPath();
    const base = `${sink.url}${path}`;
    const requests: { headers: any; body: string }[] = [];
    const json = (res: any, status: number, body: object) =>
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const issuer = base.slice(0, -1);
    const known = {
      ...{ issuer, authorization_endpoint: `${base}authorize`, token_endpoint: `${base}token` },
      ...{ registration_endpoint: `${base}register`, response_types_supported: ['code'] },
      ...{ code_challenge_methods_supported: ['S256'], ...metadata },
    };
    sink.answer(path, ({ path: at, headers, body }, res) => {
      if (at === `${path}resource`) return json(res, 200, { resource: `${base}mcp`, authorization_servers: [issuer] });
      if (at === `${path}register`) return json(res, registrationStatus, registration);
      if (at === `${path}token`) {
        requests.push({ headers, body });
        return json(res, 200, issued ?? { access_token: 'at', token_type: 'Bearer' });
      }
      res.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${base}resource"` }).end();
    });
    sink.answer(`/.well-known/oauth-authorization-server${path.slice(0, -1)}`, (_request, res) =>
      json(res, 200, known),
    );
    return { url: `${base}mcp`, requests };
  }

  test.each(casesIn('authorization-servers'))('with %s', async (_name, { outcome, ...given }) => {
    verifies('mcp-oauth.others');
    const { url, requests } = serveAuthorization(given);
    const oauth = createMcpOauth(deps.http);
    const document = clientDocument('https://product.example');
    const obtain = async () => {
      const issuer = await oauth.discover(url, {});
      const client = await oauth.clientAt(issuer, document);
      const [redirectUri = ''] = document.redirect_uris;
      const { verifier } = await oauth.begin({ issuer, client }, { redirectUri, state: 's' });
      return oauth.exchange({ issuer, client }, { code: 'c', iss: undefined, verifier, redirectUri });
    };
    if (outcome.refused !== undefined) {
      await expect(obtain()).rejects.toMatchObject({ message: expect.stringContaining(outcome.refused) });
      return;
    }
    expect(await obtain()).toMatchObject({ access_token: 'at' });
    const [{ headers, body } = { headers: {}, body: '' }] = requests;
    const [, basic] = /^Basic (.*)$/.exec(headers.authorization ?? '') ?? [];
    if (outcome.basic !== undefined) expect(Buffer.from(basic ?? '', 'base64').toString()).toBe(outcome.basic);
    if (outcome.sentAs !== undefined)
      expect([basic, body.includes('client_secret=')]).toEqual([undefined, outcome.sentAs === 'body']);
  });
});
