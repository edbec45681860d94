import { beforeAll, describe, expect, test } from '@jest/globals';
import * as oidc from 'openid-client';
import { sha256Hex } from '../../../src/base/hash.js';
import { createPerson, type Person } from '../../auth/auth-server.js';
import { grantRole } from '../../../src/auth/users.js';
import { eventually } from '../../support/eventually.js';
import { createWorkspace, personOf } from '../../support/fixture.js';
import { verifies } from '../../support/verifies.js';
import { answerDevice, deviceGrant, openDevice, poll, requestDevice, startDevice } from './devices.js';
import { postForm, registerClient, token } from './flow.js';
import { openBrowser } from './form-browser.js';
import { useOauthServer } from './oauth-server.js';

const server = useOauthServer();
const { collections } = server.deps.mongo;
const few = useOauthServer({
  limits: { 'entered codes': { max: 6, windowSeconds: 600 }, 'device requests': { max: 2, windowSeconds: 600 } },
});
const requestOf = (deviceCode: string) => collections.oauth_device_requests.findOne({ _id: sha256Hex(deviceCode) });
const keysOf = ({ workspace }: Person) =>
  collections.api_keys.find({ 'scope.project_id': workspace.projectID, client_id: 'gcs' }).toArray();

let person: Person;
beforeAll(async () => {
  person = await createPerson(server.deps);
});

test('openid-client discovers the endpoint, and gets a key once the person has allowed it', async () => {
  verifies('oauth.device.flow');
  const config = await oidc.discovery(new URL(server.baseUrl), 'gcs', undefined, oidc.None(), {
    execute: [oidc.allowInsecureRequests],
    algorithm: 'oauth2',
  });
  expect(config.serverMetadata()).toMatchObject({
    device_authorization_endpoint: `${server.baseUrl}/oauth/device_authorization`,
    grant_types_supported: expect.arrayContaining([deviceGrant]),
  });
  const device = await oidc.initiateDeviceAuthorization(config, { device_name: 'my laptop' });
  expect(device).toMatchObject({
    user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
    verification_uri: `${server.baseUrl}/oauth/device`,
    verification_uri_complete: `${server.baseUrl}/oauth/device?user_code=${device.user_code}`,
    expires_in: 600,
    interval: 5,
  });
  const polled = oidc.pollDeviceAuthorizationGrant(config, device);
  const { browser, page } = await openDevice(server, person, device as never);
  expect(page.html).toContain(device.user_code);
  expect(page.html).toContain('my laptop');
  expect((await browser.submit(page, 'allow')).html).toContain('is connected');
  const key = await polled;
  expect(key.scope).toBe('svc:orchestrate.read svc:orchestrate.write svc:agent.run');
  expect(key.project_id).toBe(person.workspace.projectID);
  expect((await server.as(key.access_token).get('/probe/run')).body).toMatchObject({
    userId: person.userId,
    kind: 'api_key',
  });
  expect(await keysOf(person)).toMatchObject([
    { name: 'gcs on my laptop', created_by: person.userId, revoked_at: null },
  ]);
  await oidc.tokenRevocation(config, key.access_token);
  expect((await server.as(key.access_token).get('/probe/run')).status).toBe(401);
});

