import { spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { hostname } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { sha256Hex } from '../../src/base/hash.js';
import { packageRoot } from '../../src/base/packages.js';
import { createPerson, type Person } from '../auth/auth-server.js';
import { lowestContrast, shot } from '../support/browser.js';
import { eventually } from '../support/eventually.js';
import { personOf, useDeps } from '../support/fixture.js';
import { useGcs, type Ended, type GcsFolder } from '../support/gcs.js';
import { listen } from '../support/ports.js';
import { testRun } from '../support/run.js';
import { verifies } from '../support/verifies.js';
import { violations, withPage } from '../surfaces/console/chromium.js';

const deps = useDeps();
const { create: folderOf } = useGcs();
const credentials = 'config/gcs/credentials.json';

/** Starts `gcs login` without a terminal, and returns the code that it prints and its end. */
async function startLogin(
  folder: GcsFolder,
  { url = testRun().url, args = [] }: { url?: string; args?: string[] } = {},
): Promise<{ code: string; ended: Promise<Ended> }> {
  const program = path.join(packageRoot, 'sdk/cli/dist/gcs.mjs');
  const child = spawn(process.execPath, [program, 'login', '--url', url, ...args], {
    cwd: folder.root,
    env: { PATH: process.env.PATH, XDG_CONFIG_HOME: folder.file('config') },
  });
  const printed = { stdout: '', stderr: '' };
  child.stdout.on('data', (part) => (printed.stdout += String(part)));
  child.stderr.on('data', (part) => (printed.stderr += String(part)));
  const ended = new Promise<Ended>((resolve) => child.on('close', (code) => resolve({ code: code ?? -1, ...printed })));
  const code = await eventually(async () => {
    const [, shown] = /\/oauth\/device in a browser, and enter the code ([A-Z]{4}-[A-Z]{4})/.exec(printed.stderr) ?? [];
    if (shown === undefined) throw new Error(`no code in ${printed.stderr}`);
    return shown;
  });
  return { code, ended };
}

async function signInAt(page: Page, person: Person, code = ''): Promise<void> {
  await page.goto(`${testRun().url}/oauth/device${code === '' ? '' : `?user_code=${code}`}`);
  await page.getByLabel('Email address').fill(person.email);
  await page.getByLabel('Password').fill(person.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

test('gcs login gets a key that a person allows in a browser, and gcs logout revokes it', async () => {
  verifies('cli.login.browser');
  const person = await createPerson(deps);
  const folder = folderOf(person.workspace);
  const { code, ended } = await startLogin(folder);
  await withPage(async (page) => {
    await signInAt(page, person);
    await page.getByLabel('Code that your terminal shows').fill(code.toLowerCase());
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('heading', { name: `Connect gcs on ${hostname()}?` }).waitFor();
    expect(await page.getByText(code).count()).toBe(1);
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByRole('heading', { name: `gcs on ${hostname()} is connected` }).waitFor();
  });
  expect(await ended).toMatchObject({ code: 0, stdout: `The settings are stored in ${folder.file(credentials)}.\n` });
  expect(statSync(folder.file(credentials)).mode & 0o777).toBe(0o600);
  const { apiKey, project } = JSON.parse(folder.read(credentials));
  expect(project).toBe(person.workspace.projectID);
  const api = await personOf(deps, person.workspace, { userId: person.userId });
  expect((await api.get(`/v1/apikeys?project_id=${project}`)).body.data).toContainEqual(
    expect.objectContaining({ name: `gcs on ${hostname()}`, created_by: person.userId, revoked_at: null }),
  );

  // The key can do what the commands need.
  expect(await folder.gcs(['init'], {})).toMatchObject({ code: 0 });
  expect(await folder.gcs(['pull'], {})).toMatchObject({ code: 0 });
  folder.write('agentflows/hello.yaml', 'name: Hello\nagents:\n  - { _id: a, title: A, prompt: { template: "Hi" } }\n');
  expect(await folder.gcs(['push', '--release'], {})).toMatchObject({ code: 0 });
  expect(await folder.gcs(['promote', 'hello'], {})).toMatchObject({ code: 0 });
  expect(await folder.gcs(['run', 'hello', '--goal', 'Ada'], {})).toMatchObject({ code: 0 });

  expect(await folder.gcs(['logout'], {})).toMatchObject({ code: 0, stdout: expect.stringContaining('is revoked') });
  expect(existsSync(folder.file(credentials))).toBe(false);
  const key = await deps.mongo.collections.api_keys.findOne({ _id: sha256Hex(apiKey) });
  expect(key?.revoked_at).toEqual(expect.any(Number));
  expect(await folder.gcs(['plan'], {})).toMatchObject({ code: 3, stderr: expect.stringContaining('gcs login') });
});

test('gcs login ends with 1 after a denial, and says why a key is not there yet', async () => {
  verifies('cli.login.browser');
  const person = await createPerson(deps);
  const folder = folderOf(person.workspace);
  const { organizationId, departmentId, projectID: projectId } = person.workspace;
  await deps.governance.policies.replace(
    { kind: 'user_jwt', userId: person.userId, organizationId, departmentId, projectId, role: 'OWNER', grants: [] },
    [{ policy_id: 'no-keys', description: '', effect: 'forbid', tools: ['api-key.create'] }],
  );
  const { code, ended } = await startLogin(folder, { args: ['--project', projectId] });
  await withPage(async (page) => {
    await signInAt(page, person, code);
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByRole('alert').filter({ hasText: 'The API key was not created' }).waitFor();
    const ofCode = { user_code: code.replace('-', '') };
    await eventually(async () => {
      const found = await deps.mongo.collections.oauth_device_requests.findOne(ofCode);
      expect(found!.polled_at - found!.created_at).toBeGreaterThan(8);
    });
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByRole('heading', { name: 'Denied' }).waitFor();
  });
  const { stderr, ...rest } = await ended;
  expect(rest).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^The API key was not created: .*$/m);
  expect(stderr).toMatch(/gcs: the person denied the request\n$/);
  expect(existsSync(folder.file(credentials))).toBe(false);
});

test('gcs login goes on after polls that get no answer', async () => {
  verifies('cli.login.network');
  const person = await createPerson(deps);
  const folder = folderOf(person.workspace);
  let lost = 0;
  const forward = (req: IncomingMessage, res: ServerResponse) => {
    const onward = request(`${testRun().url}${req.url}`, { method: req.method, headers: req.headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(res);
    });
    req.pipe(onward);
  };
  const network = createServer((req, res) => {
    if (req.url !== '/oauth/token' || lost === 2) return forward(req, res);
    lost += 1;
    req.socket.destroy();
  });
  const { url, close } = await listen(network);
  try {
    const { code, ended } = await startLogin(folder, { url });
    await withPage(async (page) => {
      await signInAt(page, person, code);
      await page.getByRole('button', { name: 'Allow' }).click();
      await page.getByRole('heading', { name: 'is connected' }).waitFor();
    });
    expect(await ended).toMatchObject({ code: 0 });
    expect(lost).toBe(2);
    expect(JSON.parse(folder.read(credentials))).toMatchObject({ url, project: person.workspace.projectID });
  } finally {
    await close();
  }
});

test('gcs login and logout say what is missing', async () => {
  verifies('cli.errors');
  const folder = folderOf({ projectID: 'p', apiKey: 'k' });
  expect(await folder.gcs(['login'], {})).toMatchObject({ code: 3, stderr: expect.stringContaining('--url') });
  expect(await folder.gcs(['login', '--url', 'host'], {})).toMatchObject({ code: 3 });
  expect(await folder.gcs(['login', '--url', 'http://127.0.0.1:9'], {})).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('cannot be reached'),
  });
  expect(await folder.gcs(['logout'], {})).toMatchObject({ code: 0, stdout: 'Nothing is stored.\n' });
});

