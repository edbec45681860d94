import { expect, test } from '@jest/globals';
import { grantRole } from '../../../src/auth/users.js';
import { newId } from '../../../src/base/ids.js';
import { createPerson } from '../../auth/auth-server.js';
import { prepareExecution } from '../../support/executions.js';
import { flowThatCalls } from '../../support/flows.js';
import { apiClient } from '../../support/client.js';
import { createWorkspace, useDeps } from '../../support/fixture.js';
import { testRun } from '../../support/run.js';
import { verifies } from '../../support/verifies.js';
import { csrfOf, openConsole, signedInConsole } from './console-browser.js';

const deps = useDeps();
const pages = [
  '',
  '/runs',
  '/runs/x',
  '/inbox',
  '/usage',
  '/approvals',
  '/approvals/x',
  '/lifecycles',
  '/lifecycles/x',
  '/audit',
  '/schedules',
  '/schedules/x',
  '/anything',
];

test('every page redirects to the sign-in page without a session, and shows nothing of the project', async () => {
  verifies('console.sign-in');
  const { projectID } = await createWorkspace(deps);
  for (const page of [
    '/console',
    '/console/nothing',
    ...pages.map((rest) => `/console/projects/${projectID}${rest}`),
  ]) {
    const answer = await openConsole().open(page);
    expect([answer.status, answer.location, answer.html]).toEqual([
      303,
      `/console/sign-in?next=${encodeURIComponent(page)}`,
      '',
    ]);
  }
  expect(await openConsole().send(`/console/projects/${projectID}/approvals/${newId()}`)).toMatchObject({
    status: 403,
  });
});

test('sign-in sets a strict cookie and continues only to the requested page of the console', async () => {
  verifies('console.sign-in');
  const { email, password, workspace } = await createPerson(deps);
  const page = `/console/projects/${workspace.projectID}/lifecycles?tool=docs`;
  const client = openConsole();
  const { html, headers } = await client.open(`/console/sign-in?next=${encodeURIComponent(page)}`);
  expect(headers.getSetCookie().join()).toMatch(/^svc_console=v1\.[^;]+; Path=\/; HttpOnly; SameSite=Strict$/);
  expect(headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
  );
  expect(html).not.toContain('<script');
  expect(await client.send('/console/sign-in', { email, password: 'wrong', next: page })).toMatchObject({
    status: 401,
    html: expect.stringContaining('Email or password is wrong'),
  });
  expect(await client.send('/console/sign-in', { email, password, next: page })).toMatchObject({
    status: 303,
    location: page,
  });
  expect((await client.open(page)).status).toBe(200);
  for (const next of [
    'https://elsewhere.test/',
    '//elsewhere.test',
    '/console/..\\elsewhere',
    '/v1/lifecycles',
    '/consoles',
  ]) {
    const other = openConsole();
    await other.open('/console/sign-in');
    expect(await other.send('/console/sign-in', { email, password, next })).toMatchObject({
      status: 303,
      location: '/console',
    });
  }
});

test('guesses are throttled like on the API', async () => {
  const { email } = await createPerson(deps);
  const client = openConsole();
  await client.open('/console/sign-in');
  const statuses: number[] = [];
  // On a slow machine a minute can end in between; the hourly limit still applies.
  while (statuses.at(-1) !== 429 && statuses.length < 60)
    statuses.push((await client.send('/console/sign-in', { email, password: 'guess' })).status);
  const admitted = statuses.slice(0, -1);
  expect(admitted.length).toBeGreaterThanOrEqual(10);
  expect(statuses).toEqual([...admitted.map(() => 401), 429]);
});

test('signing out ends the session: a saved cookie is no longer valid', async () => {
  verifies('console.sign-in');
  const client = await signedInConsole(await createPerson(deps));
  const kept = client.cookie;
  expect(await client.send('/console/sign-out')).toMatchObject({ status: 303, location: '/console/sign-in' });
  expect((await client.open(client.base)).location).toMatch(/^\/console\/sign-in/);
  client.cookie = kept;
  expect((await client.open(client.base)).location).toMatch(/^\/console\/sign-in/);
});

