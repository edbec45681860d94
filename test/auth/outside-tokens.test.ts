import { beforeAll, describe, expect, test } from '@jest/globals';
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose';
import { createExternalTokens } from '../../src/auth/external-tokens.js';
import { newId } from '../../src/base/ids.js';
import { createWorkspace, type Workspace } from '../support/fixture.js';
import { useHttpSink } from '../support/use-http-sink.js';
import { verifies } from '../support/verifies.js';
import { useAuthServer } from './auth-server.js';

const issuer = 'https://identity.example.com/realm';
const provider = await useHttpSink();
const keyPair = await generateKeyPair('RS256', { extractable: true });
const jwk = { ...(await exportJWK(keyPair.publicKey)), kid: 'idp-1', alg: 'RS256', use: 'sig' };
const server = useAuthServer({ USER_TOKEN_JWKS_URL: `${provider.url}/jwks`, USER_TOKEN_ISSUER: issuer });
const dark = useAuthServer({ USER_TOKEN_JWKS_URL: 'http://127.0.0.1:9/jwks', USER_TOKEN_ISSUER: issuer });
const invalid = { error: 'invalid_token', error_description: 'token invalid' };
let workspace: Workspace;

beforeAll(async () => {
  provider.answer('/jwks', (_request, res) =>
    res.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: [jwk] })),
  );
  workspace = await createWorkspace(server.deps);
});

function claims(changes: JWTPayload = {}): JWTPayload {
  return {
    sub: 'idp|42',
    role: 'MEMBER',
    org_id: workspace.organizationId,
    dept_id: workspace.departmentId,
    project_id: workspace.projectID,
    token_use: 'user',
    iss: issuer,
    aud: server.deps.auth.tokens.audience,
    exp: Math.floor(Date.now() / 1000) + 60,
    ...changes,
  };
}
function make(changes: JWTPayload = {}, header: object = {}, key = keyPair.privateKey) {
  return new SignJWT(claims(changes))
    .setProtectedHeader({ alg: 'RS256', kid: 'idp-1', typ: 'JWT', ...header })
    .sign(key);
}

describe('a user token of the configured identity provider', () => {
  test('is valid with the role, project and grants of its claims', async () => {
    verifies('env.user-token-issuer');
    verifies('auth.user-token.outside-issuer');
    const { status, body } = await server.as(await make()).get('/probe');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      kind: 'user_jwt',
      userId: 'idp|42',
      projectId: workspace.projectID,
      role: 'MEMBER',
      grants: ['svc:query.read', 'svc:docs.read'],
    });
    const explicit = await server.as(await make({ grants: ['svc:agent.run'] })).get('/probe');
    expect(explicit.body.grants).toEqual(['svc:agent.run']);
  });

  test('has the roles of `roles` that this service knows, and is answered 401 if there are none', async () => {
    verifies('auth.user-token.outside-issuer');
    const rolesOf = async (changes: JWTPayload) => {
      const { status, body } = await server.as(await make(changes)).get('/probe');
      return [status, body.role, body.roles];
    };
    expect(await rolesOf({ role: undefined, roles: ['APPROVER', 'EDITOR', 'SINGER'] })).toEqual([
      200,
      'EDITOR',
      ['EDITOR', 'APPROVER'],
    ]);
    expect(await rolesOf({ role: 'APPROVER', roles: ['VIEWER'] })).toEqual([200, 'APPROVER', ['APPROVER', 'VIEWER']]);
    expect((await rolesOf({ role: undefined, roles: ['SINGER'] }))[0]).toBe(401);
    expect((await rolesOf({ role: undefined, roles: [] }))[0]).toBe(401);
  });

  test('of another issuer, audience, time, use, type or key is answered 401', async () => {
    const foreign = await generateKeyPair('RS256');
    const spoiled = await Promise.all([
      make({ iss: 'https://identity.example.com/other' }),
      make({ aud: 'https://other.example.com' }),
      make({ aud: undefined }),
      make({ exp: 1 }),
      make({ exp: undefined }),
      make({ token_use: 'session' }),
      make({ token_use: 'id' }),
      make({ token_use: undefined }),
      make({ project_id: undefined }),
      make({}, { typ: 'id+jwt' }),
      make({}, { kid: 'idp-2' }),
      make({}, {}, foreign.privateKey),
      new SignJWT(claims()).setProtectedHeader({ alg: 'HS256', kid: 'idp-1' }).sign(Buffer.from(JSON.stringify(jwk))),
      server.deps.auth.tokens.sign({ ...claims(), iss: undefined }, { expiresInSeconds: 60 }),
    ]);
    for (const token of spoiled) {
      const { status, body } = await server.as(token).get('/probe');
      expect([status, body]).toEqual([401, invalid]);
    }
  });

  test('is answered 503 while its keys cannot be read', async () => {
    verifies('errors.code.unavailable', 'errors.status.503');
    const { status, body } = await dark.as(await make()).get('/probe');
    expect([status, body.error]).toEqual([503, 'unavailable']);
  });

  test('of an owner has access to the projects of its organization only and can create keys there', async () => {
    const owner = await make({ role: 'OWNER' });
    const sister = await createWorkspace(server.deps, { organizationId: workspace.organizationId });
    const stranger = await createWorkspace(server.deps);
    const mint = (project_id: string) => server.as(owner).post('/v1/apikeys', { name: 'k', project_id });
    expect((await mint(sister.projectID)).body.scope).toMatchObject({
      user_id: 'idp|42',
      role: 'OWNER',
      project_id: sister.projectID,
    });
    expect((await mint(stranger.projectID)).status).toBe(403);
    expect((await mint(newId())).status).toBe(403);
    const projectAdmin = server.as(await make({ role: 'PROJECT_ADMIN' }));
    expect((await projectAdmin.post('/v1/apikeys', { name: 'k', project_id: workspace.projectID })).status).toBe(200);
    expect((await projectAdmin.post('/v1/apikeys', { name: 'k', project_id: sister.projectID })).status).toBe(403);
  });
});

test('an incomplete or circular configuration of the provider is refused at the start', () => {
  expect(createExternalTokens({ jwksUrl: undefined, issuer: undefined }, 'http://us')).toBeUndefined();
  expect(() => createExternalTokens({ jwksUrl: 'http://idp/jwks', issuer: undefined }, 'http://us')).toThrow(
    /together/,
  );
  expect(() => createExternalTokens({ jwksUrl: 'http://idp/jwks', issuer: 'http://us' }, 'http://us')).toThrow(
    /itself/,
  );
});
