import type { AppError } from '../../src/base/errors.js';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { createLoginThrottle } from '../../src/auth/login-throttle.js';
import { grantRole } from '../../src/auth/users.js';
import { newId } from '../../src/base/ids.js';
import { eventually } from '../support/eventually.js';
import { createWorkspace } from '../support/fixture.js';
import { testRun } from '../support/run.js';
import { verifies } from '../support/verifies.js';
import { createPerson, useAuthServer, userToken } from './auth-server.js';

const server = useAuthServer();
const two = useAuthServer();
const { collections } = server.deps.mongo;

describe('POST /v1/auth/sign-in', () => {
  test('returns a user token with the claims of the specification', async () => {
    verifies('auth.sign-in', 'auth.user-token.claims');
    const person = await createPerson(server.deps);
    const { userId, workspace } = person;
    const { email, password } = person;
    const { status, body, headers } = await server
      .client()
      .post('/v1/auth/sign-in', { email: email.toLowerCase(), password });
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    const scope = {
      org_id: workspace.organizationId,
      dept_id: workspace.departmentId,
      project_id: workspace.projectID,
      role: 'OWNER',
    };
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 8 * 3600 });
    expect(body.scope).toMatchObject({ ...scope, user_id: userId, auth_kind: 'user_jwt' });
    const claims = decodeJwt(body.access_token);
    expect(claims).toMatchObject({ ...scope, sub: userId, token_use: 'user' });
    expect(claims.exp! - claims.iat!).toBe(8 * 3600);
    expect(decodeProtectedHeader(body.access_token)).toMatchObject({ alg: 'ES256', typ: 'at+jwt' });
  });

  test('requires a role of the user on the project and uses that role', async () => {
    verifies('auth.keys.default-grants.other');
    const viewer = await createPerson(server.deps, { role: 'VIEWER' });
    const { email, password } = viewer;
    const foreign = await createWorkspace(server.deps);
    const { body } = await server.client().post('/v1/auth/sign-in', { email, password });
    expect(body.scope).toMatchObject({ role: 'VIEWER', grants: ['svc:query.read', 'svc:docs.read'] });
    for (const project_id of [foreign.projectID, 'no-such-project', newId()]) {
      const refused = await server.client().post('/v1/auth/sign-in', { email, password, project_id });
      expect([refused.status, refused.body.error]).toEqual([403, 'S2:resolve-scope']);
    }
    await collections.projects.updateOne({ _id: viewer.workspace.projectID }, { $set: { status: 'deleted' } as never });
    expect((await server.client().post('/v1/auth/sign-in', { email, password })).status).toBe(403);
  });

  test("selects the user's oldest active project if none is named", async () => {
    const member = await createPerson(server.deps, { role: 'MEMBER' });
    const second = await createWorkspace(server.deps);
    const { organizationId, projectID } = second;
    await grantRole(collections, {
      userId: member.userId,
      organizationId,
      projectId: projectID,
      role: 'PROJECT_ADMIN',
    });
    const { email, password } = member;
    const projectOf = async () => (await server.client().post('/v1/auth/sign-in', { email, password })).body.scope;
    expect(await projectOf()).toMatchObject({ project_id: member.workspace.projectID, role: 'MEMBER' });
    await collections.projects.updateOne({ _id: member.workspace.projectID }, { $set: { status: 'deleted' } as never });
    expect(await projectOf()).toMatchObject({ project_id: projectID, role: 'PROJECT_ADMIN', org_id: organizationId });
  });

  test('returns the same response for a wrong password and an unknown address', async () => {
    const { email, password } = await createPerson(server.deps);
    const attempts = [
      { email, password: `${password} ` },
      { email: `x${email}`, password },
      { email: 'no mail address', password },
    ];
    for (const attempt of attempts) {
      const { status, body } = await server.client().post('/v1/auth/sign-in', attempt);
      expect([status, body]).toEqual([
        401,
        { error: 'invalid_token', error_description: 'email or password is wrong' },
      ]);
    }
  });

  test('refuses an invalid mail address or password and names the field', async () => {
    const pair = { email: 'a@example.com', password: 'x' };
    const wrong: [unknown, RegExp][] = [
      [{ email: pair.email }, /password/],
      [{ ...pair, email: { $ne: '' } }, /email/],
      [{ ...pair, password: 'x'.repeat(1025) }, /password/],
      [{ ...pair, role: 'OWNER' }, /role/],
      [{ ...pair, email: 'a\0' }, /email/],
      ['{"email"', /not valid JSON/],
    ];
    for (const [body, named] of wrong) {
      const answer = await server.client().post('/v1/auth/sign-in', body);
      expect(answer.status).toBe(400);
      expect(answer.body.error_description).toMatch(named);
      expect(JSON.stringify(answer.body)).not.toContain('xxxx');
    }
  });

  test('stores passwords only as argon2id hashes', async () => {
    verifies('auth.passwords');
    const { userId, password } = await createPerson(server.deps);
    const stored = await collections.users.findOne({ _id: userId });
    expect(stored?.password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(JSON.stringify(stored)).not.toContain(password);
  });
});