test('a form without the secret of its page is refused', async () => {
  verifies('console.sign-in');
  const person = await createPerson(deps);
  const { execution_id } = await prepareExecution(person.workspace, flowThatCalls([]));
  const client = await signedInConsole(person);
  for (const csrf of [null, '', 'x'.repeat(43)]) {
    expect((await client.send(`${client.base}/approvals/${execution_id}`, {}, csrf)).status).toBe(403);
    expect((await client.send('/console/sign-out', {}, csrf)).status).toBe(403);
    expect(
      (await client.send('/console/sign-in', { email: person.email, password: person.password }, csrf)).status,
    ).toBe(403);
  }
  expect((await person.workspace.api.get(`/execute_flow/${execution_id}`)).body.status).toBe('ready');
});

test('a MEMBER sees only the functions that the API allows a member, and a forged form is refused', async () => {
  verifies('console.sign-in');
  const owner = await createPerson(deps);
  const { execution_id } = await prepareExecution(owner.workspace, flowThatCalls([]));
  const member = await createPerson(deps, { role: 'MEMBER', workspace: owner.workspace });
  const client = await signedInConsole(member);
  const page = apiClient(testRun().url, {
    cookie: client.cookie ?? '',
    'x-csrf-token': await csrfOf(client.cookie ?? ''),
  });
  const { may } = (await page.get(`/console/session?projectID=${member.workspace.projectID}`)).body;
  expect(may).toContain('get /v1/lifecycles');
  for (const operation of ['post /agentflow', 'get /schedule/coworker', 'get /v1/audit'])
    expect(may).not.toContain(operation);
  // The runs of other people do not exist for a MEMBER.
  expect(await page.get(`/execute_flow/${execution_id}`)).toMatchObject({ status: 404 });
  expect(await page.get('/v1/audit')).toMatchObject({ status: 403 });
  for (const move of ['execute', 'pause', 'resume', 'cancel'])
    expect((await page.post(`/execute_flow/${execution_id}/${move}`, {})).status).toBe(404);
  expect((await owner.workspace.api.get(`/execute_flow/${execution_id}`)).body.status).toBe('ready');
});

test('a revoked role and the project of others are unavailable from the next page on', async () => {
  verifies('console.sign-in');
  const person = await createPerson(deps, { role: 'PROJECT_ADMIN' });
  const foreign = await createWorkspace(deps);
  const client = await signedInConsole(person);
  expect((await client.open(`${client.base}/schedules`)).status).toBe(200);
  expect((await client.open(`/console/projects/${foreign.projectID}`)).status).toBe(404);
  await deps.mongo.collections.memberships.deleteMany({ user_id: person.userId });
  expect((await client.open(`${client.base}/schedules`)).status).toBe(404);
});

test('a person with several projects selects one, and has the role of that project', async () => {
  verifies('console.sign-in');
  const person = await createPerson(deps);
  const client = await signedInConsole(person);
  expect(await client.open('/console')).toMatchObject({ status: 303, location: client.base });
  const other = await createWorkspace(deps);
  await grantRole(deps.mongo.collections, {
    userId: person.userId,
    organizationId: other.organizationId,
    projectId: other.projectID,
    role: 'VIEWER',
  });
  const picker = await client.open('/console');
  expect(picker.html.match(/href="\/console\/projects\/[^"]+"/g)).toHaveLength(2);
  const session = await client.open(`/console/session?projectID=${other.projectID}`);
  const { project, may } = JSON.parse(session.html) as { project: object; may: string[] };
  expect(project).toMatchObject({ role: 'VIEWER' });
  expect(may).toContain('get /{projectID}/execution_flows');
  expect(may).not.toContain('post /execute_flow');
});
