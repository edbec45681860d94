import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  exportSPKI,
  generateKeyPair,
  importJWK,
  SignJWT,
  UnsecuredJWT,
  decodeJwt,
  type CryptoKey,
  type JWTPayload,
} from 'jose';
import { createPerson, type Person } from '../../auth/auth-server.js';
import { apiClient } from '../../support/client.js';
import { createKey, createWorkspace } from '../../support/fixture.js';
import { bearerClient } from '../../support/gateway.js';
import { testRun } from '../../support/run.js';
import { verifies } from '../../support/verifies.js';
import { obtainTokens, type Tokens } from './flow.js';
import { useOauthServer } from './oauth-server.js';

const server = useOauthServer();
let person: Person;
let tokens: Tokens;
beforeAll(async () => {
  person = await createPerson(server.deps);
  ({ tokens } = await obtainTokens(server, person, { choice: { scopes: ['svc:query.read', 'svc:docs.read'] } }));
});

const probe = (token: string) => server.as(token).get('/probe');
const claims = (): JWTPayload => decodeJwt(tokens.access_token);
async function signed(changes: JWTPayload, header: Record<string, unknown> = {}): Promise<string> {
  const { kid, key } = await server.deps.auth.keys.current();
  return new SignJWT({ ...claims(), ...changes })
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid, ...header })
    .sign(key);
}

/** The same grant with a token that the authorization server of the shared API would have signed. */
async function sharedToken(): Promise<string> {
  return signed({
    iss: testRun().url.replace('127.0.0.1', 'localhost'),
    aud: testRun().url.replace('127.0.0.1', 'localhost'),
  });
}