describe('POST /oauth/token with a device code', () => {
  test('is answered authorization_pending, and slow_down with a longer interval if it comes too early', async () => {
    verifies('oauth.device.polling');
    const device = await startDevice(server);
    expect(await poll(server, device)).toMatchObject({ status: 400, body: { error: 'authorization_pending' } });
    expect(await poll(server, device)).toMatchObject({ status: 400, body: { error: 'slow_down' } });
    expect(await requestOf(device.device_code)).toMatchObject({ interval: 10 });
  });

  test('is answered access_denied after a denial, which creates nothing and cannot be changed', async () => {
    verifies('oauth.device.polling', 'oauth.device.once');
    const own = await createPerson(server.deps);
    const device = await startDevice(server);
    const other = await openDevice(server, own, device);
    expect((await answerDevice(server, own, device, 'deny')).html).toContain('gets no access');
    expect((await other.browser.submit(other.page, 'allow')).html).toContain('gets no access');
    expect(await poll(server, device)).toMatchObject({ status: 400, body: { error: 'access_denied' } });
    expect(await keysOf(own)).toEqual([]);
  });

  test('is answered expired_token after the end, and the page knows the code no more', async () => {
    verifies('oauth.device.polling');
    const device = await startDevice(server);
    await collections.oauth_device_requests.updateOne(
      { _id: sha256Hex(device.device_code) },
      { $set: { valid_until: 1 } },
    );
    expect(await poll(server, device)).toMatchObject({ status: 400, body: { error: 'expired_token' } });
    const { page } = await openDevice(server, person, device);
    expect([page.status, page.html]).toEqual([422, expect.stringContaining('This code is not valid')]);
  });

  test('is refused for an unknown code, another client and a missing code', async () => {
    verifies('oauth.device.polling');
    const device = await startDevice(server);
    const other = await registerClient(server);
    const unknown = { ...device, device_code: device.device_code.replace(/.{5}$/, 'wrong') };
    expect((await poll(server, unknown)).body.error).toBe('invalid_grant');
    expect((await poll(server, device, { client_id: other.client_id })).body.error).toBe('invalid_grant');
    expect((await poll(server, { ...device, device_code: '' })).body.error).toBe('invalid_request');
    expect((await requestDevice(server, { client_id: other.client_id })).body.error).toBe('unauthorized_client');
    expect((await requestDevice(server, { client_id: 'gsc' })).status).toBe(401);
    const code = { grant_type: 'refresh_token', refresh_token: 'x', client_id: 'gcs' };
    expect((await token(server.client(), code)).body.error).toBe('unauthorized_client');
  });

  test('gives 20 simultaneous polls, and later ones, the same key', async () => {
    verifies('oauth.device.once');
    const own = await createPerson(server.deps);
    const device = await startDevice(server);
    await answerDevice(server, own, device, 'allow');
    const answers = await Promise.all(Array.from({ length: 20 }, () => poll(server, device)));
    const secrets = new Set(answers.map(({ body }) => body.access_token));
    expect([...secrets]).toEqual([expect.stringMatching(/^svc_sk_/)]);
    expect((await poll(server, device)).body.access_token).toBe([...secrets][0]);
    expect(await keysOf(own)).toHaveLength(1);
  });

  test('is refused once the key was revoked', async () => {
    verifies('oauth.device.polling');
    const own = await createPerson(server.deps);
    const device = await startDevice(server);
    await answerDevice(server, own, device, 'allow');
    await collections.api_keys.updateMany({ created_by: own.userId }, { $set: { revoked_at: 1 } });
    expect(await poll(server, device)).toMatchObject({ status: 400, body: { error: 'access_denied' } });
  });
});

