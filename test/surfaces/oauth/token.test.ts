import { beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { createPerson, type Person } from '../../auth/auth-server.js';
import { verifies } from '../../support/verifies.js';
import {
  allow,
  allScopes,
  authorizationPath,
  exchange,
  newPkce,
  obtainTokens,
  postForm,
  redirectUri,
  refresh,
  registerClient,
  token,
  type TestClient,
} from './flow.js';
import { randomAddress, useOauthServer } from './oauth-server.js';

const server = useOauthServer({ limits: { 'failed token requests': { max: 8, windowSeconds: 3600 } } });
const neighbour = useOauthServer({
  baseUrl: () => server.url,
  limits: { 'failed token requests': { max: 8, windowSeconds: 3600 } },
});
let person: Person;
let client: TestClient;
beforeAll(async () => {
  person = await createPerson(server.deps);
  client = await registerClient(server);
});

const api = () => {
  const address = { 'x-forwarded-for': randomAddress() };
  const { post, ...rest } = server.client();
  return {
    ...rest,
    post: (path: string, body?: unknown, headers = {}) => post(path, body, { ...address, ...headers }),
  };
};

async function newCode(of: TestClient = client, fields: Record<string, string> = {}) {
  const pkce = newPkce();
  const answer = await allow(server, person, authorizationPath(of, pkce, fields));
  return { code: answer.get('code') ?? '', code_verifier: pkce.verifier };
}

describe('POST /oauth/token with a code', () => {
  test('returns an access token with the role and grants of the person, and a refresh token', async () => {
    verifies('oauth.token.code', 'oauth.authorize.resource');
    const code = await newCode(client, { resource: `${server.baseUrl}/mcp/` });
    const { status, headers, body } = await exchange(api(), client, code);
    expect([status, headers.get('cache-control'), headers.get('access-control-allow-origin')]).toEqual([
      200,
      'no-store',
      '*',
    ]);
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 900, scope: allScopes });
    expect(body.refresh_token).toMatch(/^svc_ort_/);
    const { workspace, userId } = person;
    expect(decodeProtectedHeader(body.access_token)).toMatchObject({ alg: 'ES256', typ: 'at+jwt' });
    expect(decodeJwt(body.access_token)).toMatchObject({
      iss: server.baseUrl,
      aud: `${server.baseUrl}/mcp`,
      sub: userId,
      role: 'OWNER',
      org_id: workspace.organizationId,
      dept_id: workspace.departmentId,
      project_id: workspace.projectID,
      token_use: 'oauth',
      client_id: client.client_id,
      scope: allScopes,
    });
  });

  test('accepts a code once; a second use revokes the tokens of the first', async () => {
    verifies('oauth.code.single-use');
    const { code, verifier, tokens } = await obtainTokens(server, person, { client });
    expect((await server.as(tokens.access_token).get('/probe')).status).toBe(200);
    const again = await exchange(api(), client, { code, code_verifier: verifier });
    expect([again.status, again.body.error]).toEqual([400, 'invalid_grant']);
    expect((await server.as(tokens.access_token).get('/probe')).status).toBe(401);
    expect((await refresh(api(), client, tokens.refresh_token)).body.error).toBe('invalid_grant');
  });

  test('leaves no valid token after two concurrent uses on two processes', async () => {
    verifies('oauth.code.single-use');
    const code = await newCode();
    const answers = await Promise.all(
      [server, neighbour, server, neighbour].map(({ client: own }) => exchange(own(), client, code)),
    );
    const given = answers.filter(({ status }) => status === 200);
    expect(given).toHaveLength(1);
    expect((await server.as(given[0]?.body.access_token).get('/probe')).status).toBe(401);
  });

  test('is bound to the verifier, and a wrong one leaves the code to its client', async () => {
    verifies('oauth.code.bound');
    const code = await newCode();
    for (const code_verifier of [
      newPkce().verifier,
      'short',
      `${code.code_verifier}=`,
      code.code_verifier.toLowerCase(),
    ]) {
      const { status, body } = await exchange(api(), client, { ...code, code_verifier });
      expect([status, body.error]).toEqual([400, 'invalid_grant']);
    }
    expect((await exchange(api(), client, code)).status).toBe(200);
  });

  test('refuses the challenge itself as the verifier', async () => {
    verifies('oauth.code.bound');
    const pkce = newPkce();
    const code = (await allow(server, person, authorizationPath(client, pkce))).get('code') ?? '';
    expect((await exchange(api(), client, { code, code_verifier: pkce.challenge })).body.error).toBe('invalid_grant');
  });

  test('requires the same client and redirect address', async () => {
    verifies('oauth.code.bound');
    const other = await registerClient(server);
    const both = await registerClient(server, { redirect_uris: [redirectUri, `${redirectUri}2`] });
    expect((await exchange(api(), other, await newCode())).body.error).toBe('invalid_grant');
    const swapped = await exchange(api(), both, { ...(await newCode(both)), redirect_uri: `${redirectUri}2` });
    expect(swapped.body.error).toBe('invalid_grant');
  });

  test('requires the same resource', async () => {
    verifies('oauth.code.bound');
    const code = await newCode(client, { resource: `${server.baseUrl}/mcp` });
    expect((await exchange(api(), client, { ...code, resource: 'https://other.example' })).body.error).toBe(
      'invalid_target',
    );
    expect((await exchange(api(), client, { ...code, resource: `${server.baseUrl}/mcp` })).status).toBe(200);
  });

  test('ends after a minute', async () => {
    verifies('oauth.code.bound');
    const code = await newCode();
    const { oauth_codes: codes } = server.deps.mongo.collections;
    const stored = await codes.find({ 'grant.client_id': client.client_id }).sort({ valid_until: -1 }).limit(1).next();
    expect((stored?.valid_until ?? 0) - Date.now() / 1000).toBeLessThanOrEqual(60);
    await codes.updateOne({ _id: stored?._id ?? '' }, { $set: { valid_until: Date.now() / 1000 - 1 } });
    expect((await exchange(api(), client, code)).body.error).toBe('invalid_grant');
  });

  test('does not store codes or refresh tokens in clear text', async () => {
    const { code, tokens } = await obtainTokens(server, person, { client });
    const { oauth_codes, oauth_grants } = server.deps.mongo.collections;
    const stored = JSON.stringify([await oauth_codes.find({}).toArray(), await oauth_grants.find({}).toArray()]);
    for (const secret of [code, tokens.refresh_token, tokens.access_token])
      expect(stored).not.toContain(secret.replace(/^svc_\w{3}_/, ''));
  });

  test('returns no refresh token to a client that did not register for it', async () => {
    const once = await registerClient(server, { grant_types: ['authorization_code'] });
    const { body } = await exchange(api(), once, await newCode(once));
    expect(body.refresh_token).toBeUndefined();
  });
});

