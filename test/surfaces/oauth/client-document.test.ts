import type { ServerResponse } from 'node:http';
import type { LookupFunction } from 'node:net';
import { afterAll, describe, expect, test } from '@jest/globals';
import { createHttpClient, type HttpClient } from '../../../src/outbound/http-client.js';
import { createPerson } from '../../auth/auth-server.js';
import { useHttpSink } from '../../support/use-http-sink.js';
import { verifies } from '../../support/verifies.js';
import { authorizationPath, newPkce, obtainTokens, redirectUri, refresh, type TestClient } from './flow.js';
import { openBrowser, type BrowserPage } from './form-browser.js';
import { useOauthServer } from './oauth-server.js';

/** Test runs allow private targets, so that a document on this machine can be read. `strict` behaves as in production. */
const server = useOauthServer();
const resolved: string[] = [];
const lookup: LookupFunction = (hostname, _options, callback) => {
  resolved.push(hostname);
  callback(null, [{ address: '10.0.0.7', family: 4 }]);
};
const strictHttp: HttpClient = createHttpClient({ allowPrivateTargets: false, lookup });
const strict = useOauthServer({ http: strictHttp, env: { ALLOW_PRIVATE_TARGETS: 'false' } });
const limited = useOauthServer({ limits: { 'client documents': { max: 2, windowSeconds: 3600 } } });

const sink = await useHttpSink();
afterAll(() => strictHttp.close());

let count = 0;
/** Serves a document at a new address. */
function documentAt(respond: (id: string, res: ServerResponse) => void): TestClient {
  count += 1;
  const client_id = `${sink.url}/clients/${count}/client.json`;
  sink.answer(`/clients/${count}/`, (_request, res) => respond(client_id, res));
  return { client_id, token_endpoint_auth_method: 'none' };
}
const json = (res: ServerResponse, value: unknown, headers = {}) =>
  res.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
const good = (client_id: string) => ({
  client_id,
  client_name: 'Document app',
  redirect_uris: [redirectUri],
  token_endpoint_auth_method: 'none',
});
const open = (client: TestClient, at = server): Promise<BrowserPage> =>
  openBrowser(at.url).open(authorizationPath(client, newPkce()));
const fetches = (client: TestClient) => sink.requests.filter(({ path }) => client.client_id.endsWith(path)).length;

describe('a client that is identified by its metadata document', () => {
  test('completes the whole flow under the host of its document, which is read once', async () => {
    verifies('oauth.client-metadata-document');
    const client = documentAt((id, res) => json(res, good(id)));
    const page = await open(client);
    expect(page.html).toContain('Document app');
    expect(page.html).toContain(`identified by <strong>${new URL(sink.url).host}`);
    const { tokens } = await obtainTokens(server, await createPerson(server.deps), { client });
    expect((await server.as(tokens.access_token).get('/probe')).body.clientId).toBe(client.client_id);
    expect((await refresh(server.client(), client, tokens.refresh_token)).status).toBe(200);
    expect(fetches(client)).toBe(1);
  });

  test('is read again when its copy is old, and changes apply', async () => {
    let redirects = [redirectUri];
    const client = documentAt((id, res) =>
      json(res, { ...good(id), redirect_uris: redirects }, { 'cache-control': 'max-age=3' }),
    );
    expect((await open(client)).status).toBe(200);
    redirects = ['https://client.example/new'];
    const { oauth_clients: clients } = server.deps.mongo.collections;
    const stored = await clients.findOne({ _id: client.client_id });
    expect((stored?.fresh_until ?? 0) - Date.now() / 1000).toBeGreaterThan(30);
    await clients.updateOne({ _id: client.client_id }, { $set: { fresh_until: 0 } });
    expect((await open(client)).status).toBe(400);
    expect(fetches(client)).toBe(2);
  });

  test.each<[string, (id: string, res: ServerResponse) => void]>([
    ['names another client', (id, res) => json(res, { ...good(id), client_id: `${id}x` })],
    ['names no client', (_id, res) => json(res, { redirect_uris: [redirectUri] })],
    ['has no redirect addresses', (id, res) => json(res, { client_id: id })],
    [
      'has an unsafe redirect address',
      (id, res) => json(res, { ...good(id), redirect_uris: ['http://client.example/'] }),
    ],
    ['wants a secret', (id, res) => json(res, { ...good(id), token_endpoint_auth_method: 'client_secret_post' })],
    ['contains a secret', (id, res) => json(res, { ...good(id), client_secret: 's' })],
    ['is not JSON', (_id, res) => res.writeHead(200, { 'content-type': 'application/json' }).end('{')],
    ['is JSON of another kind', (_id, res) => json(res, ['x'])],
    ['is a page', (id, res) => res.writeHead(200, { 'content-type': 'text/html' }).end(JSON.stringify(good(id)))],
    [
      'is not found',
      (id, res) => res.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify(good(id))),
    ],
    [
      'breaks off',
      (_id, res) => res.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).destroy(),
    ],
  ])('is refused on the page if the document %s', async (_, respond) => {
    const client = documentAt(respond);
    const page = await open(client);
    expect([page.status, page.location]).toEqual([400, undefined]);
    expect(await server.deps.mongo.collections.oauth_clients.findOne({ _id: client.client_id })).toBeNull();
  });

  test('is answered 429 for an address that causes too many reads', async () => {
    const clients = Array.from({ length: 3 }, () => documentAt((id, res) => json(res, good(id))));
    const browser = openBrowser(limited.url);
    const pages = [];
    for (const client of clients) pages.push(await browser.open(authorizationPath(client, newPkce())));
    expect(pages.map(({ status }) => status)).toEqual([200, 200, 429]);
  });
});