describe('the key', () => {
  test('is stored only as a hash, as is the device code, and expires after 90 days', async () => {
    verifies('oauth.device.key');
    const own = await createPerson(server.deps);
    const device = await startDevice(server);
    await answerDevice(server, own, device, 'allow');
    const { access_token, expires_in } = (await poll(server, device)).body;
    const [key] = await keysOf(own);
    const stored = JSON.stringify([await requestOf(device.device_code), key]);
    for (const secret of [device.device_code, access_token]) {
      expect(stored).not.toContain(secret.slice(8));
      expect(stored).toContain(sha256Hex(secret));
    }
    expect(Math.ceil(expires_in / 86400)).toBe(90);
    expect((await server.as(access_token).get('/probe/run')).status).toBe(200);
    await collections.api_keys.updateOne({ _id: sha256Hex(access_token) }, { $set: { expires_at: 1 } });
    expect((await server.as(access_token).get('/probe/run')).status).toBe(401);
  });

  test('can be given back by gcs, and no other key can', async () => {
    verifies('oauth.device.key');
    const { apiKey } = await createWorkspace(server.deps);
    const revoke = (secret: string, client_id: string) =>
      postForm(server.client(), '/oauth/revoke', new URLSearchParams({ token: secret, client_id }).toString());
    expect(await revoke(apiKey, 'gcs')).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    const device = await startDevice(server);
    await answerDevice(server, person, device, 'allow');
    const { access_token } = (await poll(server, device)).body;
    const other = await registerClient(server);
    expect(await revoke(access_token, other.client_id)).toMatchObject({ body: { error: 'invalid_grant' } });
    expect((await server.as(access_token).get('/probe/run')).status).toBe(200);
    expect((await revoke(access_token, 'gcs')).status).toBe(200);
    expect((await server.as(access_token).get('/probe/run')).status).toBe(401);
    const { data } = await server.deps.governance.audit.list(person.workspace.organizationId, { limit: 20 });
    expect(data.filter(({ action }) => action === 'oauth-revocation')).toContainEqual(
      expect.objectContaining({ outcome: 'given back by gcs' }),
    );
  });

  test('is the same after an answer that was lost between its creation and the note of it', async () => {
    verifies('oauth.device.once');
    const own = await createPerson(server.deps);
    const device = await startDevice(server);
    await answerDevice(server, own, device, 'allow');
    const ofCode = { _id: sha256Hex(device.device_code) };
    await collections.oauth_device_requests.updateOne(ofCode, { $unset: { answer: '' } });
    expect((await poll(server, device)).body.error).toBe('authorization_pending');
    expect((await answerDevice(server, own, device, 'allow')).html).toContain('is connected');
    expect((await poll(server, device)).body.access_token).toMatch(/^svc_sk_/);
    expect(await keysOf(own)).toHaveLength(1);
  });
});