describe('client authentication at POST /oauth/token', () => {
  const basic = (id: string, secret: string) => ({
    authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`,
  });
  const grant = (fields: Record<string, string>) => ({
    grant_type: 'authorization_code',
    redirect_uri: redirectUri,
    ...fields,
  });

  test('works by each method', async () => {
    verifies('oauth.token.client-authentication');
    const post = await registerClient(server, { token_endpoint_auth_method: 'client_secret_post' });
    const header = await registerClient(server, { token_endpoint_auth_method: 'client_secret_basic' });
    const posted = await token(api(), {
      ...grant(await newCode(post)),
      client_id: post.client_id,
      client_secret: post.client_secret ?? '',
    });
    const sent = await token(api(), grant(await newCode(header)), basic(header.client_id, header.client_secret ?? ''));
    expect([posted.status, sent.status]).toEqual([200, 200]);
  });

  test('takes the secret by either method, and refuses a wrong or missing one and two at once', async () => {
    verifies('oauth.token.client-authentication');
    const post = await registerClient(server, { token_endpoint_auth_method: 'client_secret_post' });
    const { client_id, client_secret = '' } = post;
    const code = grant(await newCode(post));
    const error = async (fields: Record<string, string>, headers = {}) =>
      (await token(api(), { ...code, ...fields }, headers)).body.error;
    expect(await error({ client_id })).toBe('invalid_client');
    expect(await error({ client_id, client_secret: `${client_secret}x` })).toBe('invalid_client');
    expect(await error({}, basic(client_id, `${client_secret}x`))).toBe('invalid_client');
    expect(await error({ client_id, client_secret }, basic(client_id, client_secret))).toBe('invalid_request');
    expect(await error({ client_id: client.client_id }, basic(client_id, client_secret))).toBe('invalid_client');
    expect(await error({ client_id: client.client_id, client_secret })).toBe('invalid_client');
    expect((await token(api(), code, basic(client_id, client_secret))).status).toBe(200);
    const again = grant(await newCode(post));
    expect((await token(api(), { ...again, client_id, client_secret })).status).toBe(200);
  });

  test.each([
    ['an unknown client', { client_id: '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10' }, {}],
    ['no client', {}, {}],
    ['a malformed header', {}, { authorization: 'Basic !!!' }],
    ['a bearer header', {}, { authorization: 'Bearer x' }],
  ])('is invalid_client with 401 and a challenge for %s', async (_, fields, headers) => {
    verifies('oauth.token.client-errors');
    const answer = await token(api(), { ...grant({ code: 'x', code_verifier: 'y' }), ...fields }, headers);
    expect([answer.status, answer.body.error, answer.headers.get('cache-control')]).toEqual([
      401,
      'invalid_client',
      'no-store',
    ]);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Basic /);
  });

  test('is invalid_client for a client whose registration has expired', async () => {
    verifies('oauth.token.client-errors');
    const old = await registerClient(server);
    await server.deps.mongo.collections.oauth_clients.updateOne(
      { _id: old.client_id },
      { $set: { expires_at: new Date(0) } },
    );
    const { status, body } = await refresh(api(), old, 'svc_ort_x');
    expect([status, body.error]).toEqual([401, 'invalid_client']);
  });
});

describe('POST /oauth/token', () => {
  test.each([
    ['no grant type', {}, 'invalid_request'],
    ['another grant type', { grant_type: 'password', username: 'a', password: 'b' }, 'unsupported_grant_type'],
    ['a name of an object property', { grant_type: 'constructor' }, 'unsupported_grant_type'],
    ['no code', { grant_type: 'authorization_code', redirect_uri: redirectUri, code_verifier: 'v' }, 'invalid_request'],
    ['no verifier', { grant_type: 'authorization_code', redirect_uri: redirectUri, code: 'c' }, 'invalid_request'],
    ['no redirect address', { grant_type: 'authorization_code', code: 'c', code_verifier: 'v' }, 'invalid_request'],
    ['no refresh token', { grant_type: 'refresh_token' }, 'invalid_request'],
    [
      'an unknown code',
      { grant_type: 'authorization_code', redirect_uri: redirectUri, code: 'svc_oac_x', code_verifier: 'v' },
      'invalid_grant',
    ],
    [
      'an unknown refresh token',
      { grant_type: 'refresh_token', refresh_token: `svc_ort_${'A'.repeat(70)}` },
      'invalid_grant',
    ],
    [
      'an SDK session token',
      { grant_type: 'refresh_token', refresh_token: `svc_srt_${'A'.repeat(43)}` },
      'invalid_grant',
    ],
  ])('refuses %s', async (_, fields, error) => {
    verifies('oauth.token.client-errors');
    const { status, body } = await token(api(), { client_id: client.client_id, ...fields });
    expect([status, body.error]).toEqual([400, error]);
  });

  test('refuses repeated fields, other bodies and large ones', async () => {
    const twice = await postForm(
      api(),
      '/oauth/token',
      `client_id=${client.client_id}&grant_type=refresh_token&grant_type=refresh_token`,
    );
    expect([twice.status, twice.body.error]).toEqual([400, 'invalid_request']);
    expect((await api().post('/oauth/token', { grant_type: 'refresh_token' })).body.error).toBe('invalid_request');
    expect((await postForm(api(), '/oauth/token', `client_id=${'x'.repeat(20_000)}`)).status).toBe(413);
    expect((await postForm(api(), '/oauth/token', 'client_id=%00')).body.error).toBe('invalid_request');
    const got = await api().get('/oauth/token');
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST']);
  });

  test('answers 429 to failures beyond the rate limit across two processes, and still serves a valid client there', async () => {
    verifies('oauth.token.limited');
    const address = { 'x-forwarded-for': randomAddress() };
    const { code, code_verifier } = await newCode();
    const fail = (at: number) =>
      token(
        (at % 2 ? server : neighbour).client(),
        { grant_type: 'refresh_token', client_id: client.client_id, refresh_token: 'x' },
        address,
      );
    const answers = await Promise.all(Array.from({ length: 12 }, (_, at) => fail(at)));
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(8);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.body.error).toBe('too_many_requests');
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
    const good = {
      grant_type: 'authorization_code',
      client_id: client.client_id,
      redirect_uri: redirectUri,
      code,
      code_verifier,
    };
    expect((await token(server.client(), good, address)).status).toBe(200);
  });
});
