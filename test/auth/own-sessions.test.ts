import { expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { createKey } from '../support/fixture.js';
import { eventually } from '../support/eventually.js';
import { refusal } from '../support/refusal.js';
import { verifies } from '../support/verifies.js';
import { createPerson, sessionOf, useAuthServer, userToken } from './auth-server.js';

const server = useAuthServer();
const two = useAuthServer();
const { sessions } = server.deps.mongo.collections;
const day = 24 * 3600;
const idOf = (token: string) => String(decodeJwt(token).sid);

test('a person sees their own sessions with the program, the last use and which is this one', async () => {
  verifies('auth.own-sessions');
  const person = await createPerson(server.deps);
  const token = await userToken(server, person);
  const { access } = await sessionOf(server, person);
  await userToken(server, await createPerson(server.deps, { workspace: person.workspace }));
  const { status, body } = await server.as(token).get('/v1/auth/sessions');
  expect(status).toBe(200);
  const program = { user_agent: expect.stringMatching(/node|undici/), created_at: expect.any(Number) };
  expect(body).toEqual({
    data: [
      { session_id: idOf(access), kind: 'session', ...program, last_used_at: expect.any(Number), is_current: false },
      { session_id: idOf(token), kind: 'user', ...program, last_used_at: expect.any(Number), is_current: true },
    ],
    total_count: 2,
    next_cursor: null,
  });
});

test('the last use is written, at most once a minute', async () => {
  verifies('auth.own-sessions.last-use');
  const person = await createPerson(server.deps);
  const token = await userToken(server, person);
  const _id = idOf(token);
  const lastUse = async () => (await sessions.findOne({ _id }))?.last_used_at ?? 0;
  const before = await lastUse();
  await server.as(token).get('/probe');
  expect(await lastUse()).toBe(before);
  await sessions.updateOne({ _id }, { $set: { last_used_at: before - 120 } });
  // Another process, which has not written it.
  await two.as(token).get('/probe');
  await eventually(async () => expect(await lastUse()).toBeGreaterThanOrEqual(before));
});

test('sessions that have ended or whose tokens have expired are not listed', async () => {
  verifies('auth.own-sessions');
  const person = await createPerson(server.deps);
  const [current, old] = [await userToken(server, person), await userToken(server, person)];
  const refreshed = await sessionOf(server, person);
  const ended = await sessionOf(server, person);
  await server.client().post('/v1/auth/logout', { refresh_token: ended.refresh });
  const longAgo = { created_at: Date.now() / 1000 - day, last_used_at: Date.now() / 1000 - day };
  // A session can be refreshed after a day, and a user token cannot.
  for (const token of [old, refreshed.access]) await sessions.updateOne({ _id: idOf(token) }, { $set: longAgo });
  const { body } = await server.as(current).get('/v1/auth/sessions');
  expect(body.data.map(({ session_id }: any) => session_id)).toEqual([idOf(refreshed.access), idOf(current)]);
});

test('a person ends one session, whose next call is refused, and nobody ends that of another person', async () => {
  verifies('auth.own-sessions.end');
  const person = await createPerson(server.deps);
  const stranger = await createPerson(server.deps, { workspace: person.workspace });
  const [token, other] = [await userToken(server, person), await sessionOf(server, person)];
  const path = `/v1/auth/sessions/${idOf(other.access)}`;
  const strange = server.as(await userToken(server, stranger));
  expect(await strange.delete(path)).toMatchObject(refusal(404, 'not_found', 'session was not found'));
  expect((await server.as(other.access).get('/probe')).status).toBe(200);
  expect(await server.as(token).delete(path)).toMatchObject({ status: 200, body: { ended: true } });
  expect((await two.as(other.access).get('/probe')).status).toBe(401);
  expect((await server.client().post('/v1/auth/refresh', { refresh_token: other.refresh })).status).toBe(401);
  expect((await server.as(token).delete(path)).status).toBe(200);
  const { data } = (await server.as(token).get('/v1/auth/sessions')).body;
  expect(data.map(({ session_id }: any) => session_id)).toEqual([idOf(token)]);
  const entry = await server.deps.mongo.collections.audit_entries.findOne({
    actor: new RegExp(person.userId),
    action: 'sign-out',
  });
  expect(entry).toMatchObject({ outcome: 'completed' });
});

test('a person ends all other sessions, and only their own', async () => {
  verifies('auth.own-sessions.end');
  const person = await createPerson(server.deps);
  const stranger = await userToken(server, await createPerson(server.deps, { workspace: person.workspace }));
  const [token, other] = [await userToken(server, person), await sessionOf(server, person)];
  expect(await server.as(token).delete('/v1/auth/sessions')).toMatchObject({ status: 200, body: { ended: true } });
  const statuses = await Promise.all(
    [token, other.access, stranger].map(async (each) => (await server.as(each).get('/probe')).status),
  );
  expect(statuses).toEqual([200, 401, 200]);
});

test('an API key has no sessions to see or to end', async () => {
  verifies('auth.own-sessions');
  const person = await createPerson(server.deps);
  const token = await userToken(server, person);
  const key = server.as(await createKey(server.deps, { ...person.workspace, userId: person.userId }));
  for (const answer of [
    await key.get('/v1/auth/sessions'),
    await key.delete('/v1/auth/sessions'),
    await key.delete(`/v1/auth/sessions/${idOf(token)}`),
  ])
    expect(answer).toMatchObject(refusal(403, 'access_denied', 'only a person'));
  expect((await server.as(token).get('/probe')).status).toBe(200);
});