describe('the page of a device', () => {
  test('lets one person answer once, however many try', async () => {
    verifies('oauth.device.once');
    const people = await Promise.all([createPerson(server.deps), createPerson(server.deps)]);
    const device = await startDevice(server);
    const opened = await Promise.all([...people, ...people].map((who) => openDevice(server, who, device)));
    await Promise.all(opened.map(({ browser, page }) => browser.submit(page, 'allow')));
    const keys = (await Promise.all(people.map(keysOf))).flat();
    expect(keys).toHaveLength(1);
    const late = await openDevice(
      server,
      people.find(({ userId }) => userId !== keys[0]?.created_by)!,
      device,
    );
    expect(late.page.html).toContain('This code is not valid');
  });

  test('counts one answer if both are sent at once, and a denied request leaves no usable key', async () => {
    verifies('oauth.device.once');
    const own = await createPerson(server.deps);
    const rounds = Array.from({ length: 6 }, async () => {
      const device = await startDevice(server);
      const opened = [await openDevice(server, own, device), await openDevice(server, own, device)] as const;
      await Promise.all([
        opened[0].browser.submit(opened[0].page, 'allow'),
        opened[1].browser.submit(opened[1].page, 'deny'),
      ]);
      const key = await collections.api_keys.findOne({ _id: (await requestOf(device.device_code))!.key_hash });
      const { body } = await poll(server, device);
      return [body.error ?? 'given', key !== null && key.revoked_at === null];
    });
    for (const [answer, hasKey] of await Promise.all(rounds))
      expect([answer, hasKey]).toEqual(answer === 'given' ? ['given', true] : ['access_denied', false]);
  });

  test('refuses forms without the secret of the session', async () => {
    verifies('oauth.device.forms');
    const own = await createPerson(server.deps);
    const device = await startDevice(server);
    const { browser } = await openDevice(server, own, device);
    const path = `/oauth/device?user_code=${device.user_code}`;
    for (const csrf_token of ['', 'guessed']) {
      const answer = await fetch(server.url + path, {
        method: 'POST',
        body: new URLSearchParams({ action: 'allow', project: own.workspace.projectID, csrf_token }),
        headers: { cookie: browser.cookie ?? '' },
      });
      expect(answer.status).toBe(403);
    }
    expect((await requestOf(device.device_code))?.user_id).toBeUndefined();
    expect(await keysOf(own)).toEqual([]);
  });

  test('stays at its own address, whatever the code is', async () => {
    verifies('oauth.device.forms');
    const browser = openBrowser(server.url);
    for (const code of ['//evil.example', 'https://evil.example/?', '\r\nLocation: https://evil.example']) {
      const page = await browser.open(
        `/oauth/device?user_code=${encodeURIComponent(code)}&redirect_uri=//evil.example`,
      );
      const signedIn = await browser.submit(page, 'sign-in', { email: person.email, password: person.password });
      expect([signedIn.location, signedIn.status]).toEqual([undefined, 422]);
      await browser.submit(signedIn, 'sign-out');
    }
  });

  test('accepts a code in small letters and with spaces, and shows the name of the device harmlessly', async () => {
    verifies('oauth.device.forms');
    const device = await startDevice(server, { device_name: `<img src=x>\u202e${'n'.repeat(500)}` });
    const browser = openBrowser(server.url);
    const start = await browser.open('/oauth/device');
    const enter = await browser.submit(start, 'sign-in', { email: person.email, password: person.password });
    const page = await browser.submit(enter, 'enter', { user_code: device.user_code.toLowerCase().replace('-', ' ') });
    expect(page.html).toContain(device.user_code);
    expect(page.html).toContain(`&lt;img src=x&gt;${'n'.repeat(89)}<`);
    expect(page.html).not.toContain('\u202e');
  });

  test.each(['EDITOR', 'APPROVER', 'VIEWER'])('offers nothing to a person with the role %s', async (role) => {
    verifies('oauth.device.roles');
    const { workspace } = await createPerson(server.deps);
    const low = await createPerson(server.deps, { role, workspace });
    const device = await startDevice(server, { project_id: workspace.projectID });
    const { browser, page } = await openDevice(server, low, device);
    expect(page.html).toContain('You may not create API keys on any project');
    expect(page.html).not.toContain('value="allow"');
    const forged = { ...page, html: page.html.replace('value="deny"', 'value="allow"') };
    const answer = await browser.submit(forged, 'allow', { project: workspace.projectID });
    expect([answer.status, answer.html]).toEqual([422, expect.stringContaining('Choose a project')]);
    expect((await poll(server, device)).body.error).toBe('authorization_pending');
  });

  test('preselects the preferred project, and gives no key of a foreign one', async () => {
    verifies('oauth.device.roles');
    const [own, foreign, preferred] = await Promise.all([
      createPerson(server.deps),
      createPerson(server.deps),
      createWorkspace(server.deps),
    ]);
    await grantRole(collections, {
      userId: own.userId,
      organizationId: preferred.organizationId,
      projectId: preferred.projectID,
      role: 'PROJECT_ADMIN',
    });
    const device = await startDevice(server, { project_id: preferred.projectID });
    const { browser, page } = await openDevice(server, own, device);
    expect(page.html).toContain(`<option value="${preferred.projectID}" selected>`);
    const refused = await browser.submit(page, 'allow', { project: foreign.workspace.projectID });
    expect(refused.html).toContain('Choose a project');
    expect(await keysOf(foreign)).toEqual([]);
    await browser.submit(refused, 'allow', { project: preferred.projectID });
    expect((await poll(server, device)).body.project_id).toBe(preferred.projectID);
  });
});

