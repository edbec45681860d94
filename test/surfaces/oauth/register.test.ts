import { describe, expect, test } from '@jest/globals';
import { verifies } from '../../support/verifies.js';
import { createPerson } from '../../auth/auth-server.js';
import { allow, authorizationPath, newPkce, redirectUri } from './flow.js';
import { randomAddress, useOauthServer, type OauthServer } from './oauth-server.js';

const server = useOauthServer({ limits: { registrations: { max: 5, windowSeconds: 3600 } } });
const neighbour = useOauthServer({ limits: { registrations: { max: 5, windowSeconds: 3600 } } });
const small = useOauthServer({ unusedLimits: { perAddress: 3, total: 1_000_000 } });
const full = useOauthServer({ unusedLimits: { perAddress: 3, total: 0 } });
const redirect_uris = ['https://client.example/callback'];
const register = (metadata: unknown, address = randomAddress()) =>
  server.client().post('/oauth/register', metadata, { 'x-forwarded-for': address });

describe('POST /oauth/register', () => {
  test.each(['none', 'client_secret_post', 'client_secret_basic'])('registers a client with %s', async (method) => {
    verifies('oauth.register');
    const { status, headers, body } = await register({
      client_name: 'An app',
      redirect_uris,
      token_endpoint_auth_method: method,
      unknown_field: 1,
    });
    expect([status, headers.get('cache-control')]).toEqual([201, 'no-store']);
    expect(body).toMatchObject({
      client_name: 'An app',
      redirect_uris,
      token_endpoint_auth_method: method,
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    });
    expect(typeof body.client_id).toBe('string');
    expect(body.client_id_issued_at).toBeGreaterThan(1_700_000_000);
    expect(typeof body.client_secret).toBe(method === 'none' ? 'undefined' : 'string');
    expect(body.client_secret_expires_at).toBe(method === 'none' ? undefined : 0);
  });

  test('defaults to client_secret_basic, and keeps only the supported grants of a client', async () => {
    const { body } = await register({
      redirect_uris,
      grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'],
    });
    expect(body).toMatchObject({
      token_endpoint_auth_method: 'client_secret_basic',
      grant_types: ['authorization_code'],
    });
  });

  test('stores only the hash of a secret', async () => {
    const { body } = await register({ redirect_uris, token_endpoint_auth_method: 'client_secret_post' });
    const stored = await server.deps.mongo.collections.oauth_clients.findOne({ _id: body.client_id });
    expect(stored?.secret_hash).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(stored)).not.toContain(body.client_secret);
  });

  test('removes misleading characters from a name', async () => {
    const { body } = await register({ redirect_uris, client_name: ' Good\u202Epaa\nname\u0007 \u200B' });
    expect(body.client_name).toBe('Goodpaa name');
  });

  test.each([
    'https://127.0.0.1:8443/cb',
    'http://localhost:33418/callback',
    'http://127.0.0.1/callback',
    'http://[::1]:8080/callback',
    'com.example.app:/oauth2redirect',
    'cursor://anysphere.cursor-retrieval/oauth/callback',
    'io.example.desk-app://callback',
  ])('accepts the redirect address %s', async (uri) => {
    verifies('oauth.app-schemes');
    expect((await register({ redirect_uris: [uri] })).status).toBe(201);
  });

  test.each([
    'http://client.example/callback',
    'https://client.example/callback#fragment',
    'https://*.client.example/callback',
    'https://user:secret@client.example/callback',
    'https://client.example\\@evil.example/',
    'https://client.example;script-src/callback',
    'https://a b.example/',
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'myapp://callback',
    '/callback',
    '',
    `https://client.example/${'a'.repeat(2000)}`,
    'http://127.0.0.1.evil.example/callback',
    'http://localhost@evil.example/',
  ])('refuses the redirect address %s', async (uri) => {
    verifies('oauth.register.invalid');
    const { status, body } = await register({ redirect_uris: [uri] });
    expect([status, body.error]).toEqual([400, 'invalid_redirect_uri']);
  });

  test.each([
    [{ redirect_uris, token_endpoint_auth_method: 'private_key_jwt' }, 'invalid_client_metadata', 'needs jwks'],
    [{ redirect_uris, token_endpoint_auth_method: 'tls_client_auth' }, 'invalid_client_metadata', 'must be one of'],
    [{ redirect_uris, grant_types: ['client_credentials'] }, 'invalid_client_metadata', 'must include'],
    [{ redirect_uris, response_types: ['token'] }, 'invalid_client_metadata', 'must include'],
    [{ redirect_uris, client_name: 'n'.repeat(1001) }, 'invalid_client_metadata', 'must have at most 1000 characters'],
    [{ redirect_uris: [] }, 'invalid_redirect_uri', 'redirect_uris: must have at least 1 item'],
    [
      { redirect_uris: Array.from({ length: 11 }, (_, at) => `https://client.example/${at}`) },
      'invalid_redirect_uri',
      'at most 10 items',
    ],
    [{}, 'invalid_redirect_uri', 'redirect_uris: is required'],
    [[], 'invalid_client_metadata', 'must be a JSON object'],
  ])('refuses %j', async (metadata, error, message) => {
    verifies('oauth.register.invalid');
    const { status, body } = await register(metadata);
    expect([status, body.error, body.error_description]).toEqual([400, error, expect.stringContaining(message)]);
  });

  test('refuses a body that is too large or is not JSON', async () => {
    expect((await register({ redirect_uris, padding: 'x'.repeat(70_000) })).status).toBe(413);
    expect((await register('{')).status).toBe(400);
  });

  test('answers 429 beyond the rate limit, exactly across two processes and only for that address', async () => {
    verifies('oauth.register.limited');
    const address = randomAddress();
    const send = (at: number) =>
      (at % 2 ? server : neighbour).client().post('/oauth/register', { redirect_uris }, { 'x-forwarded-for': address });
    const answers = await Promise.all(Array.from({ length: 12 }, (_, at) => send(at)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.body.error).toBe('too_many_requests');
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await register({ redirect_uris })).status).toBe(201);
  });
});

