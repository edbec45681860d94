import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { createPerson } from '../../auth/auth-server.js';
import { useDeps } from '../../support/fixture.js';
import { flowThatCalls } from '../../support/flows.js';
import { seedExecution } from '../../support/seeded-executions.js';
import { useHttpSink } from '../../support/use-http-sink.js';
import { verifies } from '../../support/verifies.js';
import { consoleUrl, signIn, violations, withPage } from './chromium.js';

const deps = useDeps();
const sink = await useHttpSink();

test('the palette opens pages, lists and runs by keyboard', async () => {
  verifies('console.palette');
  const person = await createPerson(deps);
  const { _id } = await seedExecution(
    deps,
    { ...person.workspace, userId: person.userId },
    { goal: 'found by its goal' },
  );
  await withPage(async (page) => {
    await signIn(page, person);
    await page.getByRole('heading', { name: 'Last 24 hours', exact: true }).waitFor();
    const open = async (text: string, name: string) => {
      await page.keyboard.press('Control+k');
      const field = page.getByRole('searchbox', { name: 'Action, page, list or run' });
      await field.fill(text);
      await page.getByRole('menuitem', { name }).waitFor();
      await field.press('ArrowDown');
      expect(await violations(page)).toEqual([]);
      await field.press('Enter');
    };
    await open('inb', 'Inbox');
    await page.waitForURL(consoleUrl(person, '/inbox'));
    const icon = page.locator('link[rel=icon]');
    expect(await icon.evaluate(async (link: any) => (await fetch(link.href)).status)).toBe(200);
    await open('failed runs', 'Failed runs');
    await page.waitForURL(/\/runs\?state=failed&since=24h$/);
    await open('by its goal', 'found by its goal');
    await page.waitForURL(consoleUrl(person, `/runs/${_id}`));
    await page.keyboard.press('Control+k');
    await page.getByRole('searchbox', { name: 'Action, page, list or run' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('searchbox', { name: 'Action, page, list or run' }).waitFor({ state: 'detached' });
  });
});

test('the palette opens the dialogs of what this person may do', async () => {
  verifies('console.palette', 'console.tables');
  const person = await createPerson(deps);
  const { api, projectID } = person.workspace;
  const { _id } = await seedExecution(
    deps,
    { ...person.workspace, userId: person.userId },
    { goal: 'is paused', status: 'paused' },
  );
  const { _id: agentflow } = (await api.post('/agentflow', { ...flowThatCalls([sink.url]), name: 'Weekly brief' }))
    .body;
  const open = async (page: Page, text: string, name: string) => {
    await page.keyboard.press('Control+k');
    const field = page.getByRole('searchbox', { name: 'Action, page, list or run' });
    await field.fill(text);
    await page.getByRole('menuitem', { name }).click();
  };
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/runs/${_id}`));
    await page.getByRole('button', { name: 'Resume…' }).waitFor();
    await open(page, 'cancel', 'Cancel this run…');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('A cancelled run cannot be resumed.').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.waitForURL(consoleUrl(person, `/runs/${_id}`));
    await open(page, 'run weekly', 'Start a run of Weekly brief…');
    await page.waitForURL(consoleUrl(person, `/agentflows/${agentflow}?ask=test`));
    await dialog.getByLabel('Goal').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await open(page, 'member', 'Add member…');
    await dialog.getByLabel('Email address').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await open(page, 'new table', 'New table…');
    await dialog.getByLabel('Name', { exact: true }).fill('Leads');
    await dialog.getByLabel('Type of column 1').selectOption('enum');
    await dialog.getByRole('button', { name: 'Create table' }).click();
    await dialog.getByRole('alert').getByText('Name of column 1').waitFor();
    await page.reload();
    expect(await dialog.getByLabel('Name', { exact: true }).inputValue()).toBe('Leads');
    await dialog.getByLabel('Name of column 1').fill('Stage');
    await dialog.getByLabel('Values of column 1').fill('new\nwon');
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Create table' }).click();
    await page.getByText('This table has no rows yet').waitFor();
  });
  const { tables } = (await api.get(`/storage/${projectID}`)).body;
  expect(tables[0]).toMatchObject({ table_name: 'Leads' });
  expect(tables[0].columns).toContainEqual(
    expect.objectContaining({ column_id: 'stage', enum_options: ['new', 'won'] }),
  );
  const viewer = await createPerson(deps, { role: 'VIEWER', workspace: person.workspace });
  await withPage(async (page) => {
    await signIn(page, viewer);
    await page.getByRole('link', { name: 'Completed in the last 24 hours: 0' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('menuitem', { name: 'Home' }).waitFor();
    expect(await page.getByRole('menuitem', { name: '…' }).count()).toBe(0);
  });
});
