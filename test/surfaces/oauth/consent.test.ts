import { beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { createPerson, type Person } from '../../auth/auth-server.js';
import { createWorkspace } from '../../support/fixture.js';
import { verifies } from '../../support/verifies.js';
import { grantRole } from '../../../src/auth/users.js';
import {
  allow,
  answerOf,
  authorizationPath,
  exchange,
  newPkce,
  obtainTokens,
  press,
  registerClient,
  signedInPage,
  type TestClient,
} from './flow.js';
import { openBrowser } from './form-browser.js';
import { useOauthServer } from './oauth-server.js';

const server = useOauthServer();
let person: Person;
let client: TestClient;
beforeAll(async () => {
  person = await createPerson(server.deps);
  client = await registerClient(server, { client_name: 'Reports <b>&"bot"</b>' });
});
const path = (fields: Record<string, string | null> = {}) => authorizationPath(client, newPkce(), fields);

describe('the sign-in page', () => {
  test('shows the client, its target and that it is unverified, and offers nothing to allow', async () => {
    verifies('oauth.consent.shows');
    const { html } = await openBrowser(server.url).open(path());
    expect(html).toContain('Reports &lt;b&gt;&amp;&quot;bot&quot;&lt;/b&gt;');
    expect(html).toContain('client.example');
    expect(html).toContain('Not verified');
    expect(html).not.toContain('value="allow"');
  });

  test('gives a wrong password and an unknown address the same message, and keeps the address', async () => {
    const browser = openBrowser(server.url);
    const page = await browser.open(path());
    const wrong = await browser.submit(page, 'sign-in', { email: person.email, password: 'wrong' });
    const unknown = await browser.submit(wrong, 'sign-in', { email: 'nobody@example.com', password: 'wrong' });
    expect([wrong.status, unknown.status]).toEqual([401, 401]);
    for (const { html } of [wrong, unknown]) expect(html).toContain('role="alert">Email or password is wrong.');
    expect(wrong.html).toContain(`value="${person.email}"`);
    expect(wrong.html).not.toContain('value="wrong"');
  });

  test("is throttled by the product's own limit", async () => {
    const browser = openBrowser(server.url);
    const victim = await createPerson(server.deps);
    let page = await browser.open(path());
    let attempts = 0;
    // On a slow machine a minute can end in between; the hourly limit still applies.
    for (; page.status !== 429 && attempts < 60; attempts += 1)
      page = await browser.submit(page, 'sign-in', { email: victim.email, password: 'wrong' });
    expect([page.status, Number(page.headers.get('retry-after')) > 0, attempts > 10]).toEqual([429, true, true]);
  });

  test('lets a person leave: the client gets access_denied', async () => {
    const browser = openBrowser(server.url);
    const answer = answerOf(await browser.submit(await browser.open(path()), 'deny'));
    expect([answer.get('error'), answer.get('state'), answer.get('code')]).toEqual([
      'access_denied',
      'state of the client',
      null,
    ]);
  });
});

describe('the consent page', () => {
  test('adds an entry to the audit chain of the selected organization', async () => {
    const own = await createPerson(server.deps);
    const { projectID, organizationId } = own.workspace;
    await allow(server, own, path(), { scopes: ['svc:query.read', 'svc:agent.run'] });
    const { data } = await server.deps.governance.audit.list(organizationId, { limit: 10 });
    expect(data).toMatchObject([
      {
        actor: `user_jwt:${own.userId}`,
        action: 'oauth-consent',
        resource: `project:${projectID}`,
        outcome: `allowed: svc:query.read svc:agent.run to ${client.client_id}`,
        lifecycle_id: null,
      },
      { actor: `user_jwt:${own.userId}`, action: 'sign-in', outcome: 'completed' },
    ]);
    expect(await server.deps.governance.audit.verify(organizationId)).toMatchObject({ valid: true, entries: 2 });
  });

  test('describes the requested access in plain words', async () => {
    verifies('oauth.consent.shows');
    const { html } = await signedInPage(
      openBrowser(server.url),
      person,
      path({ scope: 'svc:query.read svc:agent.run' }),
    );
    for (const text of ['Search and read', 'Start coworkers', 'changes things', person.email.toLowerCase()])
      expect(html).toContain(text);
    for (const text of ['Pause, resume', 'Connect code']) expect(html).not.toContain(text);
  });

  test('lets the person select organization, department, project and scopes', async () => {
    verifies('oauth.consent.picks');
    const elsewhere = await createWorkspace(server.deps);
    await grantRole(server.deps.mongo.collections, {
      userId: person.userId,
      organizationId: elsewhere.organizationId,
      projectId: elsewhere.projectID,
      role: 'PROJECT_ADMIN',
    });
    const choice = { projectId: elsewhere.projectID, scopes: ['svc:query.read', 'svc:agent.run'] };
    const { tokens } = await obtainTokens(server, person, { client, choice });
    expect(tokens.scope).toBe('svc:query.read svc:agent.run');
    expect(decodeJwt(tokens.access_token)).toMatchObject({
      project_id: elsewhere.projectID,
      dept_id: elsewhere.departmentId,
      org_id: elsewhere.organizationId,
      role: 'PROJECT_ADMIN',
    });
  });

  test('shows the rights of a project with another role before the person can allow anything there', async () => {
    verifies('oauth.consent.picks');
    const both = await createPerson(server.deps);
    const elsewhere = await createWorkspace(server.deps);
    await grantRole(server.deps.mongo.collections, {
      userId: both.userId,
      organizationId: elsewhere.organizationId,
      projectId: elsewhere.projectID,
      role: 'VIEWER',
    });
    const browser = openBrowser(server.url);
    const page = await browser.submit(await signedInPage(browser, both, path()), 'allow', {
      project: elsewhere.projectID,
    });
    expect([page.status, page.location]).toEqual([422, undefined]);
    expect(page.html).toContain('check what would be allowed there');
    expect(page.html).not.toContain('value="svc:agent.run"');
    expect(answerOf(await browser.submit(page, 'allow')).get('code')).toMatch(/^svc_oac_/);
  });

  test('finds a project by its name among many', async () => {
    const owner = await createPerson(server.deps);
    const { organizationId } = owner.workspace;
    for (let at = 0; at < 21; at += 1) await createWorkspace(server.deps, { organizationId });
    const { projectID } = await createWorkspace(server.deps, { organizationId });
    await server.deps.mongo.collections.projects.updateOne({ _id: projectID }, { $set: { name: 'Needle (.*)' } });
    const browser = openBrowser(server.url);
    const page = await signedInPage(browser, owner, path());
    const found = await browser.submit(page, 'show', { find: 'needle (.*', project: projectID });
    expect(found.html.match(/<option/g)).toHaveLength(1);
    expect(
      decodeJwt((await exchangeAnswer(answerOf(await browser.submit(found, 'allow')))).access_token).project_id,
    ).toBe(projectID);
  });

  test('never gives more than the person may give, whatever the form says', async () => {
    verifies('oauth.authorize.scope-capped');
    const member = await createPerson(server.deps, { role: 'VIEWER' });
    const browser = openBrowser(server.url);
    const page = await signedInPage(browser, member, path());
    expect(page.html).toContain('your role there cannot give');
    const forged = await browser.submit(page, 'allow', {
      scope: ['svc:query.read', 'svc:agent.run', 'svc:codesync.write', 'svc:skill.write', 'x'],
    });
    expect((await exchangeAnswer(answerOf(forged))).scope).toBe('svc:query.read');
  });

  test('never grants scopes that the client did not request', async () => {
    verifies('oauth.authorize.scope-capped');
    const browser = openBrowser(server.url);
    const page = await signedInPage(browser, person, path({ scope: 'svc:query.read' }));
    const forged = await browser.submit(page, 'allow', { scope: ['svc:query.read', 'svc:agent.run'] });
    expect((await exchangeAnswer(answerOf(forged))).scope).toBe('svc:query.read');
  });

  test('offers only reading to a client that requests nothing', async () => {
    const { tokens } = await obtainTokens(server, person, { fields: { scope: null } });
    expect(tokens.scope).toBe('svc:query.read svc:docs.read');
  });

  test('grants nothing on a project on which the person has no role', async () => {
    const foreign = await createWorkspace(server.deps);
    const browser = openBrowser(server.url);
    const page = await signedInPage(browser, person, path());
    const answer = await browser.submit(page, 'allow', {
      project: foreign.projectID,
      shown_project: foreign.projectID,
    });
    expect([answer.status, answer.location]).toEqual([422, undefined]);
    expect(answer.html).not.toContain(foreign.projectID);
  });

  test('asks for a choice if nothing is checked', async () => {
    const browser = openBrowser(server.url);
    const page = await browser.submit(await signedInPage(browser, person, path()), 'allow', { scope: [] });
    expect([page.status, page.location]).toEqual([422, undefined]);
    expect(page.html).toContain('Check at least one thing');
  });

  test('sends access_denied when the person denies, and grants nothing', async () => {
    verifies('oauth.consent.denied');
    const before = await server.deps.mongo.collections.oauth_codes.countDocuments({ 'grant.user_id': person.userId });
    const browser = openBrowser(server.url);
    const answer = answerOf(await press(browser, await signedInPage(browser, person, path()), 'deny', {}));
    expect([answer.get('error'), answer.get('iss'), answer.get('code')]).toEqual([
      'access_denied',
      server.baseUrl,
      null,
    ]);
    expect(await server.deps.mongo.collections.oauth_codes.countDocuments({ 'grant.user_id': person.userId })).toBe(
      before,
    );
  });

  test('asks for sign-in after signing out, and after the session has ended elsewhere', async () => {
    const browser = openBrowser(server.url);
    const out = await browser.submit(await signedInPage(browser, person, path()), 'sign-out');
    expect(out.html).toContain('name="password"');
    const page = await signedInPage(browser, person, path());
    await server.deps.auth.sessions.revokeAll({ userId: person.userId }, 'test');
    expect((await browser.submit(page, 'allow')).html).toContain('name="password"');
    expect((await browser.open(path())).html).toContain('name="password"');
  });
});

async function exchangeAnswer(answer: URLSearchParams) {
  const stored = await server.deps.mongo.collections.oauth_codes.find({}).sort({ valid_until: -1 }).limit(1).next();
  const pkce = newPkce();
  await server.deps.mongo.collections.oauth_codes.updateOne(
    { _id: stored?._id ?? '' },
    { $set: { code_challenge: pkce.challenge } },
  );
  return (await exchange(server.client(), client, { code: answer.get('code') ?? '', code_verifier: pkce.verifier }))
    .body;
}

describe('the pages are hardened', () => {
  test('redirects by 303 after each form', async () => {
    verifies('oauth.consent.hardened');
    const browser = openBrowser(server.url);
    const page = await signedInPage(browser, person, path());
    for (const action of ['allow', 'deny']) {
      const answer = await browser.submit(page, action);
      expect([answer.status, answer.headers.get('referrer-policy'), answer.headers.get('cache-control')]).toEqual([
        303,
        'no-referrer',
        'no-store',
      ]);
    }
  });

  test('by their headers: no script, nothing from elsewhere, no frame, no cache, no referrer', async () => {
    verifies('oauth.consent.hardened');
    const browser = openBrowser(server.url);
    const pages = [
      await browser.open('/oauth/authorize'),
      await browser.open(path()),
      await signedInPage(browser, person, path()),
    ];
    for (const { headers, html } of pages) {
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toMatch(
        /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'( https:\/\/client\.example)?; base-uri 'none'; frame-ancestors 'none'$/,
      );
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(html).not.toMatch(/<script|<img|<link|src=|url\(|@import/i);
    }
  });

  test('the cookie is hidden from scripts and from forms of other sites, and contains no data', async () => {
    verifies('oauth.consent.hardened');
    const { headers } = await openBrowser(server.url).open(path());
    const [cookie = ''] = headers.getSetCookie();
    expect(cookie).toMatch(/^svc_oauth=v1\.[^;]+; Path=\/; HttpOnly; SameSite=Lax$/);
  });

  test.each([
    ['no token', null, true],
    ['an empty token', '', true],
    ['a made-up token', 'A'.repeat(43), true],
    ["another browser's token", 'foreign', true],
    ['no cookie', 'own', false],
  ])('a post with %s is refused', async (_, csrf, withCookie) => {
    verifies('oauth.consent.hardened');
    const browser = openBrowser(server.url);
    const page = await signedInPage(browser, person, path());
    const tokenOf = (html: string) => /name="csrf_token" value="([^"]+)"/.exec(html)?.[1] ?? '';
    const foreign = tokenOf((await openBrowser(server.url).open(path())).html);
    const token = csrf === 'foreign' ? foreign : csrf === 'own' ? tokenOf(page.html) : csrf;
    const body = new URLSearchParams({
      action: 'allow',
      scope: 'svc:query.read',
      project: person.workspace.projectID,
      shown_project: person.workspace.projectID,
    });
    if (token !== null) body.set('csrf_token', token);
    const headers = { ...(withCookie && { cookie: browser.cookie ?? '' }) };
    const answer = await fetch(server.url + path(), { method: 'POST', body, headers, redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([403, null]);
  });

  test('a changed cookie is ignored', async () => {
    const browser = openBrowser(server.url);
    await signedInPage(browser, person, path());
    browser.cookie = `${browser.cookie?.slice(0, -3)}AAA`;
    expect((await browser.open(path())).html).toContain('name="password"');
  });
});

test('a code applies only to the request that was on the page', async () => {
  const pkce = newPkce();
  const answer = await allow(server, person, authorizationPath(client, pkce, { scope: 'svc:docs.read' }));
  const { body } = await exchange(server.client(), client, {
    code: answer.get('code') ?? '',
    code_verifier: pkce.verifier,
  });
  expect(body.scope).toBe('svc:docs.read');
});
