import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';
import { createPerson } from '../../auth/auth-server.js';
import { useHttpSink } from '../../support/use-http-sink.js';
import { verifies } from '../../support/verifies.js';
import { allow, authorizationPath, newPkce, redirectUri, token, type TestClient } from './flow.js';
import { useOauthServer } from './oauth-server.js';

const server = useOauthServer();
/** Another process of the same deployment. */
const other = useOauthServer({ baseUrl: () => server.url });
const sink = await useHttpSink();
const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

interface Key {
  privateKey: CryptoKey;
  jwk: JWK;
}
async function newKey(kid: string): Promise<Key> {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256' } };
}
let [key, stranger]: Key[] = [];
beforeAll(async () => {
  [key, stranger] = [await newKey('one'), await newKey('one')];
});

let count = 0;
/** A client that signs, whose document and keys a test can change. */
function signingClient(change: Record<string, unknown> = {}) {
  count += 1;
  const base = `${sink.url}/signing-${1000 + count}`;
  const state = { keys: [(key as Key).jwk], reads: 0 };
  const client: TestClient = { client_id: `${base}/client.json`, token_endpoint_auth_method: 'private_key_jwt' };
  const json = (res: any, body: object) =>
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  sink.answer(new URL(`${base}/client.json`).pathname, (_request, res) =>
    json(res, {
      client_id: client.client_id,
      ...{ redirect_uris: [redirectUri], token_endpoint_auth_method: 'private_key_jwt', jwks_uri: `${base}/keys.json` },
      ...change,
    }),
  );
  sink.answer(new URL(`${base}/keys.json`).pathname, (_request, res) => {
    state.reads += 1;
    json(res, { keys: state.keys });
  });
  return { client, state };
}

interface Claims {
  iss?: string;
  sub?: string;
  aud?: string | string[] | undefined;
  exp?: number | undefined;
  jti?: string | undefined;
}
async function assertionOf(
  { client_id }: TestClient,
  claims: Claims = {},
  { privateKey, jwk }: Key = key as Key,
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const all = {
    iss: client_id,
    sub: client_id,
    aud: `${server.url}/oauth/token`,
    exp: now + 300,
    jti: randomUUID(),
    ...claims,
  };
  const present = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  return new SignJWT(present)
    .setProtectedHeader({ alg: 'ES256', ...(jwk.kid !== undefined && { kid: jwk.kid }) })
    .sign(privateKey);
}

const proof = (assertion: string) => ({ client_assertion_type: assertionType, client_assertion: assertion });

/** Asks for tokens with a code that the client got; the answer's status and error. */
async function exchanged(client: TestClient, fields: Record<string, string>, at = server) {
  const pkce = newPkce();
  const answer = await allow(server, await createPerson(server.deps), authorizationPath(client, pkce));
  const exchange = { code: answer.get('code') ?? '', redirect_uri: redirectUri, code_verifier: pkce.verifier };
  return token(at.client(), { grant_type: 'authorization_code', ...exchange, ...fields });
}

test('the metadata names the method and its algorithms', async () => {
  verifies('oauth.private-key-jwt');
  const { body } = await server.client().get('/.well-known/oauth-authorization-server');
  expect(body.token_endpoint_auth_methods_supported).toContain('private_key_jwt');
  expect(body.token_endpoint_auth_signing_alg_values_supported).toEqual(expect.arrayContaining(['RS256', 'ES256']));
  expect(body.token_endpoint_auth_signing_alg_values_supported).not.toContain('none');
  expect(JSON.stringify(body.token_endpoint_auth_signing_alg_values_supported)).not.toContain('HS');
});

