import type { AppError } from '../../src/base/errors.js';
import { describe, expect, test } from '@jest/globals';
import { createLoginThrottle, loginLimits } from '../../src/auth/login-throttle.js';
import { createPasswords } from '../../src/auth/passwords.js';
import { signIn } from '../../src/auth/sign-in.js';
import { newId } from '../../src/base/ids.js';
import { eventually } from '../support/eventually.js';
import { refusal } from '../support/refusal.js';
import { verifies } from '../support/verifies.js';
import { createPerson, sessionOf, useAuthServer, userToken } from './auth-server.js';

const server = useAuthServer();
/** Counts failures from this file's only address, which its other tests must not use. */
const limited = useAuthServer({ SIGN_IN_ADDRESS_MAX: '20' });
const { collections } = server.deps.mongo;

describe('sign-in', () => {
  test('from one network is limited across all accounts: trying one password on many accounts ends in 429', async () => {
    verifies('auth.login.network-limit');
    const known = await createPerson(limited.deps);
    await userToken(limited, known);
    const tried = await Promise.all(
      Array.from({ length: 60 }, (_, at) =>
        limited
          .client()
          .post('/v1/auth/sign-in', { email: `spray-${at}-${newId()}@example.com`, password: 'Summer2026!' }),
      ),
    );
    const statuses = tried.map(({ status }) => status);
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(20);
    const refused = tried.find(({ status }) => status === 429);
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
    // A person who has signed in from this network before can still sign in.
    expect(await userToken(limited, known)).toEqual(expect.any(String));
  });

  test('counts an IPv4 /24 and an IPv6 /64 as one network, and also counts all networks together', async () => {
    verifies('auth.login.network-limit');
    const limits = loginLimits({ addressMax: 3, totalMax: 0 }).filter(({ per }) => per === 'network');
    const throttle = createLoginThrottle(collections, limits);
    const seed = Number.parseInt(newId().slice(-4), 16);
    const [v4, v6] = [`10.${seed >> 8}.${seed & 255}`, `2001:db8:${seed.toString(16)}:1`];
    for (const network of [(host: number) => `${v4}.${host}`, (host: number) => `${v6}::${host}`]) {
      for (let host = 1; host <= 3; host += 1) await throttle.admit(newId(), network(host));
      await expect(throttle.admit(newId(), network(9))).rejects.toMatchObject({ code: 'too_many_requests' });
    }
    await expect(throttle.admit(newId(), `2001:db8:${seed.toString(16)}:2::1`)).resolves.toBeDefined();
    const total = createLoginThrottle(collections, [{ per: 'everyone', max: 2, windowSeconds: 3600 }]);
    await total.admit(newId(), '192.0.2.1');
    await total.admit(newId(), '198.51.100.1');
    await expect(total.admit(newId(), '203.0.113.1')).rejects.toMatchObject({ code: 'too_many_requests' });
    expect(loginLimits({ addressMax: 0, totalMax: 0 }).map(({ per }) => per)).toEqual([
      'account and address',
      'account and address',
      'account',
    ]);
  });

  test('verifies a limited number of passwords concurrently, and returns 503 above the limit', async () => {
    verifies('auth.login.bounded');
    const passwords = createPasswords();
    const results = await Promise.allSettled(Array.from({ length: 100 }, () => passwords.verify(undefined, 'wrong')));
    const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as AppError] : []));
    expect(results.length - refused.length).toBe(66);
    for (const refusal of refused)
      expect(refusal).toMatchObject({ code: 'unavailable', facts: { retryAfterSeconds: 1 } });
    expect(await passwords.verify(undefined, 'wrong')).toBe(false);
  });
});

