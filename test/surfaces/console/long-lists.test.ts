import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { newId } from '../../../src/base/ids.js';
import { createPerson } from '../../auth/auth-server.js';
import { shot } from '../../support/browser.js';
import { prepareExecution } from '../../support/executions.js';
import { useDeps } from '../../support/fixture.js';
import { flowThatCalls } from '../../support/flows.js';
import { bearerClient } from '../../support/gateway.js';
import { seedExecution } from '../../support/seeded-executions.js';
import { createTable } from '../../support/tables.js';
import { verifies } from '../../support/verifies.js';
import { consoleUrl, failRequests, signIn, violations, withPage } from './chromium.js';

const deps = useDeps();

/** Refuses all older pages of a list. @returns how many requests were refused so far */
async function refuseOlderPages(page: Page): Promise<() => number> {
  let count = 0;
  await page.route(/[?&]cursor=/, (route) => {
    count += 1;
    const json = { error: 'rate_limited', error_description: 'too many calls' };
    return route.fulfill({ status: 429, json });
  });
  return () => count;
}

test('an older page that is refused is requested again only when the person asks for it', async () => {
  verifies('console.every-page');
  const person = await createPerson(deps);
  const { projectID, organizationId } = person.workspace;
  const table = await createTable(person.workspace, [{ column_name: 'Price', column_type: 'number' }], 'Leads');
  await table.insert(Array.from({ length: 150 }, (_, price) => ({ price })));
  const first = await seedExecution(deps, { projectID, organizationId, userId: person.userId }, { goal: 'the oldest' });
  const copies = Array.from({ length: 150 }, (_, at) => {
    const id = newId();
    return { ...first, _id: id, execution_id: id, goal: `run ${at}`, created_at: first.created_at + 1 + at };
  });
  await deps.mongo.collections.executions.insertMany(copies);
  await withPage(async (page) => {
    await signIn(page, person);
    for (const [path, count] of [
      [`/tables/${table._id}`, '150 rows'],
      ['/runs', '151 runs'],
    ] as const) {
      const refused = await refuseOlderPages(page);
      await page.goto(consoleUrl(person, path));
      await page.getByText(count, { exact: true }).waitFor();
      await page.getByRole('table').evaluate((element: any) => (element.scrollTop = element.scrollHeight));
      const more = page.getByRole('button', { name: 'Load more' });
      await more.waitFor();
      await page.getByRole('alert').getByText('Too many calls').waitFor();
      expect(refused()).toBe(1);
      if (path !== '/runs') {
        // The newest rows are read again soon, which does not hide why older ones are missing.
        await page.waitForResponse((answer) => answer.ok() && answer.url().includes('/records?'));
        await page.getByRole('alert').getByText('Too many calls').waitFor();
      }
      await page.unroute(/[?&]cursor=/);
      await more.click();
      await more.waitFor({ state: 'detached' });
      await page.getByRole('table').evaluate((element: any) => (element.scrollTop = element.scrollHeight));
      await page
        .getByRole('table')
        .getByText(path === '/runs' ? 'the oldest' : '1', { exact: true })
        .first()
        .waitFor();
    }
  });
});

test('all runs that match a filter are acted upon, also those that the list has not loaded, and a view keeps the filter', async () => {
  verifies('console.runs.bulk', 'console.runs.views', 'console.accessible');
  const person = await createPerson(deps);
  const { projectID, organizationId } = person.workspace;
  const first = await seedExecution(deps, { projectID, organizationId, userId: person.userId }, { goal: 'invoice 0' });
  const copies = Array.from({ length: 260 }, (_, at) => {
    const id = newId();
    const goal = at < 230 ? `invoice ${at + 1}` : `letter ${at}`;
    return { ...first, _id: id, execution_id: id, goal, created_at: first.created_at + 1 + at };
  });
  await deps.mongo.collections.executions.insertMany(copies);
  await withPage(async (page, complaints) => {
    await signIn(page, person, consoleUrl(person, '/runs?text=invoice'));
    await page.getByText('231 runs', { exact: true }).waitFor();
    await page.locator('summary', { hasText: 'Columns' }).click();
    await page.getByRole('checkbox', { name: 'Duration' }).uncheck();
    await page.locator('summary', { hasText: 'Columns' }).click();
    await page.locator('summary', { hasText: 'Views' }).click();
    await page.getByRole('textbox', { name: 'Name of this view' }).fill('Invoices');
    await page.getByRole('button', { name: 'Save view' }).click();
    await page.getByText('Invoices is saved.').waitFor();
    await shot(page, 'runs-views');
    expect(await violations(page)).toEqual([]);
    await page.goto(consoleUrl(person, '/runs'));
    await page.getByText('261 runs', { exact: true }).waitFor();
    await page.locator('summary', { hasText: 'Columns' }).click();
    await page.getByRole('checkbox', { name: 'Duration' }).check();
    await page.locator('summary', { hasText: 'Views' }).click();
    await page.getByRole('button', { name: 'Invoices', exact: true }).click();
    await page.getByText('231 runs', { exact: true }).waitFor();
    expect(page.url()).toContain('text=invoice');
    expect(await page.getByRole('columnheader', { name: 'Duration' }).count()).toBe(0);
    const refused = await failRequests(page, /[?&]cursor=/, 503, 'the store is away');
    await page.getByRole('button', { name: 'Select all 231 matching runs' }).click();
    await page.getByRole('alert').getByText('The store is away').first().waitFor();
    await refused();
    complaints.splice(0);
    await page.getByRole('button', { name: 'Select all 231 matching runs' }).click();
    await page.getByRole('button', { name: 'Pause 231…' }).click();
    await page.getByRole('button', { name: 'Pause 231 runs' }).click();
    await page.getByText('231 of 231 processed').waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.locator('summary', { hasText: 'Views' }).click();
    await page.getByRole('button', { name: 'Remove the view Invoices' }).click();
    await page.getByText('Invoices is removed.').waitFor();
  });
});

