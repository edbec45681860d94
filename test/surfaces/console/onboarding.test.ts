import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { packageRoot } from '../../../src/base/packages.js';
import { publishTemplates } from '../../../stack/templates.js';
import { createPerson, type Person } from '../../auth/auth-server.js';
import { shot } from '../../support/browser.js';
import { apiClient } from '../../support/client.js';
import { createWorkspace, useDeps } from '../../support/fixture.js';
import { pythonTest } from '../../support/python-test.js';
import { testRun } from '../../support/run.js';
import { verifies } from '../../support/verifies.js';
import { chooseTemplate } from './choose-template.js';
import { consoleUrl, signIn, violations, withPage } from './chromium.js';

const deps = useDeps();
const run = promisify(execFile);
const folder = mkdtempSync(path.join(tmpdir(), 'first-steps-'));
mkdirSync(path.join(folder, 'node_modules/@governed-context'), { recursive: true });
symlinkSync(path.join(packageRoot, 'sdk/node'), path.join(folder, 'node_modules/@governed-context/service'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Publishes the templates as `npm start` does. */
async function publish(): Promise<void> {
  const { organizationId: organization_id, projectID: project_id, apiKey: api_key } = await createWorkspace(deps);
  const workspace: any = { organization_id, project_id, api_key };
  await publishTemplates({ apiUrl: testRun().url, workspace, signal: AbortSignal.timeout(60_000) });
}

/** Runs lines of the page as a person pastes them. */
const paste = {
  curl: (lines: string, env: NodeJS.ProcessEnv) => run('sh', ['-c', `${lines} --fail-with-body -s`], { env }),
  Node: (lines: string, env: NodeJS.ProcessEnv) =>
    run('node', ['--input-type=module', '-e', lines], { env, cwd: folder }),
  Python: (lines: string, env: NodeJS.ProcessEnv) =>
    run('python3', ['-c', lines], { env: { ...env, PYTHONPATH: path.join(packageRoot, 'sdk/python/src') } }),
};
type Language = keyof typeof paste;

/** A token of the person, after all keys of the project were revoked. */
async function withoutKeys({ email, password, workspace: { projectID } }: Person): Promise<string> {
  const { url } = testRun();
  const signedIn = await apiClient(url, {}).post('/v1/auth/sign-in', { email, password, project_id: projectID });
  const token = signedIn.body.access_token as string;
  const client = apiClient(url, { authorization: `Bearer ${token}`, 'x-service-workspace': `ws_${projectID}` });
  const { body } = await client.get(`/v1/apikeys?project_id=${projectID}`);
  for (const { id } of body.data)
    expect(await client.delete(`/v1/apikeys/${id}?project_id=${projectID}`)).toMatchObject({ status: 200 });
  return token;
}

/** The key comes first, because the other lines need it. */
const steps = ['Create an API key', 'Add a template', 'Connect a system', 'Add a rule', 'Plan runs'];
const card = (page: Page) => page.getByRole('region', { name: 'First steps' });

async function linesOf(page: Page, step: string, language: Language): Promise<string> {
  await card(page).getByRole('tab', { name: language, exact: true }).click();
  const lines = card(page).getByRole('region', { name: `${step} with ${language}` });
  // What they refer to is read first.
  await lines.filter({ hasNotText: /<[\w ]+>/ }).waitFor();
  return (await lines.textContent()) ?? '';
}

/** Does each step with the lines that the page shows, and sees it ticked off. */
async function followWith(language: Language): Promise<void> {
  await publish();
  const person = await createPerson(deps);
  const env: NodeJS.ProcessEnv = { PATH: process.env.PATH, USER_TOKEN: await withoutKeys(person) };
  await withPage(async (page) => {
    await signIn(page, person);
    for (const [at, step] of steps.entries()) {
      await card(page).getByText(`${at} of 5 done`).waitFor();
      const title = card(page).getByRole('button', { name: step, exact: true });
      if ((await title.getAttribute('aria-expanded')) === 'false') await title.click();
      if (step === 'Add a template') await chooseTemplate(page, 'Route mails');
      if (step === 'Create an API key') {
        const { stdout } = await paste.curl(await linesOf(page, step, 'curl'), env);
        env.SERVICE_API_KEY = JSON.parse(stdout).secret;
      } else await paste[language](await linesOf(page, step, language), env);
      await page.reload();
    }
    await page.getByRole('list', { name: 'State' }).waitFor();
    expect(await card(page).count()).toBe(0);
  });
}

test('Home of an empty project shows five steps, whose curl lines do them', async () => {
  verifies('console.onboarding');
  await followWith('curl');
});

test('the lines for the Node client do the same', async () => {
  verifies('console.onboarding');
  await followWith('Node');
});

pythonTest('the lines for the Python client do the same', async () => {
  verifies('console.onboarding');
  await followWith('Python');
});

test('a template is added in the page, and the steps can be dismissed for good', async () => {
  verifies('console.onboarding', 'console.accessible');
  await publish();
  const person = await createPerson(deps);
  await withPage(async (page) => {
    await signIn(page, person);
    await chooseTemplate(page, 'Two writers and a judge');
    await card(page).getByText('A third one compares the two texts and chooses.').waitFor();
    await shot(page, 'onboarding');
    expect(await violations(page)).toEqual([]);
    await card(page).getByRole('button', { name: 'Add to this project' }).click();
    await page.getByRole('heading', { name: 'Two writers and a judge' }).waitFor();
    await page.goto(consoleUrl(person));
    await card(page)
      .getByRole('button', { name: /Add a template.*done/ })
      .waitFor();
    await card(page).getByRole('button', { name: 'Dismiss the first steps' }).click();
    await page.reload();
    await page.getByRole('list', { name: 'State' }).waitFor();
    expect(await card(page).count()).toBe(0);
    await page.goto(consoleUrl(person, '/agentflows'));
    await page.getByRole('button', { name: 'Add a template…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a template' });
    await chooseTemplate(dialog, 'Route mails');
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Add to this project' }).click();
    await page.getByRole('heading', { name: 'Route mails' }).waitFor();
  });
  // Somebody who may not build is not asked to.
  const viewer = await createPerson(deps, { role: 'VIEWER', workspace: (await createPerson(deps)).workspace });
  await withPage(async (page) => {
    await signIn(page, viewer);
    await page.getByRole('list', { name: 'State' }).waitFor();
    expect(await card(page).count()).toBe(0);
  });
});