describe.each([
  { width: 1440, dark: false },
  { width: 1440, dark: true },
  { width: 375, dark: false },
  { width: 375, dark: true },
])('the pages at %j', ({ width, dark }) => {
  test('are readable, fit and have no accessibility problems', async () => {
    verifies('oauth.device.readable');
    const person = await createPerson(deps);
    const editor = await createPerson(deps, { role: 'EDITOR', workspace: person.workspace });
    const start = async () => {
      const body = new URLSearchParams({ client_id: 'gcs', device_name: 'ada-laptop' });
      const answer = await fetch(`${testRun().url}/oauth/device_authorization`, { method: 'POST', body });
      return ((await answer.json()) as { user_code: string }).user_code;
    };
    const check = async (page: Page, name: string) => {
      await shot(page, `device-${width}-${dark ? 'dark' : 'light'}-${name}`);
      expect(await page.evaluate(() => (globalThis as any).document.documentElement.scrollWidth as number)).toBe(width);
      expect(await page.evaluate(lowestContrast)).toBeGreaterThanOrEqual(4.5);
      expect(await violations(page)).toEqual([]);
    };
    const code = await start();
    const options = { width, height: 900, dark, bypassCSP: true };
    await withPage(async (page) => {
      await page.goto(`${testRun().url}/oauth/device?user_code=${code}`);
      await check(page, '1-sign-in');
      await signInAt(page, person);
      await page.getByLabel('Code that your terminal shows').fill('BBBB-BBBB');
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByRole('alert').waitFor();
      await check(page, '2-wrong-code');
      await page.goto(`${testRun().url}/oauth/device?user_code=${code}`);
      await page.getByRole('heading', { name: 'Connect gcs on ada-laptop?' }).waitFor();
      await check(page, '3-confirm');
      await page.getByRole('button', { name: 'Allow' }).click();
      await page.getByRole('heading', { name: 'is connected' }).waitFor();
      await check(page, '4-connected');
    }, options);
    await withPage(async (page) => {
      await signInAt(page, editor, await start());
      await page.getByText('You may not create API keys').waitFor();
      await check(page, '5-no-project');
      await page.getByRole('button', { name: 'Deny' }).click();
      await page.getByRole('heading', { name: 'Denied' }).waitFor();
      await check(page, '6-denied');
    }, options);
  });
});
