import { describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { AppError } from '../../src/base/errors.js';
import { sha256Hex as sha256 } from '../../src/base/hash.js';
import { epochSeconds } from '../../src/base/time.js';
import { verifies } from '../support/verifies.js';
import { createPerson, sessionOf, useAuthServer, userToken } from './auth-server.js';

const server = useAuthServer();
const two = useAuthServer();
const { collections } = server.deps.mongo;
const day = 24 * 3600;

const invalid = { error: 'invalid_token', error_description: 'token invalid' };

function refresh(refresh_token: string, at = server) {
  return at.client().post('/v1/auth/refresh', { refresh_token });
}

/** Moves the rotation that created this token into the past. */
async function age(token: string, seconds: number): Promise<void> {
  await collections.refresh_tokens.updateOne(
    { _id: sha256(token) },
    { $set: { created_at: epochSeconds() - seconds } },
  );
}

describe('POST /v1/auth/login', () => {
  test('returns an access token for one hour, a refresh token and the scope', async () => {
    verifies('auth.login', 'auth.login.lifetime', 'auth.kind.session');
    const { email, password, userId, workspace } = await createPerson(server.deps);
    const { status, body } = await server.client().post('/v1/auth/login', { email, password });
    expect(status).toBe(200);
    expect(Object.keys(body).sort()).toEqual(['access_token', 'expires_in', 'refresh_token', 'scope', 'token_type']);
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 3600 });
    expect(body.scope).toMatchObject({ project_id: workspace.projectID, user_id: userId, auth_kind: 'session' });
    expect(body.refresh_token).toMatch(/^svc_srt_[\w-]{43}$/);
    const claims = decodeJwt(body.access_token);
    expect(claims.exp! - claims.iat!).toBe(3600);
    const probe = await server.as(body.access_token).get('/probe');
    expect(probe.body).toMatchObject({ kind: 'session', userId, projectId: workspace.projectID, role: 'OWNER' });
    const session = await collections.sessions.findOne({ _id: String(claims.sid) });
    expect(session!.refresh_until - session!.created_at).toBeCloseTo(30 * day, 0);
  });
});

describe('POST /v1/auth/refresh', () => {
  test('returns a new working pair and stores only hashes', async () => {
    verifies('auth.refresh', 'auth.refresh.hashed');
    const session = await sessionOf(server, await createPerson(server.deps));
    const { status, body, headers } = await refresh(session.refresh);
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body.refresh_token).toMatch(/^svc_srt_[\w-]{43}$/);
    expect(body.refresh_token).not.toBe(session.refresh);
    expect((await server.as(body.access_token).get('/probe')).status).toBe(200);
    const sid = String(decodeJwt(body.access_token).sid);
    const stored = JSON.stringify([
      await collections.refresh_tokens.find({ session_id: sid }).toArray(),
      await collections.sessions.findOne({ _id: sid }),
    ]);
    expect(stored).toContain(sha256(session.refresh));
    for (const token of [session.refresh, body.refresh_token])
      expect(stored).not.toContain(token.slice('svc_srt_'.length));
  });

  test('returns the same child to fifty concurrent refreshes on two processes', async () => {
    verifies('auth.refresh.grace');
    const session = await sessionOf(server, await createPerson(server.deps));
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => refresh(session.refresh, at % 2 ? server : two)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => body.refresh_token)).size).toBe(1);
    expect((await refresh(answers[0]!.body.refresh_token)).status).toBe(200);
  });

  test('counts the ten seconds until a repeat arrives, not until a busy server processes it', async () => {
    verifies('auth.refresh.grace');
    const session = await sessionOf(server, await createPerson(server.deps));
    const { rotate } = server.deps.auth.sessions;
    const child = (await refresh(session.refresh)).body.refresh_token;
    const rotatedAt = epochSeconds() - 60;
    await collections.refresh_tokens.updateOne({ _id: sha256(child) }, { $set: { created_at: rotatedAt } });
    expect(await rotate(session.refresh, rotatedAt + 9)).toMatchObject({ refreshToken: child });
    expect(await rotate(session.refresh, rotatedAt + 11)).not.toHaveProperty('refreshToken');
  });

  test('returns the same child to a repeat within ten seconds, even if that child was already used', async () => {
    const session = await sessionOf(server, await createPerson(server.deps));
    const child = (await refresh(session.refresh)).body.refresh_token;
    await refresh(child, two);
    await age(child, 8);
    expect((await refresh(session.refresh, two)).body.refresh_token).toBe(child);
  });

  test('revokes the family on a later reuse, including its newest tokens in every process', async () => {
    verifies('auth.refresh.reuse');
    const person = await createPerson(server.deps);
    const session = await sessionOf(server, person);
    const child = (await refresh(session.refresh)).body;
    const newest = (await refresh(child.refresh_token)).body;
    await age(child.refresh_token, 11);
    const reuse = await refresh(session.refresh, two);
    expect([reuse.status, reuse.body]).toEqual([401, invalid]);
    for (const token of [session.access, child.access_token, newest.access_token]) {
      const { status, body } = await server.as(token).get('/probe');
      expect([status, body]).toEqual([401, invalid]);
    }
    for (const token of [session.refresh, child.refresh_token, newest.refresh_token])
      expect((await refresh(token)).status).toBe(401);
    const { organizationId } = person.workspace;
    const ended = { limit: 50, action: 'session-refresh-reuse' };
    expect((await server.deps.governance.audit.list(organizationId, ended)).data).toMatchObject([
      { actor: `session:${person.userId}`, resource: `project:${person.workspace.projectID}` },
    ]);
  });

  test('ends thirty days after the login, regardless of the last refresh', async () => {
    const session = await sessionOf(server, await createPerson(server.deps));
    const { body } = await refresh(session.refresh);
    const _id = String(decodeJwt(body.access_token).sid);
    await collections.sessions.updateOne({ _id }, { $set: { refresh_until: epochSeconds() - 1 } });
    expect((await refresh(body.refresh_token)).status).toBe(401);
  });

  test('uses the current role of the user, and ends the session of a user without a role', async () => {
    const member = await createPerson(server.deps, { role: 'MEMBER' });
    const session = await sessionOf(server, member);
    const membership = { _id: `project:${member.workspace.projectID}:${member.userId}` };
    await collections.memberships.updateOne(membership, { $set: { role: 'PROJECT_ADMIN' } });
    const { body } = await refresh(session.refresh);
    expect(body.scope).toMatchObject({ role: 'PROJECT_ADMIN' });
    expect(body.scope.grants).toHaveLength(8);
    await collections.memberships.deleteOne(membership);
    expect((await refresh(body.refresh_token)).status).toBe(401);
    expect((await server.as(body.access_token).get('/probe')).status).toBe(401);
  });

  test('refuses anything other than a refresh token', async () => {
    const person = await createPerson(server.deps);
    const session = await sessionOf(server, person);
    const wrong = [
      'svc_srt_',
      `svc_srt_${'A'.repeat(43)}`,
      session.access,
      person.workspace.apiKey,
      `${session.refresh}=`,
      ` ${session.refresh}`,
    ];
    for (const token of wrong) {
      const { status, body } = await refresh(token);
      expect([status, body]).toEqual([401, invalid]);
    }
    expect((await server.as(session.refresh).get('/probe')).body).toEqual(invalid);
    expect((await refresh(session.refresh)).status).toBe(200);
  });
});

