import { expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { newId } from '../../../src/base/ids.js';
import { createPerson, type Person } from '../../auth/auth-server.js';
import { eventually } from '../../support/eventually.js';
import { prepareExecution } from '../../support/executions.js';
import { useDeps } from '../../support/fixture.js';
import { flowThatCalls } from '../../support/flows.js';
import { createTable } from '../../support/tables.js';
import { file, send } from '../../support/uploads.js';
import { verifies } from '../../support/verifies.js';
import { coworker, scheduled } from '../platform/schedules/schedules.js';
import { consoleUrl, failRequests, signIn, violations, withPage } from './chromium.js';

const deps = useDeps();

/** Waits until the field shows the message of the API about its value. */
async function isRefused(field: Locator, text: RegExp | string): Promise<void> {
  const page = field.page();
  await field.and(page.locator('[aria-invalid=true]')).waitFor();
  // The field is marked before its message is linked to it.
  await eventually(async () => {
    const id = (await field.getAttribute('aria-describedby')) ?? '';
    expect(await page.locator(`[id="${id}"]`).filter({ hasText: text }).isVisible()).toBe(true);
  });
}

/** Presses the button after the sign-in has ended, and signs in again. The sign-in window may already be open. */
async function whenSignedOut(page: Page, person: Person, button: string): Promise<void> {
  await page.context().clearCookies();
  await page.getByText(button, { exact: true }).dispatchEvent('click');
  await page.getByRole('heading', { name: 'Sign in again' }).waitFor();
  await page.getByLabel('Password').fill(person.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

test('a repository that is refused is marked at its field, and a reload and the end of the sign-in lose nothing', async () => {
  verifies('console.every-page');
  const person = await createPerson(deps);
  const { api, projectID } = person.workspace;
  const repository = `acme/${newId()}`;
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/syncs'));
    const open = () => page.getByRole('button', { name: 'Follow repository…' }).click();
    const follow = () => page.getByRole('button', { name: 'Follow', exact: true }).click();
    const [name, branch] = [page.getByRole('textbox', { name: 'Repository' }), page.getByLabel(/^Branch/)];
    await open();
    await name.fill('no repository');
    await branch.fill('main');
    await follow();
    await isRefused(name, 'must be owner/name');
    expect(await branch.getAttribute('aria-invalid')).toBeNull();
    await page.reload();
    await open();
    expect([await name.inputValue(), await branch.inputValue()]).toEqual(['no repository', 'main']);
    await name.fill(repository);
    await whenSignedOut(page, person, 'Follow');
    await page.getByText('Copy the webhook secret now').waitFor();
  });
  const { repositories } = (await api.get(`/${projectID}/syncs`)).body;
  expect(repositories).toMatchObject([{ repository, branch: 'main' }]);
});

test('a reason that is refused is marked at its field, and a reload and the end of the sign-in lose nothing', async () => {
  verifies('console.every-page');
  const person = await createPerson(deps);
  const { api } = person.workspace;
  const { execution_id: run } = await prepareExecution(person.workspace, flowThatCalls([]));
  const schedule = await scheduled(person.workspace, {
    ...{ coworker_id: await coworker(person.workspace), goal: 'Every hour', type: 'interval', frequency: 3600 },
  });
  await withPage(async (page) => {
    await signIn(page, person);
    const reason = page.getByLabel('Reason (optional)');
    for (const [path, ask, confirm] of [
      [`/runs/${run}`, 'Cancel…', 'Cancel run'],
      [`/schedules/${schedule._id}`, 'Pause…', 'Pause schedule'],
    ] as const) {
      await page.goto(consoleUrl(person, path));
      await page.getByRole('button', { name: ask }).click();
      // Longer than the browser lets a person type.
      await reason.evaluate((element: any) => element.removeAttribute('maxlength'));
      await reason.fill('x'.repeat(501));
      await page.getByRole('button', { name: confirm }).click();
      await isRefused(reason, /500/);
      await page.reload();
      await page.getByRole('button', { name: ask }).or(reason).first().waitFor();
      if ((await reason.count()) === 0) await page.getByRole('button', { name: ask }).click();
      expect(await reason.inputValue()).toBe('x'.repeat(501));
      await reason.fill('as agreed');
      await whenSignedOut(page, person, confirm);
      await reason.waitFor({ state: 'detached' });
    }
  });
  expect(JSON.stringify((await api.get(`/execute_flow/${run}`)).body.execution_context.failure)).toContain('as agreed');
  expect((await api.get(`/schedule/coworker/${schedule._id}`)).body).toMatchObject({ reason: 'as agreed' });
});

test('a filter that is refused is marked at its field, and the other filters stay', async () => {
  verifies('console.every-page');
  const person = await createPerson(deps);
  const columns = [{ column_name: 'Price', column_type: 'number' }];
  const table = await createTable(person.workspace, columns, 'Leads');
  await table.insert({ price: 1 });
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/lifecycles?status=gone&tool=docs'));
    const state = page.getByRole('combobox', { name: 'State' });
    await isRefused(state, /^State must be/);
    expect(await state.inputValue()).toBe('gone');
    expect(await page.getByLabel('Operation').inputValue()).toBe('docs');
    expect(await violations(page)).toEqual([]);
    // The list is read again while the filter is refused; the message stays visible.
    const held = new Promise<() => void>((hold) => {
      void page.route(
        ({ pathname }) => pathname === '/v1/lifecycles',
        (route) => hold(() => void route.continue()),
        { times: 1 },
      );
    });
    const release = await held;
    await isRefused(state, /^State must be/);
    release();
    await state.selectOption('completed');
    await page.getByText('No calls match these filters.').waitFor();
    expect(await state.getAttribute('aria-invalid')).toBeNull();

    await page.goto(consoleUrl(person, '/runs?state=failed&text=%00'));
    const text = page.getByLabel('Goal, agentflow or id');
    await isRefused(text, /^Goal, agentflow or id must/);
    expect(await state.inputValue()).toBe('failed');
    await text.fill('letter');
    await page.getByText('No runs match these filters.').waitFor();
    expect(await text.getAttribute('aria-invalid')).toBeNull();

    await page.goto(consoleUrl(person, `/tables/${table._id}?column=price&op=lt`));
    const value = page.getByRole('textbox', { name: 'Value' });
    await value.fill('cheap');
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await isRefused(value, 'Value must be a number');
    await page.reload();
    await isRefused(value, 'Value must be a number');
    expect(await value.inputValue()).toBe('cheap');
    await value.fill('2');
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByText('1 row', { exact: true }).waitFor();
    expect(await value.getAttribute('aria-invalid')).toBeNull();
  });
});