describe('registrations that nobody consents to', () => {
  const registerAt = (at: OauthServer, address: string) =>
    at
      .client()
      .post(
        '/oauth/register',
        { redirect_uris: [redirectUri], token_endpoint_auth_method: 'none' },
        { 'x-forwarded-for': address },
      );
  const recordOf = (_id: string) => small.deps.mongo.collections.oauth_clients.findOne({ _id });

  test('are few for each address, and those with a consent do not count', async () => {
    verifies('oauth.register.unused');
    const address = randomAddress();
    const made = [];
    for (let count = 0; count < 3; count += 1) made.push((await registerAt(small, address)).body);
    const refused = await registerAt(small, address);
    expect([refused.status, refused.body.error]).toEqual([429, 'too_many_requests']);
    expect(refused.body.error_description).toContain("wait for a person's consent");
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await registerAt(small, randomAddress())).status).toBe(201);

    const person = await createPerson(small.deps);
    const answer = await allow(small, person, authorizationPath(made[0], newPkce()));
    expect(answer.get('code')).not.toBeNull();
    expect((await registerAt(small, address)).status).toBe(201);
    expect((await registerAt(small, address)).status).toBe(429);
  });

  test('expire after a day; a consent keeps them', async () => {
    verifies('oauth.register.unused');
    const daysLeft = async (id: string) => ((await recordOf(id))!.expires_at.getTime() - Date.now()) / 86_400_000;
    const { body } = await registerAt(small, randomAddress());
    expect(await daysLeft(body.client_id)).toBeLessThanOrEqual(1);
    await allow(small, await createPerson(small.deps), authorizationPath(body, newPkce()));
    expect(await daysLeft(body.client_id)).toBeGreaterThan(300);
    expect(JSON.stringify(await recordOf(body.client_id))).not.toContain('unused_from');
  });

  test('are limited over all addresses', async () => {
    verifies('oauth.register.unused');
    const { status, body } = await registerAt(full, randomAddress());
    expect([status, body.error, body.error_description]).toEqual([
      429,
      'too_many_requests',
      expect.stringContaining('all addresses'),
    ]);
  });

  test('have at most 4096 bytes', async () => {
    verifies('oauth.register.unused');
    const long = (count: number) =>
      Array.from({ length: count }, (_, at) => `https://client.example/${at}/${'a'.repeat(900)}`);
    expect((await register({ redirect_uris: long(4) })).status).toBe(201);
    const { status, body } = await register({ redirect_uris: long(5) });
    expect([status, body.error]).toEqual([400, 'invalid_client_metadata']);
    expect(body.error_description).toContain('at most 4096 are stored');
  });
});