describe('a client that signs', () => {
  test('gets, refreshes and revokes tokens, each with an assertion of its own', async () => {
    verifies('oauth.private-key-jwt');
    const { client, state } = signingClient();
    const first = await exchanged(client, proof(await assertionOf(client)));
    expect(first).toMatchObject({ status: 200, body: { token_type: 'Bearer' } });
    const asked = { grant_type: 'refresh_token', refresh_token: first.body.refresh_token, client_id: client.client_id };
    const refreshed = await token(server.client(), {
      ...asked,
      ...proof(await assertionOf(client, { aud: server.url })),
    });
    expect(refreshed.status).toBe(200);
    const revoked = new URLSearchParams({
      token: refreshed.body.refresh_token,
      ...proof(await assertionOf(client, { aud: `${server.url}/oauth/revoke` })),
    });
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await server.client().post('/oauth/revoke', revoked.toString(), type)).status).toBe(200);
    expect(state.reads).toBe(1);
  });

  test('cannot use an assertion again, in no process', async () => {
    verifies('oauth.private-key-jwt');
    const { client } = signingClient();
    const fields = proof(await assertionOf(client));
    expect((await exchanged(client, fields)).status).toBe(200);
    expect(await exchanged(client, fields)).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    expect((await exchanged(client, fields, other)).status).toBe(401);
  });

  test('must sign: its id alone, a secret or another client is refused', async () => {
    verifies('oauth.private-key-jwt');
    const [{ client }, { client: another }] = [signingClient(), signingClient()];
    expect((await exchanged(client, { client_id: client.client_id })).status).toBe(401);
    expect((await exchanged(client, { client_id: client.client_id, client_secret: 'x' })).status).toBe(401);
    expect(
      (await exchanged(client, { client_id: client.client_id, ...proof(await assertionOf(another)) })).status,
    ).toBe(401);
    expect((await exchanged(client, { ...proof(await assertionOf(client)), client_secret: 'x' })).status).toBe(400);
  });

  test.each<[string, (client: TestClient) => Claims]>([
    ['another issuer', () => ({ iss: 'https://other.example' })],
    ['another audience', () => ({ aud: 'https://other.example' })],
    ['this and another audience', () => ({ aud: [server.url, 'https://other.example'] })],
    ['no audience', () => ({ aud: undefined })],
    ['no time of expiry', () => ({ exp: undefined })],
    ['a time of expiry that has passed', () => ({ exp: Math.floor(Date.now() / 1000) - 600 })],
    ['a time of expiry in a year', () => ({ exp: Math.floor(Date.now() / 1000) + 365 * 24 * 3600 })],
    ['no id', () => ({ jti: undefined })],
  ])('is refused for an assertion with %s', async (_name, claims) => {
    verifies('oauth.private-key-jwt');
    const { client } = signingClient();
    expect((await exchanged(client, proof(await assertionOf(client, claims(client))))).status).toBe(401);
  });

  test('is refused for a signature of another key, and for one with its public key or none', async () => {
    verifies('oauth.private-key-jwt');
    const { client } = signingClient();
    expect((await exchanged(client, proof(await assertionOf(client, {}, stranger)))).status).toBe(401);
    const [, payload] = (await assertionOf(client)).split('.');
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`;
    expect((await exchanged(client, proof(unsigned))).status).toBe(401);
    const secret = new TextEncoder().encode(JSON.stringify((key as Key).jwk));
    const claims = { iss: client.client_id, sub: client.client_id, aud: server.url, jti: randomUUID() };
    const hmac = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).setExpirationTime('5m').sign(secret);
    expect((await exchanged(client, proof(hmac))).status).toBe(401);
  });

  test('can change its keys', async () => {
    verifies('oauth.private-key-jwt');
    const { client, state } = signingClient();
    expect((await exchanged(client, proof(await assertionOf(client)))).status).toBe(200);
    const next = await newKey('two');
    state.keys = [next.jwk];
    // A process that has no copy of the earlier keys reads the new ones, and the earlier key ends.
    expect((await exchanged(client, proof(await assertionOf(client, {}, next)), other)).status).toBe(200);
    expect((await exchanged(client, proof(await assertionOf(client)), other)).status).toBe(401);
  });

  test('cannot make this server read an address of its own network', async () => {
    verifies('oauth.private-key-jwt');
    for (const jwks_uri of [
      'http://localhost/keys.json',
      'file:///etc/passwd',
      `${server.url}/.well-known/jwks.json`,
    ]) {
      const { client } = signingClient({ jwks_uri });
      expect((await exchanged(client, proof(await assertionOf(client)))).status).toBe(401);
    }
  });
});