test('runs that leave a filtered list stay in the dialog that cancelled them', async () => {
  verifies('console.runs.bulk');
  const person = await createPerson(deps);
  for (const goal of ['one', 'two']) await prepareExecution(person.workspace, flowThatCalls([]), { goal });
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/runs?state=ready'));
    await page.getByText('2 runs', { exact: true }).waitFor();
    await page.getByLabel('Select all loaded runs').check();
    await page.getByRole('button', { name: 'Cancel 2…' }).click();
    await page.getByRole('button', { name: 'Cancel 2 runs' }).click();
    await page.getByText('No runs match these filters.').waitFor();
    await page.getByText('2 of 2 processed, 2 succeeded.').waitFor();
    expect(await page.getByRole('dialog').getByRole('listitem').count()).toBe(2);
  });
});

test('the form of a schedule offers every agentflow of a project with more than one page of them', async () => {
  verifies('console.every-page');
  const person = await createPerson(deps);
  const { api } = person.workspace;
  const { _id } = (await api.post('/agentflow', { ...flowThatCalls([]), name: 'The oldest' })).body;
  const stored = await deps.mongo.collections.agentflows.findOne({ _id });
  if (!stored) throw new Error('the agentflow is not stored');
  const copies = Array.from({ length: 200 }, (_, at) => ({ ...stored, _id: newId(), name: `Copy ${at}` }));
  await deps.mongo.collections.agentflows.insertMany(copies);
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/schedules/new'));
    await page.getByRole('combobox', { name: 'Agentflow' }).selectOption('The oldest');
    await page.goto(consoleUrl(person, '/runs'));
    await page.getByRole('combobox', { name: 'Agentflow' }).selectOption('The oldest');
    await page.waitForURL(new RegExp(`agentflow=${_id}`));
  });
});

test('after a decision, the next item of the inbox is selected', async () => {
  verifies('console.inbox');
  const person = await createPerson(deps);
  const gateway = bearerClient(person.workspace.apiKey);
  const ask = { policy_id: 'ask', effect: 'require_approval', tools: ['save-model'] };
  await gateway.put('/v1/policies', { policies: [{ policy_id: 'all', effect: 'permit' }, ask] });
  for (const model of ['first', 'second', 'third']) await gateway.post('/v1/save-model', { model: `${model}-model` });
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/inbox'));
    const items = page.getByRole('list', { name: 'Waiting for a decision' }).getByRole('button');
    const card = page.getByRole('article');
    await items.nth(1).click();
    await card.getByText('second-model').first().waitFor();
    await page.keyboard.press('r');
    await page.getByRole('button', { name: 'Reject', exact: true }).click();
    await page.getByText('2 items, oldest first').waitFor();
    await card.getByText('third-model').first().waitFor();
  });
});

test('a page whose code cannot be loaded says so, and the navigation stays', async () => {
  verifies('console.every-page');
  const person = await createPerson(deps);
  await withPage(async (page, complaints) => {
    await signIn(page, person);
    await page.route(/assets\/usage-/, (route) => route.abort());
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByRole('heading', { name: 'This page could not be shown' }).waitFor();
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByText('The project is in').waitFor();
    complaints.splice(0);
  });
});

test('a long name of a project is wrapped, at every width', async () => {
  verifies('console.accessible');
  const person = await createPerson(deps);
  const { api, projectID } = person.workspace;
  expect((await api.patch(`/v1/project/${projectID}`, { name: 'Longname'.repeat(20) })).status).toBe(200);
  for (const width of [360, 1280])
    await withPage(
      async (page) => {
        await signIn(page, person);
        await page.getByRole('heading', { level: 1, name: /^Longname/ }).waitFor();
        const excess = () => (globalThis as any).document.documentElement.scrollWidth - (globalThis as any).innerWidth;
        expect(await page.evaluate(excess)).toBe(0);
      },
      { width },
    );
});
