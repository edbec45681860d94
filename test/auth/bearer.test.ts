import { connect } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { decodeJwt, generateKeyPair, SignJWT, type JWTPayload } from 'jose';
import { revokeApiKey } from '../../src/auth/api-key-admin.js';
import { grantRole } from '../../src/auth/users.js';
import { createKey, createWorkspace } from '../support/fixture.js';
import { verifies } from '../support/verifies.js';
import { createPerson, sessionOf, useAuthServer, userToken, type Person } from './auth-server.js';

const server = useAuthServer();
const two = useAuthServer();
const { auth } = server.deps;
const metadata = 'resource_metadata="http://gateway.test/.well-known/oauth-protected-resource"';
const invalid = { error: 'invalid_token', error_description: 'token invalid' };
const keyInvalid = { error: 'invalid_token', error_description: 'api key invalid or revoked' };

function probe(authorization: string) {
  return server.client().get('/probe', { authorization });
}

/** Returns the claims of a valid user token. The tests invalidate them one by one. */
async function claimsOf(person: Person): Promise<JWTPayload> {
  return decodeJwt(await userToken(server, person));
}

describe('a gateway call', () => {
  test('without a bearer credential is answered 401 with a link to the resource metadata', async () => {
    verifies('auth.missing');
    const { apiKey } = await createWorkspace(server.deps);
    const without = [await server.client().get('/probe'), await server.client().get('/probe', { 'x-api-key': apiKey })];
    for (const header of ['', 'Bearer', 'Bearer   ', `Basic ${apiKey}`, apiKey, `Bearer${apiKey}`])
      without.push(await probe(header));
    for (const { status, body, headers } of without) {
      expect([status, body]).toEqual([401, { error: 'invalid_token', error_description: 'missing bearer credential' }]);
      expect(headers.get('www-authenticate')).toBe(`Bearer ${metadata}`);
    }
  });

  test('accepts the scheme in any case and followed by any spaces', async () => {
    verifies('auth.kind.api-key');
    const { apiKey, projectID } = await createWorkspace(server.deps);
    for (const header of [`Bearer ${apiKey}`, `bearer ${apiKey}`, `BEARER   ${apiKey}  `, `Bearer\t${apiKey}`]) {
      const { status, body } = await probe(header);
      expect([status, body.projectId, body.kind]).toEqual([200, projectID, 'api_key']);
    }
  });

  test('with two credentials, an invalid one or a huge one is answered 401', async () => {
    const { apiKey } = await createWorkspace(server.deps);
    const junk = [
      `Bearer a b`,
      'Bearer é',
      `Bearer ${'a'.repeat(9000)}`,
      'Bearer ..',
      'Bearer {"a":1}',
      `Bearer a, Bearer ${apiKey}`,
    ];
    for (const header of junk) {
      const { status, body, headers } = await probe(Buffer.from(header).toString('latin1'));
      expect([status, body]).toEqual([401, invalid]);
      expect(headers.get('www-authenticate')).toBe(`Bearer error="invalid_token", ${metadata}`);
    }
    for (const second of [apiKey, 'other']) {
      const socket = await rawGet(server.client().url, [
        `Authorization: Bearer ${apiKey}`,
        `Authorization: Bearer ${second}`,
      ]);
      expect(socket).toMatch(/^HTTP\/1.1 401 /);
    }
  });

  test('with an unknown, changed or revoked key is answered 401 on the next call in every process', async () => {
    verifies('auth.bad-key', 'auth.keys.revoke.immediate');
    const owner = await createPerson(server.deps);
    const { apiKey } = owner.workspace;
    const unknown = [
      'svc_sk_',
      `svc_sk_${'A'.repeat(43)}`,
      apiKey.slice(0, -1),
      `${apiKey}A`,
      `${apiKey.slice(0, -4)}!!!!`,
      `svc_sk_${'A'.repeat(9000)}`,
    ];
    for (const key of unknown) expect((await probe(`Bearer ${key}`)).body).toEqual(keyInvalid);

    const id = (await two.as(apiKey).get('/probe')).body.keyId;
    const admin = (await server.as(await userToken(server, owner)).get('/probe')).body;
    await revokeApiKey(server.deps, admin, owner.workspace.projectID, id);
    const refused = await two.as(apiKey).get('/probe');
    expect([refused.status, refused.body]).toEqual([401, keyInvalid]);
    expect((await owner.workspace.api.get('/v1/project')).body).toEqual(keyInvalid);
  });
});

