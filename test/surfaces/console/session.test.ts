import { gzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { createPerson, type Person } from '../../auth/auth-server.js';
import { prepareExecution } from '../../support/executions.js';
import { createWorkspace, useDeps } from '../../support/fixture.js';
import { flowThatCalls } from '../../support/flows.js';
import { apiClient } from '../../support/client.js';
import { eventually } from '../../support/eventually.js';
import { refusal } from '../../support/refusal.js';
import { testRun } from '../../support/run.js';
import { verifies } from '../../support/verifies.js';
import { consoleUrl, signIn as signInTo, withPage } from './chromium.js';
import { asPage, csrfOf, openConsole, signedInConsole } from './console-browser.js';

const deps = useDeps();
const own = () => testRun().url;

test('the cookie and the token of its session call platform and gateway with the role of the person', async () => {
  verifies('console.signed-requests', 'platform.credentials.person');
  const person = await createPerson(deps);
  const { client } = await asPage(person);
  expect(await client().get('/v1/project')).toMatchObject({ status: 200, body: { total_count: 1 } });
  expect(await client().get('/v1/approvals')).toMatchObject({ status: 200 });
  expect(await client().post('/v1/orchestrate', { operation: 'list' })).toMatchObject({ status: 200 });
  const viewer = await createPerson(deps, { role: 'VIEWER', workspace: person.workspace });
  const asViewer = await asPage(viewer);
  expect(await asViewer.client().get('/inbox')).toMatchObject({ status: 200 });
  expect(await asViewer.client().post('/v1/save-model', { model: 'x' })).toMatchObject({ status: 403 });
});

test('a request without the token, with another one, or of another origin is refused and changes nothing', async () => {
  verifies('console.signed-requests');
  const person = await createPerson(deps);
  const { execution_id: id } = await prepareExecution(person.workspace, flowThatCalls([]));
  const { cookie, csrf, client } = await asPage(person);
  const other = await asPage(await createPerson(deps));
  const forged: Record<string, string>[] = [
    { 'x-csrf-token': '' },
    { 'x-csrf-token': `${csrf}x` },
    { 'x-csrf-token': 'x'.repeat(csrf.length) },
    { 'x-csrf-token': other.csrf },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: `${own()}0` },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { cookie: `${cookie}x` },
  ];
  for (const headers of forged) {
    for (const path of [`/execute_flow/${id}/cancel`, '/v1/save-model'])
      expect([
        headers,
        await client(headers).post(path, path === '/v1/save-model' ? { model: 'x' } : {}),
      ]).toMatchObject([headers, refusal(401, 'invalid_token')]);
    expect(await client(headers).get('/v1/lifecycles')).toMatchObject(refusal(401, 'invalid_token'));
  }
  expect((await person.workspace.api.get(`/execute_flow/${id}`)).body.status).toBe('ready');
  expect(await client().post(`/execute_flow/${id}/cancel`, {})).toMatchObject({ status: 200 });
});