describe('POST /v1/auth/logout', () => {
  test('ends the session of the bearer credential immediately in every process', async () => {
    verifies('auth.logout');
    const session = await sessionOf(server, await createPerson(server.deps));
    expect((await two.as(session.access).get('/probe')).status).toBe(200);
    expect((await server.as(session.access).post('/v1/auth/logout')).body).toEqual({ logged_out: true });
    expect((await two.as(session.access).get('/probe')).body).toEqual(invalid);
    expect((await refresh(session.refresh, two)).body).toEqual(invalid);
  });

  test('ends the session of a refresh token without a credential, and accepts a repeat', async () => {
    const person = await createPerson(server.deps);
    const [session, other] = [await sessionOf(server, person), await sessionOf(server, person)];
    const body = { refresh_token: session.refresh };
    for (let again = 0; again < 2; again += 1)
      expect((await server.client().post('/v1/auth/logout', body)).status).toBe(200);
    expect((await server.as(session.access).get('/probe')).status).toBe(401);
    expect((await server.as(other.access).get('/probe')).status).toBe(200);
  });

  test('repeated after its audit entry could not be stored, ends the session and is audited', async () => {
    const person = await createPerson(server.deps);
    const session = await sessionOf(server, person);
    const { audit } = server.deps.governance;
    const { append } = audit;
    audit.append = async () => {
      audit.append = append;
      throw new AppError('unavailable', 'the record store does not answer');
    };
    expect((await server.as(session.access).post('/v1/auth/logout')).status).toBe(503);
    expect((await server.as(session.access).post('/v1/auth/logout')).status).toBe(200);
    expect((await server.as(session.access).get('/probe')).status).toBe(401);
    const ended = await audit.list(person.workspace.organizationId, { limit: 50, action: 'sign-out' });
    expect(ended.data).toMatchObject([{ actor: `session:${person.userId}`, outcome: 'completed' }]);
  });

  test('ends a user token, and does nothing for an API key or an anonymous caller', async () => {
    const person = await createPerson(server.deps);
    const token = await userToken(server, person);
    expect((await server.as(token).post('/v1/auth/logout')).status).toBe(200);
    expect((await server.as(token).get('/probe')).status).toBe(401);
    expect((await server.as(person.workspace.apiKey).post('/v1/auth/logout')).body).toEqual(invalid);
    const nobody = await server.client().post('/v1/auth/logout');
    expect([nobody.status, nobody.body.error_description]).toEqual([401, 'missing bearer credential']);
  });

  test('revokeAll ends only the sessions of a user on a project', async () => {
    const person = await createPerson(server.deps);
    const [session, bystander] = [
      await sessionOf(server, person),
      await sessionOf(server, await createPerson(server.deps)),
    ];
    await server.deps.auth.sessions.revokeAll(
      { userId: person.userId, projectId: person.workspace.projectID },
      'a test',
    );
    expect((await server.as(session.access).get('/probe')).status).toBe(401);
    expect((await server.as(bystander.access).get('/probe')).status).toBe(200);
  });
});