test('a download that is refused names its file and shows the text of the API', async () => {
  verifies('console.files', 'console.tables', 'console.governance');
  const person = await createPerson(deps);
  const { api, projectID } = person.workspace;
  const uploaded = (await send(api, `/file/${projectID}`, [file('notes.txt', 'a note')])).body.data[0];
  const table = await createTable(person.workspace, [], 'Leads');
  await table.insert({});
  await withPage(
    async (page) => {
      await signIn(page, person);
      for (const [path, button, pattern, name] of [
        ['/files', 'Download notes.txt', new RegExp(`/file/${projectID}/${uploaded._id}`), 'notes.txt'],
        [`/tables/${table._id}`, 'Export CSV', /records\?limit=200/, 'Leads.csv'],
        ['/audit', 'Export', /audit\/export/, String.raw`audit-[\dT-]+\.jsonl`],
      ] as const) {
        await page.goto(consoleUrl(person, path));
        const reach = await failRequests(page, pattern, 403, 'the store is closed');
        await page.getByRole('button', { name: button, exact: true }).click();
        const problem = page.getByRole('alert');
        const text = new RegExp(`^${name} could not be downloaded: The store is closed$`);
        await problem.filter({ hasText: text }).waitFor();
        await reach();
        const download = page.waitForEvent('download');
        await page.getByRole('button', { name: button, exact: true }).click();
        await download;
        await problem.waitFor({ state: 'detached' });
      }
    },
    { from: new URL(uploaded.url).origin },
  );
});