test('another credential takes precedence, and the cookie opens neither MCP nor the project of others', async () => {
  verifies('console.signed-requests');
  const person = await createPerson(deps);
  const { client } = await asPage(person);
  expect(await client({ authorization: 'Bearer no.such.token' }).get('/v1/lifecycles')).toMatchObject({ status: 401 });
  expect(await client().post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' })).toMatchObject({ status: 401 });
  const foreign = await createWorkspace(deps);
  expect(await client({ 'x-service-workspace': `ws_${foreign.projectID}` }).get('/inbox')).toMatchObject({
    status: 403,
  });
});

test('the token is useless once the sign-in has ended', async () => {
  verifies('console.signed-requests');
  const person = await createPerson(deps);
  const console = await signedInConsole(person);
  const { cookie = '' } = console;
  const page = apiClient(own(), { cookie, 'x-csrf-token': await csrfOf(cookie) });
  expect(await page.get('/v1/project')).toMatchObject({ status: 200 });
  await console.send('/console/sign-out');
  expect(await page.get('/v1/project')).toMatchObject(refusal(401, 'invalid_token'));
});

test('the session names the person, the project and what they may do; nobody else reads it', async () => {
  verifies('console.signed-requests', 'console.sign-in');
  const owner = await createPerson(deps);
  const viewer = await createPerson(deps, { role: 'VIEWER', workspace: owner.workspace });
  const read = async (person: Person, projectID = owner.workspace.projectID) => {
    const { cookie = '' } = await signedInConsole(person);
    return (await apiClient(own(), { cookie }).get(`/console/session?projectID=${projectID}`)).body;
  };
  expect(await read(owner)).toMatchObject({
    person: { user_id: owner.userId, email: owner.email.toLowerCase() },
    project: { _id: owner.workspace.projectID, role: 'OWNER' },
    may: expect.arrayContaining(['post /execute_flow/{execution_id}/pause', 'get /inbox']),
    grants: expect.arrayContaining(['svc:governance.read', 'svc:agent.run']),
  });
  const { may } = await read(viewer);
  expect(may).not.toContain('post /execute_flow/{execution_id}/pause');
  expect(await read(viewer, (await createWorkspace(deps)).projectID)).toMatchObject({ project: null, may: [] });
  expect((await apiClient(own()).get('/console/session')).body).toMatchObject({ person: null, may: [] });
});

test('signs in while the app is open, with the token of the session and the throttle of the API', async () => {
  verifies('console.signed-requests', 'console.sign-in');
  const { email, password } = await createPerson(deps);
  const client = openConsole();
  const { html } = await client.open('/console/session');
  const token = (JSON.parse(html) as { csrf_token: string }).csrf_token;
  const signIn = (body: unknown, headers: Record<string, string>) =>
    apiClient(own(), { cookie: client.cookie ?? '', ...headers }).post('/console/session', body);
  expect(await signIn({ email, password }, {})).toMatchObject(refusal(403, 'access_denied'));
  expect(await signIn({ email, password: 'wrong' }, { 'x-csrf-token': token })).toMatchObject(
    refusal(401, 'invalid_token', 'email or password is wrong'),
  );
  expect(await signIn({ email }, { 'x-csrf-token': token })).toMatchObject(refusal(400, 'invalid_request'));
  expect(await signIn({ email, password }, { 'x-csrf-token': token })).toMatchObject({
    status: 200,
    body: { person: { email: email.toLowerCase() } },
  });
});

test('a sign-in, a refused one and a sign-out are audited, like those over the API', async () => {
  verifies('audit.what-auditors-ask');
  const person = await createPerson(deps);
  const console = openConsole();
  const { html } = await console.open('/console/session');
  const headers = {
    cookie: console.cookie ?? '',
    'x-csrf-token': (JSON.parse(html) as { csrf_token: string }).csrf_token,
  };
  await apiClient(own(), headers).post('/console/session', { email: person.email, password: 'wrong' });
  await (await signedInConsole(person)).send('/console/sign-out');
  // A refusal is recorded after its response.
  await eventually(async () => {
    const { data } = await deps.governance.audit.list(person.workspace.organizationId, { limit: 50 });
    expect(data.map(({ actor, action, outcome }) => ({ actor, action, outcome }))).toEqual(
      expect.arrayContaining(
        [
          { action: 'sign-in', outcome: 'denied: invalid_token' },
          { action: 'sign-in', outcome: 'completed' },
          { action: 'sign-out', outcome: 'completed' },
        ].map((entry) => ({ actor: `user_jwt:${person.userId}`, ...entry })),
      ),
    );
  });
});

test('the app is served with a strict policy, its files with hashed names, and within the budget', async () => {
  verifies('console.app');
  const client = await signedInConsole(await createPerson(deps));
  const { headers, html, status } = await client.open(`${client.base}/runs`);
  expect(status).toBe(200);
  expect(headers.get('content-security-policy')).toContain(`script-src 'self'; style-src 'self'`);
  expect(headers.get('content-security-policy')).not.toContain('unsafe');
  expect(headers.get('cache-control')).toBe('no-cache');
  expect(html).not.toMatch(/<style|<script(?![^>]* src=)/);
  // The paths are relative to the address, whatever precedes them.
  const files = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file = '']) => file);
  expect(files.every((file) => file.startsWith('../../../assets/') || file.startsWith('../../assets/'))).toBe(true);
  const page = new URL(`${client.base}/runs`, own());
  const loaded = new Set(files.map((file) => new URL(file, page).href));
  let bytes = gzipSync(html).length;
  for (const file of loaded) {
    const response = await fetch(file);
    expect([file, response.status, response.headers.get('cache-control')]).toEqual([
      file,
      200,
      'public, max-age=31536000, immutable',
    ]);
    const body = Buffer.from(await response.arrayBuffer());
    bytes += gzipSync(body).length;
    // The files that the first page loads: Home or the list of runs (here both), and what these files import statically.
    for (const [, chunk = ''] of body
      .toString()
      .matchAll(/(?:(?:from|^import|;import)\s*|(?=["'`]\.\/(?:runs|home)-))["'`](\.\/[\w-]+\.js)["'`]/g))
      loaded.add(new URL(chunk, file).href);
  }
  console.log(`the first page takes ${Math.round(bytes / 1024)} KiB`);
  expect(bytes).toBeLessThan(250 * 1024);
});

test.each(['/', '/runs', '/inbox', '/audit'])('the page %s needs at most eight files of the app', async (path) => {
  verifies('console.requests');
  const person = await createPerson(deps);
  await withPage(async (page) => {
    await signInTo(page, person);
    // Not what the sign-in has loaded.
    const fresh = await page.context().newPage();
    const files: string[] = [];
    const plain: string[] = [];
    fresh.on('response', (response) => {
      const { pathname } = new URL(response.url());
      if (/^\/console(?!\/session)/.test(pathname)) files.push(pathname);
      if (/\.(js|css)$/.test(pathname) && response.headers()['content-encoding'] === undefined) plain.push(pathname);
    });
    await fresh.goto(consoleUrl(person, path), { waitUntil: 'networkidle' });
    await fresh.getByRole('heading', { level: 1 }).waitFor();
    expect(files.length).toBeLessThanOrEqual(8);
    expect(files.length).toBeGreaterThan(3);
    expect(plain.filter((file) => !/runtime|inbox-/.test(file))).toEqual([]);
  });
});