describe('a policy', () => {
  const rule = { policy_id: 'keys', description: 'Ask the platform team', tools: ['api-key.create'] };
  const setRules = (owner: Person, rules: object[]) =>
    server.deps.governance.policies.replace(
      {
        ...{ kind: 'user_jwt', userId: owner.userId, role: 'OWNER', grants: [] },
        organizationId: owner.workspace.organizationId,
        ...{ departmentId: owner.workspace.departmentId, projectId: owner.workspace.projectID },
      },
      rules as never,
    );

  test('that forbids the key is named on the page and to the program, and another answer stays possible', async () => {
    verifies('oauth.device.governed');
    const own = await createPerson(server.deps);
    await setRules(own, [{ ...rule, effect: 'forbid' }]);
    const device = await startDevice(server);
    const { browser, page } = await openDevice(server, own, device);
    const refused = await browser.submit(page, 'allow');
    expect([refused.status, refused.html]).toEqual([422, expect.stringContaining('The API key was not created: ')]);
    expect((await poll(server, device)).body).toMatchObject({
      error: 'authorization_pending',
      error_description: expect.stringContaining('The API key was not created: '),
    });
    expect(await keysOf(own)).toEqual([]);
    await setRules(own, []);
    expect((await browser.submit(refused, 'allow')).html).toContain('is connected');
    const { data } = await server.deps.governance.audit.list(own.workspace.organizationId, { limit: 20 });
    const outcomes = data.filter(({ action }) => action === 'api-key.create').map(({ outcome }) => outcome);
    expect(outcomes).toEqual(['completed', 'denied']);
  });

  test('that requires an approval holds the key until somebody has approved it', async () => {
    verifies('oauth.device.governed');
    const own = await createPerson(server.deps);
    await setRules(own, [{ ...rule, effect: 'require_approval' }]);
    const device = await startDevice(server);
    const { browser, page } = await openDevice(server, own, device);
    const held = await browser.submit(page, 'allow');
    expect([held.status, held.html]).toEqual([422, expect.stringContaining('approves the API key first')]);
    expect((await poll(server, device)).body.error_description).toContain('approval');
    expect(await keysOf(own)).toEqual([]);
    const approver = await createPerson(server.deps, { workspace: own.workspace });
    const [, id] = /\(approval ([\w-]+)\)/.exec(held.html) ?? [];
    const api = await personOf(server.deps, own.workspace, { userId: approver.userId });
    expect(await api.post(`/v1/approvals/${id}/approve`, {})).toMatchObject({ status: 200 });
    await eventually(async () => expect((await browser.submit(held, 'allow')).html).toContain('is connected'));
    expect((await poll(server, device)).body.access_token).toMatch(/^svc_sk_/);
  });
});

describe('guessing', () => {
  test('ends after a few codes, also for the right one', async () => {
    verifies('oauth.device.limited');
    const [guesser, another] = await Promise.all([createPerson(few.deps), createPerson(few.deps)]);
    const device = await startDevice(few);
    const { browser, page } = await openDevice(few, guesser, { ...device, user_code: 'BBBB-BBBB' });
    let last = page;
    for (let guess = 0; guess < 5; guess += 1)
      last = await browser.submit(last, 'enter', { user_code: `CCCC-CCC${'BCDFG'[guess]}` });
    expect(last.status).toBe(422);
    const right = await browser.submit(last, 'enter', { user_code: device.user_code });
    expect([right.status, right.html]).toEqual([429, expect.stringContaining('try again in')]);
    expect(right.html).not.toContain('value="allow"');
    // The limit also holds for the person at another address.
    expect((await openDevice(few, guesser, device)).page.status).toBe(429);
    expect((await openDevice(few, another, device)).page.html).toContain('value="allow"');
  });

  test('is not helped by many requests: an address can make only some', async () => {
    verifies('oauth.device.limited');
    const request = () => postForm(few.client(), '/oauth/device_authorization', 'client_id=gcs');
    const answers = [await request(), await request(), await request()];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(answers[2]?.headers.get('retry-after')).toMatch(/^\d+$/);
  });
});