describe('a JWT', () => {
  test('of a user is valid with the grants of its role', async () => {
    verifies('auth.kind.user-token', 'auth.user-token.grants');
    const person = await createPerson(server.deps, { role: 'MEMBER' });
    const { status, body } = await server.as(await userToken(server, person)).get('/probe');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      kind: 'user_jwt',
      userId: person.userId,
      organizationId: person.workspace.organizationId,
      departmentId: person.workspace.departmentId,
      projectId: person.workspace.projectID,
      grants: ['svc:query.read', 'svc:docs.read'],
    });
    const claims = { ...(await claimsOf(person)), grants: ['svc:model.write', 'svc:codesync.write', 'no:such'] };
    const explicit = await server.as(await auth.tokens.sign(claims, { expiresInSeconds: 60 })).get('/probe');
    expect(explicit.body.grants).toEqual(['svc:codesync.write', 'svc:model.write']);
  });

  test('with a wrong issuer, audience, time, type, use or session is answered 401', async () => {
    verifies('auth.jwt.checked');
    const claims = await claimsOf(await createPerson(server.deps));
    const { key, kid } = await auth.keys.current();
    const make = (changes: JWTPayload, header: object = {}) =>
      new SignJWT({ ...claims, ...changes })
        .setProtectedHeader({ alg: 'ES256', kid, typ: 'at+jwt', ...header })
        .sign(key);
    expect((await server.as(await make({})).get('/probe')).status).toBe(200);
    const now = Math.floor(Date.now() / 1000);
    const spoiled = [
      make({ iss: 'http://other.test' }),
      make({ iss: undefined }),
      make({ aud: 'http://other.test' }),
      make({ aud: undefined }),
      make({ exp: now - 1 }),
      make({ exp: undefined }),
      make({ nbf: now + 100 }),
      make({ sub: undefined }),
      make({ jti: undefined }),
      make({ token_use: 'refresh' }),
      make({ token_use: undefined }),
      make({ sid: undefined }),
      make({ sid: 'no such session' }),
      make({ sid: { $ne: null } }),
      make({ role: undefined }),
      make({ grants: 'svc:query.read' }),
      make({}, { typ: 'JWT' }),
      make({}, { typ: undefined }),
      make({}, { kid: 'unknown' }),
      make({}, { kid: undefined }),
    ];
    for (const token of await Promise.all(spoiled)) {
      const { status, body } = await server.as(token).get('/probe');
      expect([status, body]).toEqual([401, invalid]);
    }
  });

  test('that is unsigned, changed, signed with the public key as a secret or by another key is answered 401', async () => {
    const claims = await claimsOf(await createPerson(server.deps));
    const { keys } = await auth.keys.published();
    const kid = keys[0]!.kid!;
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const header = { kid, typ: 'at+jwt' };
    const foreign = await generateKeyPair('ES256');
    const good = await auth.tokens.sign(claims, { expiresInSeconds: 60 });
    const [head, , signature] = good.split('.');
    const forged = [
      `${encode({ ...header, alg: 'none' })}.${encode(claims)}.`,
      `${encode({ ...header, alg: 'ES256' })}.${encode(claims)}.`,
      await new SignJWT(claims)
        .setProtectedHeader({ ...header, alg: 'HS256' })
        .sign(Buffer.from(JSON.stringify(keys[0]))),
      await new SignJWT(claims).setProtectedHeader({ ...header, alg: 'ES256' }).sign(foreign.privateKey),
      await new SignJWT(claims).setProtectedHeader({ ...header, alg: 'ES256', jwk: keys[0] }).sign(foreign.privateKey),
      `${head}.${encode({ ...claims, role: 'OWNER', project_id: 'another' })}.${signature}`,
      `${good}.extra`,
      `${good.slice(0, -6)}AAAAAA`,
    ];
    for (const token of forged) expect((await server.as(token).get('/probe')).body).toEqual(invalid);
    expect((await server.as(good).get('/probe')).status).toBe(200);
  });
});