describe('repeated failures', () => {
  test('are throttled with 429 and a correct Retry-After, exactly across two processes, also for unknown addresses', async () => {
    verifies('auth.login.slowed');
    const { email, workspace } = await createPerson(server.deps);
    for (const address of [email, `nobody-${newId()}@example.com`]) {
      await sinceTheMinuteBegan();
      const began = new Date().getSeconds();
      const tried = await Promise.all(
        Array.from({ length: 40 }, (_, at) =>
          (at % 2 ? server : two).client().post('/v1/auth/login', { email: address, password: 'wrong' }),
        ),
      );
      const statuses = tried.map(({ status }) => status);
      expect(statuses.filter((status) => status === 401)).toHaveLength(10);
      expect(statuses.filter((status) => status === 429)).toHaveLength(30);
      const refused = tried.find(({ status }) => status === 429)!;
      expect(refused.body.error).toBe('too_many_requests');
      const seconds = Number(refused.headers.get('retry-after'));
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThanOrEqual(60 - began);
    }
    // Only attempts whose password was checked are audited, so that nobody can fill the chain of an organization.
    const audited = async () =>
      (await server.deps.governance.audit.list(workspace.organizationId, { limit: 100, action: 'sign-in' })).data;
    await eventually(async () =>
      expect((await audited()).filter(({ outcome }) => outcome === 'denied: invalid_token')).toHaveLength(10),
    );
    expect(await audited()).toHaveLength(10);
  });

  test('also block the correct password until the window ends, and successes do not count', async () => {
    const limits = [{ per: 'account and address', max: 2, windowSeconds: 2 }] as const;
    const throttle = createLoginThrottle(collections, limits);
    const account = newId();
    for (let success = 0; success < 5; success += 1) await (await throttle.admit(account, '127.0.0.1'))();
    const failing = async () => {
      for (;;) await throttle.admit(account, '127.0.0.1');
    };
    const refused = await failing().catch((error: unknown) => error as AppError);
    const refusedAt = Date.now();
    await expect(throttle.admit(account, '127.0.0.1')).rejects.toMatchObject({ code: 'too_many_requests' });
    let lastRefusedAt = 0;
    await eventually(async () => {
      const at = Date.now();
      await throttle.admit(account, '127.0.0.1').catch((error: unknown) => {
        lastRefusedAt = at;
        throw error;
      });
    });
    expect(lastRefusedAt).toBeLessThanOrEqual(refusedAt + (refused.facts.retryAfterSeconds ?? 0) * 1000);
  });

  test('from many addresses stop at the limit of the account, except where its user is known', async () => {
    const throttle = createLoginThrottle(collections, [{ per: 'account', max: 3, windowSeconds: 3600 }]);
    const account = newId();
    await (
      await throttle.admit(account, '192.0.2.1')
    )();
    for (let from = 0; from < 3; from += 1) await throttle.admit(account, `2001:db8:0:${from}::1`);
    await expect(throttle.admit(account, '198.51.100.7')).rejects.toMatchObject({ code: 'too_many_requests' });
    await expect(throttle.admit(account, '::ffff:192.0.2.1')).resolves.toBeDefined();
  });

  test('from one IPv6 network count as one address', async () => {
    const throttle = createLoginThrottle(collections, [{ per: 'account and address', max: 1, windowSeconds: 3600 }]);
    const account = newId();
    await throttle.admit(account, '2001:db8:1:2::1');
    await expect(throttle.admit(account, '2001:db8:1:2:ffff::9')).rejects.toMatchObject({ code: 'too_many_requests' });
    await expect(throttle.admit(account, '2001:db8:1:3::1')).resolves.toBeDefined();
  });
});

test('passwords and tokens never appear in the logs or in the store', async () => {
  const person = await createPerson(server.deps);
  await userToken(server, person);
  const log = await readFile(path.join(testRun().logs, 'api.log'), 'utf8');
  expect(log).not.toContain(person.password);
  const attempts = await collections.login_attempts.find({}).toArray();
  expect(JSON.stringify(attempts)).not.toMatch(/example\.com/i);
});

/** Waits until the end of the window is far enough away that all attempts of a test fall into one window. */
async function sinceTheMinuteBegan(): Promise<void> {
  await eventually(() => expect(new Date().getSeconds()).toBeLessThan(50));
}