describe('an access token on a REST route', () => {
  test('acts as the person with only the scopes that were consented to', async () => {
    verifies('oauth.resource.rest');
    const { status, body } = await probe(tokens.access_token);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      kind: 'user_jwt',
      userId: person.userId,
      projectId: person.workspace.projectID,
      role: 'OWNER',
      clientId: claims().client_id,
    });
    expect(body.grants).toEqual(['svc:query.read', 'svc:docs.read']);
    expect((await server.as(tokens.access_token).get('/probe/run')).status).toBe(403);
  });

  test('without the scope is answered with the required scopes', async () => {
    verifies('oauth.insufficient-scope');
    const refused = await server.as(tokens.access_token).get('/probe/run');
    expect(refused.status).toBe(403);
    expect(refused.headers.get('www-authenticate')).toContain(
      'Bearer error="insufficient_scope", scope="svc:query.read svc:docs.read svc:agent.run"',
    );
    const tool = await bearerClient(await sharedToken()).post('/v1/save-context', { entities: [] });
    expect(tool).toMatchObject({ status: 403, body: { error: 'S2:resolve-scope' } });
    expect(tool.headers.get('www-authenticate')).toContain(
      'Bearer error="insufficient_scope", scope="svc:query.read svc:docs.read svc:ontology.write"',
    );
    // The challenge does not name a scope that no client can get.
    const audit = await bearerClient(await sharedToken()).get('/v1/audit');
    expect([audit.status, audit.headers.get('www-authenticate')]).toEqual([403, null]);
    const key = await bearerClient(await createKey(server.deps, person.workspace, { grants: ['svc:query.read'] })).post(
      '/v1/save-context',
      { entities: [] },
    );
    expect([key.status, key.headers.get('www-authenticate')]).toEqual([403, null]);
    expect(await bearerClient(await sharedToken()).get('/v1/project')).toMatchObject({
      status: 403,
      body: { error: 'access_denied' },
    });
  });

  test.each(['', '/mcp', '/sse', '/v1'])('is accepted by this service at %s', async (path) => {
    verifies('oauth.resource.audience');
    expect((await probe(await signed({ aud: server.baseUrl + path }))).status).toBe(200);
  });

  test.each(['https://other.example', 'https://other.example/mcp', '', undefined])(
    'for the audience %s is 401',
    async (aud) => {
      verifies('oauth.resource.audience');
      const answer = await probe(await signed({ aud }));
      expect([answer.status, answer.body.error, answer.body.error_description]).toEqual([
        401,
        'invalid_token',
        'token invalid',
      ]);
      expect(answer.headers.get('www-authenticate')).toContain(
        `resource_metadata="${server.baseUrl}/.well-known/oauth-protected-resource"`,
      );
    },
  );

  test('signed with alg none, or with the public key as a shared secret, is answered 401', async () => {
    verifies('oauth.resource.hostile-tokens');
    const { keys } = await server.deps.auth.keys.published();
    const [jwk] = keys;
    if (!jwk) throw new Error('no key');
    const publicKey = (await importJWK(jwk, 'ES256', { extractable: true })) as CryptoKey;
    const secrets = [JSON.stringify(jwk), await exportSPKI(publicKey), jwk.x ?? ''];
    for (const secret of secrets) {
      const forged = await new SignJWT(claims())
        .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid: jwk.kid ?? '' })
        .sign(Buffer.from(secret));
      expect((await probe(forged)).status).toBe(401);
    }
    expect((await probe(new UnsecuredJWT(claims()).encode())).status).toBe(401);
    const [, body] = tokens.access_token.split('.');
    const none = Buffer.from(JSON.stringify({ alg: 'none', typ: 'at+jwt', kid: jwk.kid })).toString('base64url');
    expect((await probe(`${none}.${body}.`)).status).toBe(401);
  });

  test('signed with a key from its own header is answered 401', async () => {
    verifies('oauth.resource.hostile-tokens');
    const { privateKey } = await generateKeyPair('ES256');
    const { kid } = await server.deps.auth.keys.current();
    for (const header of [{ kid }, { kid: 'own' }, { jku: 'https://evil.example/jwks.json' }]) {
      const forged = await new SignJWT(claims())
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', ...header })
        .sign(privateKey);
      expect((await probe(forged)).status).toBe(401);
    }
  });

  test.each<[string, JWTPayload]>([
    ['expired', { exp: Math.floor(Date.now() / 1000) - 1 }],
    ['without expiry', { exp: undefined }],
    ['not yet valid', { nbf: Math.floor(Date.now() / 1000) + 600 }],
    ['of a foreign issuer', { iss: 'https://other.example' }],
    ['of another use', { token_use: 'user' }],
    ['of an unknown use', { token_use: 'admin' }],
    ['of an unknown grant', { sid: '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10' }],
    ['without a grant', { sid: undefined }],
    ['without a client', { client_id: undefined }],
  ])('that is %s is answered 401', async (_, changes) => {
    verifies('oauth.resource.hostile-tokens');
    expect((await probe(await signed(changes))).status).toBe(401);
  });

  test.each(['JWT', 'statement+jwt', undefined])('of the type %s is answered 401', async (typ) => {
    expect((await probe(await signed({}, { typ }))).status).toBe(401);
  });

  test('with claims changed after signing is answered 401', async () => {
    const [head, , signature] = tokens.access_token.split('.');
    const body = Buffer.from(JSON.stringify({ ...claims(), scope: 'svc:query.read svc:agent.run' })).toString(
      'base64url',
    );
    expect((await probe(`${head}.${body}.${signature}`)).status).toBe(401);
  });

  test('is bound to the selected project, even if the person has access to others', async () => {
    verifies('oauth.resource.pinned');
    const { projectID } = await createWorkspace(server.deps, { organizationId: person.workspace.organizationId });
    const at = (workspace: string) =>
      server.as(tokens.access_token).get('/probe', { 'x-service-workspace': workspace });
    expect((await at(`ws_${person.workspace.projectID}`)).status).toBe(200);
    const elsewhere = await at(`ws_${projectID}`);
    expect([elsewhere.status, elsewhere.body.error]).toEqual([403, 'S2:resolve-scope']);
  });

  test('cannot create, list or revoke API keys, whatever the consent', async () => {
    verifies('oauth.resource.api-keys');
    const all = await obtainTokens(server, person);
    const api = server.as(all.tokens.access_token);
    const { organizationId: org_id, departmentId: dept_id, projectID: project_id } = person.workspace;
    const minted = await api.post('/v1/apikeys', { name: 'k', org_id, dept_id, project_id });
    expect([minted.status, minted.body.secret]).toEqual([401, undefined]);
    expect((await api.get(`/v1/apikeys?project_id=${project_id}`)).status).toBe(401);
    expect((await api.delete(`/v1/apikeys/x?project_id=${project_id}`)).status).toBe(401);
  });

  test('verifies by the published keys before, during and after a rotation', async () => {
    verifies('oauth.keys-rotate');
    const kids = async () =>
      ((await server.client().get('/.well-known/jwks.json')).body.keys as { kid: string }[]).map(({ kid }) => kid);
    const before = await kids();
    await server.deps.auth.keys.rotate({ leadSeconds: 0 });
    expect((await probe(tokens.access_token)).status).toBe(200);
    const after = await obtainTokens(server, person);
    expect((await probe(after.tokens.access_token)).status).toBe(200);
    expect((await kids()).length).toBe(before.length + 1);
    expect(await kids()).toEqual(expect.arrayContaining(before));
  });
});

describe('a governed call by an access token', () => {
  test('is in the audit chain with its person and its client', async () => {
    verifies('oauth.resource.rest');
    const { url } = testRun();
    const whole = {
      ...server,
      url,
      baseUrl: url,
      client: () => apiClient(url),
      as: (credential: string) => bearerClient(credential, url),
    };
    const { client, tokens: own } = await obtainTokens(whole, person, { choice: { scopes: ['svc:query.read'] } });
    const { status, body } = await whole.as(own.access_token).post('/v1/query-context', { query: 'who is who' });
    expect(status).toBe(200);
    const { data } = await server.deps.governance.audit.list(person.workspace.organizationId, { limit: 10 });
    expect(data.find(({ lifecycle_id }) => lifecycle_id === body.lifecycle_id)).toMatchObject({
      actor: `user_jwt:${person.userId}:${client.client_id}`,
    });
  });
});