describe('X-Service-Workspace', () => {
  const at = (credential: string, projectId: string) =>
    server.as(credential).get('/probe', { 'x-service-workspace': `ws_${projectId}` });

  test('selects the project of a key or a session, or is answered 403', async () => {
    verifies('gateway.workspace-header.foreign', 'auth.tenancy-pinned');
    const owner = await createPerson(server.deps);
    const { organizationId, projectID, apiKey } = owner.workspace;
    const sister = await createWorkspace(server.deps, { organizationId });
    for (const credential of [apiKey, (await sessionOf(server, owner)).access]) {
      expect((await at(credential, projectID)).body.projectId).toBe(projectID);
      for (const header of [
        `ws_${sister.projectID}`,
        projectID,
        'ws_',
        'ws_*',
        `ws_${projectID}, ws_${sister.projectID}`,
      ]) {
        const { status, body } = await server.as(credential).get('/probe', { 'x-service-workspace': header });
        expect([status, body.error]).toEqual([403, 'S2:resolve-scope']);
      }
    }
  });

  test('is optional: each credential then acts on its own project', async () => {
    verifies('gateway.workspace-header.optional');
    const owner = await createPerson(server.deps);
    const sister = await createWorkspace(server.deps, { organizationId: owner.workspace.organizationId });
    for (const person of [owner, { ...owner, workspace: sister }]) {
      const { access } = await sessionOf(server, person);
      for (const credential of [person.workspace.apiKey, access, await userToken(server, person)]) {
        const { status, body } = await server.as(credential).get('/probe');
        expect([status, body.projectId]).toEqual([200, person.workspace.projectID]);
      }
    }
  });

  test('selects any project on which the user of a token has a role, with that role', async () => {
    verifies('gateway.workspace-header.decides');
    const owner = await createPerson(server.deps);
    const sister = await createWorkspace(server.deps, { organizationId: owner.workspace.organizationId });
    const token = await userToken(server, owner);
    expect((await server.as(token).get('/probe')).body.projectId).toBe(owner.workspace.projectID);
    expect((await at(token, sister.projectID)).body).toMatchObject({
      projectId: sister.projectID,
      departmentId: sister.departmentId,
      role: 'OWNER',
    });
    expect((await at(token, (await createWorkspace(server.deps)).projectID)).status).toBe(403);
    await server.deps.mongo.collections.projects.updateOne(
      { _id: sister.projectID },
      { $set: { status: 'deleted' } as never },
    );
    expect((await at(token, sister.projectID)).status).toBe(403);
  });

  test('never widens access: the grants are those of the role there, limited by those of the token', async () => {
    const viewer = await createPerson(server.deps, { role: 'VIEWER' });
    const second = await createWorkspace(server.deps);
    const { organizationId, projectID } = second;
    await grantRole(server.deps.mongo.collections, {
      userId: viewer.userId,
      organizationId,
      projectId: projectID,
      role: 'PROJECT_ADMIN',
    });
    const claims = await claimsOf(viewer);
    expect((await at(await userToken(server, viewer), projectID)).body).toMatchObject({
      role: 'PROJECT_ADMIN',
      organizationId,
    });
    const narrow = await auth.tokens.sign(
      { ...claims, grants: ['svc:query.read', 'svc:codesync.write'] },
      { expiresInSeconds: 60 },
    );
    expect((await at(narrow, projectID)).body.grants).toEqual(['svc:query.read']);
  });
});

test('a key of a lower role has two grants by default', async () => {
  verifies('auth.keys.default-grants.other');
  const workspace = await createWorkspace(server.deps);
  for (const role of ['MEMBER', 'VIEWER', 'owner', 'no such role']) {
    const key = await createKey(server.deps, workspace, { role });
    expect((await server.as(key).get('/probe')).body.grants).toEqual(['svc:query.read', 'svc:docs.read']);
  }
});

/** Sends the same header twice, which fetch cannot do. */
async function rawGet(url: string, headers: string[]): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let text = '';
    connect(Number(port), hostname)
      .on('data', (chunk) => (text += String(chunk)))
      .on('end', () => resolve(text))
      .on('error', reject)
      .end(['GET /probe HTTP/1.1', 'Host: x', 'Connection: close', ...headers, '', ''].join('\r\n'));
  });
}
