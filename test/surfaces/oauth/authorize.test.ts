import { beforeAll, describe, expect, test } from '@jest/globals';
import { createPerson, type Person } from '../../auth/auth-server.js';
import { verifies } from '../../support/verifies.js';
import { allow, authorizationPath, exchange, newPkce, redirectUri, registerClient, type TestClient } from './flow.js';
import { openBrowser } from './form-browser.js';
import { useOauthServer } from './oauth-server.js';

const server = useOauthServer();
let person: Person;
let client: TestClient;
beforeAll(async () => {
  person = await createPerson(server.deps);
  client = await registerClient(server);
});

/** The parameters of the address to which the page links; no error if there is no link. The page never redirects by itself. */
async function errorFor(path: string): Promise<{ status: number; error: string | undefined; answer: URLSearchParams }> {
  const { status, location, html } = await openBrowser(server.url).open(path);
  expect(location).toBeUndefined();
  const link = /<a href="([^"]+)" rel="noreferrer">/.exec(html)?.[1]?.replaceAll('&amp;', '&').replaceAll('&#39;', "'");
  const answer = new URL(link ?? 'none:').searchParams;
  return { status, error: answer.get('error') ?? undefined, answer };
}
const pathWith = (fields: Record<string, string | null>) => authorizationPath(client, newPkce(), fields);

describe('GET /oauth/authorize', () => {
  test('leads through sign-in and consent to a code that works', async () => {
    verifies('oauth.authorize', 'oauth.authorize.issuer');
    const pkce = newPkce();
    const state = 'a/b+c d=e&ü"<>';
    const answer = await allow(server, person, authorizationPath(client, pkce, { state }));
    expect([answer.get('iss'), answer.get('state'), answer.get('error')]).toEqual([server.baseUrl, state, null]);
    const exchanged = await exchange(server.client(), client, {
      code: answer.get('code') ?? '',
      code_verifier: pkce.verifier,
    });
    expect(exchanged.status).toBe(200);
  });

  test.each([
    ['plain', { code_challenge_method: 'plain' }],
    ['no method, which would mean plain', { code_challenge_method: null }],
    ['no challenge', { code_challenge: null }],
    ['no PKCE at all', { code_challenge: null, code_challenge_method: null }],
    ['a challenge that is not a hash', { code_challenge: 'short' }],
  ])('refuses %s', async (_, fields) => {
    verifies('oauth.authorize.pkce');
    const { error, answer } = await errorFor(pathWith(fields));
    expect([error, answer.get('state'), answer.get('iss')]).toEqual([
      'invalid_request',
      'state of the client',
      server.baseUrl,
    ]);
  });

  test.each([
    [{ response_type: 'token' }, 'unsupported_response_type'],
    [{ response_type: 'code id_token' }, 'unsupported_response_type'],
    [{ response_type: null }, 'unsupported_response_type'],
    [{ response_mode: 'fragment' }, 'invalid_request'],
    [{ request: 'e30.e30.' }, 'request_not_supported'],
    [{ request_uri: 'https://client.example/request' }, 'request_uri_not_supported'],
    [{ scope: 'svc:everything' }, 'invalid_scope'],
    [{ state: 's'.repeat(2049) }, 'invalid_request'],
  ])('answers %j with %s on a page that links to the redirect address', async (fields, code) => {
    verifies('oauth.authorize.no-redirect-of-errors');
    expect((await errorFor(pathWith(fields))).error).toBe(code);
  });

  test('refuses repeated parameters', async () => {
    for (const name of ['code_challenge', 'scope', 'response_type', 'state']) {
      expect((await errorFor(`${pathWith({})}&${name}=again`)).error).toBe('invalid_request');
    }
    for (const name of ['client_id', 'redirect_uri']) {
      const { status, error } = await errorFor(`${pathWith({})}&${name}=again`);
      expect([status, error]).toEqual([400, undefined]);
    }
  });

  test.each(['/mcp', '/sse', '/v1', '', '/'])('accepts this service at %s as the resource', async (path) => {
    const page = await openBrowser(server.url).open(pathWith({ resource: server.baseUrl + path }));
    expect(page.status).toBe(200);
  });

  test.each(['https://other.example/mcp', 'mcp', 'urn:other'])('refuses the resource %s', async (resource) => {
    verifies('oauth.authorize.resource');
    expect((await errorFor(pathWith({ resource }))).error).toBe('invalid_target');
  });

  test('refuses another resource in addition to ours, and several at once', async () => {
    verifies('oauth.authorize.resource');
    expect((await errorFor(pathWith({ resource: `${server.baseUrl}/mcp/other` }))).error).toBe('invalid_target');
    expect(
      (await errorFor(`${pathWith({ resource: server.baseUrl })}&resource=https%3A%2F%2Fother.example`)).error,
    ).toBe('invalid_target');
  });
});

