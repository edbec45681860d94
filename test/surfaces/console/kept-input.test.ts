import { expect, test } from '@jest/globals';
import type { Page, Route } from 'playwright-core';
import { createPerson } from '../../auth/auth-server.js';
import { connectorOf } from '../../support/connectors.js';
import { createWorkspace, useDeps } from '../../support/fixture.js';
import { flowThatCalls } from '../../support/flows.js';
import { createTable } from '../../support/tables.js';
import { verifies } from '../../support/verifies.js';
import { consoleUrl, signIn, withPage } from './chromium.js';

const deps = useDeps();

/** Holds the next request of this method and path. @returns a function that waits for it and returns how to release it */
async function held(page: Page, method: string, path: RegExp): Promise<() => Promise<() => void>> {
  let arrive: (route: Route) => void;
  const arrived = new Promise<Route>((resolve) => (arrive = resolve));
  let isFirst = true;
  await page.route(path, (route) => {
    if (!isFirst || route.request().method() !== method) return route.fallback();
    isFirst = false;
    return arrive(route);
  });
  return async () => {
    const route = await arrived;
    return () => void route.continue();
  };
}

test('what a person typed but did not send is shown in no other project, and to no other person', async () => {
  verifies('console.every-page');
  const person = await createPerson(deps);
  const { organizationId, projectID } = person.workspace;
  const second = await createWorkspace(deps, { organizationId });
  const other = await createPerson(deps, { role: 'PROJECT_ADMIN', workspace: person.workspace });
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/keys'));
    const typed = async () => {
      await page.getByRole('button', { name: 'New API key…' }).click();
      return page.getByRole('textbox', { name: 'Name' });
    };
    await (await typed()).fill('for the nightly import');
    await page.goto(consoleUrl({ ...person, workspace: second }, '/keys'));
    expect(await (await typed()).inputValue()).toBe('');
    await page.goto(consoleUrl(person, '/keys'));
    expect(await (await typed()).inputValue()).toBe('for the nightly import');
    await page.context().clearCookies();
    await page.goto(consoleUrl(''));
    await signIn(page, other, consoleUrl(`/projects/${projectID}/keys`));
    expect(await (await typed()).inputValue()).toBe('');
  });
});

test('what a person types while an agentflow is saved stays, and is saved next', async () => {
  verifies('console.agentflows');
  const person = await createPerson(deps);
  const { api } = person.workspace;
  const { _id: id } = (await api.post('/agentflow', { ...flowThatCalls([]), name: 'Letters' })).body;
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/agentflows/${id}`));
    const description = page.getByRole('textbox', { name: 'Description', exact: true });
    await description.fill('first');
    const arrived = await held(page, 'PATCH', /\/agentflow\//);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const release = await arrived();
    await description.fill('first and second');
    release();
    await page.getByText('Saved.').waitFor();
    expect(await description.inputValue()).toBe('first and second');
    expect((await api.get(`/agentflow/${id}`)).body.description).toBe('first');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: 'Save', exact: true }).and(page.locator(':disabled')).waitFor();
    // Decimal numbers with a final zero are numbers, too.
    await page.getByRole('textbox', { name: 'Temperature' }).fill('0.50');
    await page.getByRole('textbox', { name: 'Title' }).focus();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved.').waitFor();
  });
  const { body } = await api.get(`/agentflow/${id}`);
  expect([body.description, body.agents[0].llm.temperature]).toEqual(['first and second', 0.5]);
});

test('an unsaved change of a connector does not revert what somebody else changed since', async () => {
  verifies('console.connectors');
  const person = await createPerson(deps);
  const { api, projectID } = person.workspace;
  const { _id: id } = await connectorOf(person.workspace, 'restful', { base_url: 'https://one.example.com' });
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/connectors/${id}`));
    await page.getByRole('button', { name: 'Edit…' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Claims desk');
    const changed = await api.patch(`/connectors/${projectID}/${id}`, {
      config: { base_url: 'https://two.example.com' },
    });
    expect(changed).toMatchObject({ status: 200 });
    await page.reload();
    await page.getByRole('button', { name: 'Edit…' }).click();
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Claims desk');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('heading', { name: 'Claims desk' }).waitFor();
  });
  const { body } = await api.get(`/connectors/${projectID}/${id}`);
  expect(body).toMatchObject({ name: 'Claims desk', config: { base_url: 'https://two.example.com' } });
});

test('unsaved settings do not revert what somebody else changed since, and say so', async () => {
  verifies('console.settings');
  const person = await createPerson(deps);
  const { api, projectID } = person.workspace;
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/settings'));
    const field = page.getByLabel('Settings (JSON)');
    const form = page.locator('form').filter({ has: field });
    await page.getByText('Settings of integrations (JSON)').click();
    const shown = JSON.parse(await field.inputValue()) as object;
    await field.fill(JSON.stringify({ ...shown, user_connectors: ['mail'] }));
    const changed = await api.patch(`/settings/${projectID}`, { connector_group: ['claims'] });
    expect(changed).toMatchObject({ status: 200 });
    await page.reload();
    await page.getByText('Somebody has changed these settings').waitFor();
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByRole('button', { name: 'Discard changes', disabled: true }).waitFor();
    expect(JSON.parse(await field.inputValue())).toMatchObject({
      user_connectors: ['mail'],
      connector_group: ['claims'],
    });
  });
  expect((await api.get(`/settings/${projectID}`)).body).toMatchObject({
    user_connectors: ['mail'],
    connector_group: ['claims'],
  });
});