describe('POST /v1/auth/password', () => {
  const change = (token: string, current_password: string, new_password: string) =>
    server.as(token).post('/v1/auth/password', { current_password, new_password });

  test('replaces the password, ends the other sessions and is audited', async () => {
    verifies('auth.password.change');
    const person = await createPerson(server.deps);
    const [token, session] = [await userToken(server, person), await sessionOf(server, person)];
    const next = `next password of ${person.userId}`;
    expect(await change(token, person.password, next)).toMatchObject({ status: 200, body: { changed: true } });
    expect((await server.as(token).get('/probe')).status).toBe(200);
    expect((await server.as(session.access).get('/probe')).status).toBe(401);
    expect((await server.client().post('/v1/auth/refresh', { refresh_token: session.refresh })).status).toBe(401);
    expect(
      await server.client().post('/v1/auth/sign-in', { email: person.email, password: person.password }),
    ).toMatchObject(refusal(401, 'invalid_token'));
    expect((await server.client().post('/v1/auth/sign-in', { email: person.email, password: next })).status).toBe(200);
    const { data } = await server.deps.governance.audit.list(person.workspace.organizationId, { limit: 10 });
    expect(data).toContainEqual(
      expect.objectContaining({
        action: 'password-change',
        actor: `user_jwt:${person.userId}`,
        resource: `user:${person.userId}`,
      }),
    );
    expect(JSON.stringify(data)).not.toContain(next);
  });

  test('repeated after its process died before it ended the other sessions, ends them', async () => {
    verifies('auth.password.change');
    const person = await createPerson(server.deps);
    const [token, session] = [await userToken(server, person), await sessionOf(server, person)];
    const next = `next password of ${person.userId}`;
    const password_hash = await server.deps.auth.passwords.hash(next);
    await collections.users.updateOne({ _id: person.userId }, { $set: { password_hash } });
    expect(await change(token, person.password, next)).toMatchObject({ status: 200, body: { changed: true } });
    expect((await server.as(session.access).get('/probe')).status).toBe(401);
    const { data } = await server.deps.governance.audit.list(person.workspace.organizationId, { limit: 10 });
    expect(data).toContainEqual(expect.objectContaining({ action: 'password-change' }));
  });

  test('ends a sign-in that verified the old password while it was changed', async () => {
    verifies('auth.password.change');
    const { email, password, userId } = await createPerson(server.deps);
    const { users, sessions } = collections;
    const { auth } = server.deps;
    const passwords = {
      ...auth.passwords,
      async verify(stored: string | undefined, given: string) {
        const matches = await auth.passwords.verify(stored, given);
        const password_hash = await auth.passwords.hash(`next password of ${userId}`);
        await users.updateOne({ _id: userId }, { $set: { password_hash } });
        await auth.sessions.revokeAll({ userId }, 'the password was changed');
        return matches;
      },
    };
    const late = signIn(
      { ...server.deps, auth: { ...auth, passwords } },
      { email, password, address: '', userAgent: null },
    );
    await expect(late).rejects.toMatchObject({ code: 'scope_denied' });
    expect(await sessions.countDocuments({ user_id: userId, revoked_at: null })).toBe(0);
  });

  test('refuses a wrong current password, a short new one and a caller that is not a person, and throttles guesses', async () => {
    verifies('auth.password.change');
    const person = await createPerson(server.deps);
    const token = await userToken(server, person);
    expect(await change(token, 'wrong', 'a password that is long')).toMatchObject(
      refusal(403, 'access_denied', 'current_password'),
    );
    expect(await change(token, person.password, 'short')).toMatchObject(
      refusal(400, 'invalid_request', 'new_password'),
    );
    expect(await change(person.workspace.apiKey, person.password, 'a password that is long')).toMatchObject(
      refusal(403, 'access_denied', 'person'),
    );
    // All guesses must fall into one minute, the window of the limit.
    await eventually(() => expect(new Date().getSeconds()).toBeLessThan(40));
    const guesses = await Promise.all(
      Array.from({ length: 15 }, () => change(token, 'guess', 'a password that is long')),
    );
    expect(guesses.map(({ status }) => status)).toContain(429);
    expect((await server.client().post('/v1/auth/sign-in', { email: person.email, password: 'guess' })).status).toBe(
      429,
    );
  });
});