describe('the redirect address', () => {
  const loopback = 'http://127.0.0.1:4000/callback';
  test.each([
    ['another path', redirectUri, `${redirectUri}/more`],
    ['a query added', redirectUri, `${redirectUri}?next=https://evil.example`],
    ['another host', redirectUri, 'https://client.example.evil.example/callback'],
    ['credentials', redirectUri, 'https://client.example@evil.example/callback'],
    ['a trailing slash', redirectUri, `${redirectUri}/`],
    ['upper case', redirectUri, redirectUri.replace('callback', 'Callback')],
    ['a path that leads back', redirectUri, 'https://client.example/x/../callback'],
    ['a port where none was registered', redirectUri, 'https://client.example:444/callback'],
    ['an encoded character', redirectUri, 'https://client.example/%63allback'],
    ['another loopback name', loopback, 'http://localhost:4000/callback'],
    ['another loopback path', loopback, 'http://127.0.0.1:4000/other'],
    ['a loopback port that runs into a host', loopback, 'http://127.0.0.1:4000@evil.example/callback'],
    ['https on loopback', loopback, 'https://127.0.0.1:4000/callback'],
    ['a fragment', redirectUri, `${redirectUri}#x`],
    ['none', redirectUri, ''],
  ])('is refused on the page with %s', async (_, registered, asked) => {
    verifies('oauth.authorize.redirect-exact', 'oauth.authorize.no-open-redirect');
    const own = await registerClient(server, { redirect_uris: [registered] });
    const page = await openBrowser(server.url).open(authorizationPath(own, newPkce(), { redirect_uri: asked }));
    expect([page.status, page.location, page.headers.get('content-type')]).toEqual([
      400,
      undefined,
      'text/html; charset=utf-8',
    ]);
  });

  test.each(['http://127.0.0.1/callback', 'http://127.0.0.1:61234/callback'])(
    'can have any port on loopback: %s',
    async (asked) => {
      verifies('oauth.authorize.redirect-exact');
      const own = await registerClient(server, { redirect_uris: [loopback] });
      const page = await openBrowser(server.url).open(authorizationPath(own, newPkce(), { redirect_uri: asked }));
      expect(page.status).toBe(200);
    },
  );

  test('receives nothing if the client is unknown', async () => {
    verifies('oauth.authorize.no-open-redirect');
    for (const client_id of ['nobody', '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10', '{"$ne":null}', '']) {
      const { status, error } = await errorFor(pathWith({ client_id, redirect_uri: 'https://evil.example/' }));
      expect([status, error]).toEqual([400, undefined]);
    }
  });

  test('keeps its registered query', async () => {
    const uri = 'https://client.example/callback?tenant=a%20b';
    const own = await registerClient(server, { redirect_uris: [uri] });
    const page = await openBrowser(server.url).open(
      authorizationPath(own, newPkce(), { redirect_uri: uri, scope: 'none' }),
    );
    expect(page.html).toContain(`href="${uri}&amp;error=invalid_scope&amp;`);
  });
});

test('huge and malformed requests are refused without a server error', async () => {
  expect((await errorFor(pathWith({ client_id: 'x'.repeat(5000) }))).status).toBe(400);
  const long = await fetch(`${server.url}/oauth/authorize?x=${'y'.repeat(20_000)}`);
  expect(long.status).toBe(431);
  const form = await fetch(`${server.url}/oauth/authorize`, {
    method: 'POST',
    body: `csrf_token=${'z'.repeat(70_000)}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  expect(form.status).toBe(413);
  expect((await fetch(`${server.url}/oauth/authorize`, { method: 'PUT' })).status).toBe(405);
});