test('a filter keeps the space before a word that the person types later', async () => {
  verifies('console.every-page');
  const person = await createPerson(deps);
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/agentflows'));
    const filter = page.getByLabel('Name, description or id');
    await filter.pressSequentially('acme ');
    await page.waitForURL(/text=acme$/);
    await page.getByText('No agentflows match these filters.').waitFor();
    await filter.pressSequentially('corp');
    await page.waitForURL(/text=acme\+corp$/);
    expect(await filter.inputValue()).toBe('acme corp');
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByText('This project has no agentflows yet.').waitFor();
    expect(await filter.inputValue()).toBe('');
  });
});

test('the condition on the rows is chosen by keyboard, and the focus stays', async () => {
  verifies('console.tables', 'console.accessible');
  const person = await createPerson(deps);
  const table = await createTable(person.workspace, [{ column_name: 'Price', column_type: 'number' }], 'Leads');
  await table.insert({ price: 1 });
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/tables/${table._id}`));
    const column = page.getByRole('combobox', { name: 'Column' });
    await column.focus();
    await page.keyboard.press('End');
    await page.waitForURL(/column=price/);
    await page.getByRole('combobox', { name: 'Condition' }).waitFor();
    expect(await column.evaluate((element: any) => element.ownerDocument.activeElement === element)).toBe(true);
  });
});

test('an integer that would be rounded is refused', async () => {
  verifies('console.tables');
  const person = await createPerson(deps);
  const table = await createTable(person.workspace, [{ column_name: 'Account', column_type: 'integer' }], 'Leads');
  await table.insert({ account: 1 });
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/tables/${table._id}`));
    await page.getByRole('button', { name: 'Account of row 1: 1' }).click();
    await page.getByLabel('Account of row 1', { exact: true }).fill('9007199254740993');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('“9007199254740993” is not saved').waitFor();
  });
  expect((await table.records()).data).toMatchObject([{ account: 1 }]);
});

test('an import stops when its window is closed, and leaves the next window open', async () => {
  verifies('console.tables');
  const person = await createPerson(deps);
  const table = await createTable(person.workspace, [{ column_name: 'Company', column_type: 'string' }], 'Leads');
  const lines = Array.from({ length: 2500 }, (_, at) => `Company ${at}`);
  const buffer = Buffer.from(['Company', ...lines].join('\n'));
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/tables/${table._id}`));
    await page.getByRole('button', { name: 'Import CSV…' }).click();
    await page.getByLabel('CSV file').setInputFiles({ name: 'leads.csv', mimeType: 'text/csv', buffer });
    const arrived = await held(page, 'POST', /\/row$/);
    await page.getByRole('button', { name: 'Import 2,500 rows' }).click();
    const release = await arrived();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Add row…' }).click();
    await page.getByRole('heading', { name: 'Add row to Leads' }).waitFor();
    release();
    await page.getByText('1,000 rows', { exact: true }).waitFor();
    await page.getByRole('heading', { name: 'Add row to Leads' }).waitFor();
    await page
      .getByRole('dialog')
      .getByLabel(/^Company/)
      .fill('The last');
    await page.getByRole('button', { name: 'Add row', exact: true }).click();
    await page.getByText('1,001 rows', { exact: true }).waitFor();
  });
  expect((await table.records()).total_count).toBe(1001);
});

test('a secret that is shown once stays until the person closes its window', async () => {
  verifies('console.keys');
  const person = await createPerson(deps);
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/keys'));
    await page.getByRole('button', { name: 'New API key…' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Nightly import');
    await page.getByRole('button', { name: 'Create API key' }).click();
    const secret = page.getByRole('region', { name: 'Command' });
    await secret.waitFor();
    await page.mouse.click(3, 3);
    await page.keyboard.press('Escape');
    expect(await secret.textContent()).toMatch(/^svc_sk_/);
    await page.getByRole('button', { name: 'Close' }).click();
    await secret.waitFor({ state: 'detached' });
  });
});

test('an upload whose response was lost is repeated without a second file', async () => {
  verifies('console.files');
  const person = await createPerson(deps);
  const { api, projectID } = person.workspace;
  await withPage(async (page, complaints) => {
    await signIn(page, person, consoleUrl(person, '/files'));
    await page.getByLabel('Add to the knowledge base').uncheck();
    let isLost = false;
    await page.route(
      ({ pathname }) => pathname === `/file/${projectID}`,
      async (route) => {
        if (isLost || route.request().method() !== 'POST') return route.fallback();
        isLost = true;
        await route.fetch();
        return route.abort();
      },
    );
    const sent = { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('text') };
    await page.locator('input[type=file]').setInputFiles(sent);
    const uploads = page.getByRole('list', { name: 'Uploads' });
    await uploads.getByText('The service cannot be reached.').waitFor();
    await uploads.getByRole('button', { name: 'Retry' }).click();
    await uploads.getByText('done').waitFor();
    complaints.splice(0);
  });
  expect((await api.get(`/file/${projectID}`)).body.total_count).toBe(1);
});