describe('reading a metadata document', () => {
  test('follows no redirect', async () => {
    verifies('oauth.client-metadata-document.ssrf');
    const goal = documentAt((id, res) => json(res, good(id)));
    const client = documentAt((_id, res) =>
      res.writeHead(302, { location: goal.client_id, 'content-type': 'application/json' }).end('{}'),
    );
    expect((await open(client)).status).toBe(400);
    expect(fetches(goal)).toBe(0);
  });

  test('is limited in size', async () => {
    verifies('oauth.client-metadata-document.ssrf');
    const client = documentAt((id, res) => json(res, { ...good(id), padding: 'x'.repeat(11_000) }));
    expect((await open(client)).status).toBe(400);
  });

  test('is limited in time', async () => {
    verifies('oauth.client-metadata-document.ssrf');
    const client = documentAt(() => undefined);
    expect((await open(client)).status).toBe(400);
  });

  test.each([
    'https://127.0.0.1/client.json',
    'https://127.1/client.json',
    'https://2130706433/client.json',
    'https://[::1]/client.json',
    'https://[::ffff:10.0.0.1]/client.json',
    'https://169.254.169.254/latest/meta-data',
    'https://10.0.0.1/client.json',
    'https://localhost/client.json',
    'https://rebound.example/client.json',
  ])('cannot reach private addresses: %s', async (client_id) => {
    verifies('oauth.client-metadata-document.ssrf');
    const page = await open({ client_id, token_endpoint_auth_method: 'none' }, strict);
    expect([page.status, page.location]).toEqual([400, undefined]);
    expect(page.html).toMatch(/metadata document (could not be read|is not a plain address)/);
  });

  test.each([
    ['plain http', () => `${sink.url}/clients/x/client.json`],
    ['a bare origin', () => 'https://client.example/'],
    ['dot segments', () => 'https://client.example/a/../client.json'],
    ['credentials', () => 'https://a:b@client.example/client.json'],
    ['a fragment', () => 'https://client.example/client.json#x'],
    ['upper case', () => 'HTTPS://client.example/client.json'],
  ])('is not attempted for %s', async (_, id) => {
    const before = resolved.length;
    expect((await open({ client_id: id(), token_endpoint_auth_method: 'none' }, strict)).status).toBe(400);
    expect(resolved.length).toBe(before);
  });

  test('is not attempted on this service itself', async () => {
    verifies('oauth.client-metadata-document.ssrf');
    const page = await open({
      client_id: `${server.url}/.well-known/oauth-authorization-server`,
      token_endpoint_auth_method: 'none',
    });
    expect(page.html).toContain('an address of this service itself');
  });
});
