import { expect, test } from '@jest/globals';
import { createPerson } from '../../auth/auth-server.js';
import { shot } from '../../support/browser.js';
import { useDeps } from '../../support/fixture.js';
import { prepareExecution } from '../../support/executions.js';
import { flowThatCalls } from '../../support/flows.js';
import { bearerClient } from '../../support/gateway.js';
import { createTable } from '../../support/tables.js';
import { verifies } from '../../support/verifies.js';
import { consoleUrl, signIn, violations, withPage } from './chromium.js';
import { asPage } from './console-browser.js';

const deps = useDeps();

test('the context graph is asked in words and in Cypher, as table and graph, with where each element is from', async () => {
  verifies('console.context');
  const person = await createPerson(deps);
  const gateway = bearerClient(person.workspace.apiKey);
  await withPage(async (page, complaints) => {
    await signIn(page, person, consoleUrl(person, '/context'));
    const question = page.getByLabel('Question or Cypher');
    const ask = () => page.getByRole('button', { name: 'Search' }).click();
    await question.fill('Which products does Acme own?');
    await ask();
    await page.getByText('The context graph contains no matching data.').waitFor();
    expect(await page.getByRole('region', { name: 'Command' }).textContent()).toContain('/v1/save-context');
    const saved = await gateway.post('/v1/save-context', {
      source: 'the catalog',
      entities: [
        { id: 'acme', type: 'Company', name: 'Acme', properties: { city: 'Berlin' } },
        { id: 'anvil', type: 'Product', name: 'Anvil' },
      ],
      relationships: [{ type: 'OWNS', from: 'acme', to: 'anvil' }],
    });
    expect(saved).toMatchObject({ status: 200 });
    await ask();
    const entities = page.getByRole('table', { name: 'Entities' });
    await entities.getByRole('button', { name: 'Acme' }).waitFor();
    expect(await entities.getByRole('row').filter({ hasText: 'Acme' }).textContent()).toMatch(/names \d+\.\d+/);
    await page.getByRole('table', { name: 'Relationships' }).getByText('OWNS').waitFor();
    await page.getByText('Found by full-text search').waitFor();
    await entities.getByRole('button', { name: 'Acme' }).click();
    const drawer = page.getByRole('dialog');
    await drawer.getByText('the catalog').waitFor();
    await drawer.getByText('"city": "Berlin"').waitFor();
    await shot(page, 'context-entity');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Graph' }).click();
    await page.getByRole('group', { name: 'Entities and their relationships' }).getByText('Anvil').waitFor();
    await shot(page, 'context-graph');
    await question.fill('MATCH (n:Entity) WHERE n.project_id = $project_id RETURN n.name AS name');
    await question.press('Control+Enter');
    await page.getByRole('region', { name: 'Rows' }).getByText('"name": "Anvil"').waitFor();
    await page.getByLabel('As of').fill('2020-01-01T00:00:00');
    const asking = page.waitForRequest('**/v1/query-context');
    await ask();
    const local = await page.evaluate(() => new Date('2020-01-01T00:00:00').getTime() / 1000);
    expect((await asking).postDataJSON()).toMatchObject({ as_of: local });
    await page.getByLabel('As of').fill('');
    await question.fill('MATCH (n) DELETE n');
    await ask();
    await page
      .getByRole('alert')
      .getByRole('link', { name: /^Lifecycle / })
      .waitFor();
    expect(await question.inputValue()).toBe('MATCH (n) DELETE n');
    await page.route('**/v1/query-context', (route) =>
      route.fulfill({ status: 503, json: { error: 'unavailable', error_description: 'the graph is closed' } }),
    );
    await ask();
    await page.getByRole('alert').getByText('The graph is closed').waitFor();
    complaints.splice(0);
  });
});

test('members are added, change their role and leave, each after a confirmation and as far as the role allows', async () => {
  verifies('console.members');
  const owner = await createPerson(deps);
  const other = await createPerson(deps, { role: null, workspace: owner.workspace });
  const admin = await createPerson(deps, { role: 'PROJECT_ADMIN', workspace: owner.workspace });
  await withPage(async (page) => {
    await signIn(page, owner, consoleUrl(owner, '/members'));
    const row = page.getByRole('row').filter({ hasText: other.email.toLowerCase() });
    await page.getByRole('button', { name: 'Add member…' }).click();
    await page.getByLabel('Email address').fill('not-an-address');
    await page.getByRole('button', { name: 'Add member', exact: true }).click();
    await page.getByRole('alert').getByText('Email address must be').waitFor();
    expect(await page.getByLabel('Email address').inputValue()).toBe('not-an-address');
    await page.getByLabel('Email address').fill(other.email);
    await page.getByRole('checkbox', { name: /^viewer:/ }).check();
    await page.getByRole('checkbox', { name: /^member:/ }).uncheck();
    await page.getByRole('button', { name: 'Add member', exact: true }).click();
    await row.getByText('viewer').waitFor();
    await row.getByRole('button', { name: /^Change roles/ }).click();
    await page.getByRole('checkbox', { name: /^editor:/ }).check();
    await page.getByRole('button', { name: 'Change roles', exact: true }).click();
    await row.getByText('editor, viewer').waitFor();
    await shot(page, 'members');
    await row.getByRole('button', { name: /^Remove/ }).click();
    await page.getByRole('button', { name: 'Remove member' }).click();
    await row.waitFor({ state: 'detached' });
    await page
      .getByRole('row')
      .filter({ hasText: '(you)' })
      .getByRole('button', { name: /^Remove/ })
      .click();
    await page.getByRole('button', { name: 'Remove member' }).click();
    await page.getByRole('alert').getByText('last OWNER').waitFor();
  });
  await withPage(async (page) => {
    await signIn(page, admin, consoleUrl(admin, '/members'));
    const row = page.getByRole('row').filter({ hasText: owner.email.toLowerCase() });
    await row.getByText('owner').waitFor();
    expect(await row.getByRole('button').count()).toBe(0);
  });
  const { client } = await asPage(admin);
  expect((await client().delete(`/project-member/${owner.workspace.projectID}/${owner.userId}`)).status).toBe(403);
});

test('API keys are created, shown once and revoked; the settings are changed after a confirmation', async () => {
  verifies('console.keys', 'console.settings');
  const person = await createPerson(deps);
  const { projectID } = person.workspace;
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/keys'));
    await page.getByRole('button', { name: 'New API key…' }).click();
    await page.getByRole('button', { name: 'Create API key' }).click();
    await page.getByRole('alert').getByText('Name must').waitFor();
    await page.getByRole('textbox', { name: 'Name' }).fill('Nightly import');
    await page.getByLabel('svc:query.read').check();
    await page.getByRole('button', { name: 'Create API key' }).click();
    const secret = (await page.getByRole('region', { name: 'Command' }).textContent()) ?? '';
    expect(secret).toMatch(/^svc_sk_/);
    const key = bearerClient(secret);
    expect((await key.post('/v1/query-context', { query: 'anything' })).status).toBe(200);
    expect((await key.post('/v1/save-model', { model: 'x' })).status).toBe(403);
    await page.getByRole('button', { name: 'Close' }).click();
    const row = page.getByRole('row').filter({ hasText: 'Nightly import' });
    await row.getByText('svc:query.read').waitFor();
    expect(await page.content()).not.toContain(secret);
    await shot(page, 'keys');
    await row.getByRole('button', { name: 'Revoke Nightly import…' }).click();
    await page.getByRole('button', { name: 'Revoke key' }).click();
    await row.getByText('revoked').waitFor();
    expect((await key.post('/v1/query-context', { query: 'anything' })).status).toBe(401);
    await page.goto(consoleUrl(person, '/settings'));
    await page.getByRole('textbox', { name: 'Name' }).fill('Claims desk');
    await page.reload();
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Claims desk');
    await page.getByRole('textbox', { name: 'Name' }).fill('');
    const about = page.locator('section', { has: page.getByRole('heading', { name: 'Name and description' }) });
    await about.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').getByText('Name must').waitFor();
    await page.getByRole('textbox', { name: 'Name' }).fill('Claims desk');
    await about.getByRole('button', { name: 'Save' }).click();
    await about.getByRole('button', { name: 'Save', disabled: true }).waitFor();
    await page.getByRole('button', { name: 'Switch to governed…' }).click();
    await page.getByRole('button', { name: 'Switch to governed', exact: true }).click();
    await page.getByRole('status').filter({ hasText: 'The project is in governed mode.' }).waitFor();
    await page.getByRole('button', { name: 'Turn on…' }).click();
    await page.getByRole('button', { name: 'Turn on', exact: true }).click();
    await page.getByRole('status').filter({ hasText: 'are recorded' }).waitFor();
    await page.getByRole('combobox', { name: 'Change language to' }).selectOption('de');
    await page.getByRole('button', { name: 'Change language', exact: true }).click();
    await page.getByText('Search language of the context graph: German').waitFor();
    await page.getByText('Settings of integrations (JSON)').click();
    await page.getByLabel('Settings (JSON)').fill('{"user_connectors": [');
    await page.getByRole('alert').getByText('The text is not valid JSON').waitFor();
    await page.getByLabel('Settings (JSON)').fill('{"user_connectors": ["mail"]}');
    const form = page.locator('form').filter({ has: page.getByLabel('Settings (JSON)') });
    await form.getByRole('button', { name: 'Save' }).click();
    // The typed values are kept until they are stored.
    await form.getByRole('button', { name: 'Discard changes', disabled: true }).waitFor();
    await shot(page, 'settings');
  });
  const { api } = person.workspace;
  expect((await api.get(`/v1/project/${projectID}`)).body.name).toBe('Claims desk');
  expect((await api.get(`/settings/${projectID}`)).body).toMatchObject({
    data_events: true,
    language: 'de',
    user_connectors: ['mail'],
  });
});

test('widgets of the dashboard are added, edited, refreshed and deleted, and a failed one says why', async () => {
  verifies('console.dashboard', 'console.accessible');
  const person = await createPerson(deps);
  const viewer = await createPerson(deps, { role: 'VIEWER', workspace: person.workspace });
  const { api, projectID } = person.workspace;
  for (const goal of ['First', 'Second']) await prepareExecution(person.workspace, flowThatCalls([]), { goal });
  const table = await createTable(person.workspace, [{ column_name: 'Company', column_type: 'string' }], 'Leads');
  await table.insert({ company: 'Acme' });
  const widgets = async () => (await api.get(`/dashboard/${projectID}`)).body.components as { title: string }[];
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/dashboard'));
    const dialog = page.getByRole('dialog');
    const text = (name: string) => dialog.getByRole('textbox', { name, exact: true });
    const choice = (name: string) => dialog.getByRole('combobox', { name, exact: true });
    const widget = (name: string) => page.getByRole('region', { name, exact: true });
    const create = dialog.getByRole('button', { name: 'Create widget' });
    await widget('Tasks').getByText('The last refresh found no data.').or(widget('Tasks').getByText('Ready')).waitFor();
    await page.getByRole('button', { name: 'Refresh data' }).click();
    await widget('Tasks').getByRole('region', { name: 'Ready' }).getByText(/First/).waitFor();
    await page.getByRole('button', { name: 'New widget…' }).click();
    await text('Title').fill('Runs by state');
    await text('Query').fill('[{ "$where": "true" }]');
    await create.click();
    await dialog.getByText(/stage \$where is not allowed/).waitFor();
    await choice('Example of a query').selectOption('Number by state');
    await create.click();
    await widget('Runs by state').getByRole('row', { name: 'ready 2' }).waitFor();
    await page.getByRole('button', { name: 'New widget…' }).click();
    await text('Title').fill('All leads');
    await choice('Data').selectOption('Rows of a table');
    await choice('Table').selectOption('Leads');
    await choice('Example of a query').selectOption('Number of all');
    await choice('Tab').selectOption('A new tab');
    await text('Name of the new tab').fill('Sales');
    await create.click();
    await page.getByRole('tab', { name: 'Sales' }).click();
    await widget('All leads').getByText('1', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Edit All leads…' }).click();
    await text('Title').fill('Leads');
    await choice('Shown as').selectOption('Table');
    await text('Query').fill('[{ "$project": { "_id": 0, "company": 1 } }]');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await widget('Leads').getByRole('cell', { name: 'Acme' }).waitFor();
    expect((await widgets()).map(({ title }) => title)).toEqual(['Tasks', 'Runs by state', 'Leads']);
    // A widget whose data is gone says so.
    expect((await api.delete(`/storage/${projectID}/table/${table._id}`)).status).toBe(200);
    await page.getByRole('button', { name: 'Refresh data' }).click();
    await widget('Leads').getByRole('alert').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Delete Leads…' }).click();
    await dialog.getByRole('button', { name: 'Delete widget' }).click();
    await page.getByText('This tab has no widgets.').waitFor();
    await page.getByRole('tab', { name: 'Overview' }).click();
    await widget('Runs by state').waitFor();
    await shot(page, 'dashboard');
    expect(await violations(page)).toEqual([]);
  });
  await withPage(
    async (page) => {
      await signIn(page, viewer, consoleUrl(viewer, '/dashboard'));
      await page.getByRole('row', { name: 'ready 2' }).waitFor();
      expect(
        await page
          .getByRole('main')
          .getByRole('button', { name: /widget|Edit|Delete/ })
          .count(),
      ).toBe(0);
      await shot(page, 'dashboard-phone');
      expect(await violations(page)).toEqual([]);
    },
    { width: 375, height: 812, dark: true },
  );
});

test('tags are created, chosen for an upload, shown with its files, and deleted', async () => {
  verifies('console.tags');
  const person = await createPerson(deps);
  const { api, projectID } = person.workspace;
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/tags'));
    await page.getByText('This project has no tags yet').waitFor();
    const create = async (name: string) => {
      await page.getByRole('button', { name: 'New tag…' }).click();
      await page.getByRole('textbox', { name: 'Name' }).fill(name);
      await page.getByLabel('Color').fill('#d73a4a');
      await page.getByRole('button', { name: 'Create tag' }).click();
    };
    await create('reports');
    await page.getByText('1 tag', { exact: true }).waitFor();
    await create('reports');
    await page.getByRole('alert').getByText('Name the project already has a tag').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole('textbox', { name: 'Name' }).fill('drafts');
    await page.getByRole('button', { name: 'Create tag' }).click();
    await page.getByText('2 tags', { exact: true }).waitFor();
    await shot(page, 'tags');
    await page.goto(consoleUrl(person, '/files'));
    await page.getByRole('checkbox', { name: 'Add to the knowledge base' }).uncheck();
    await page.getByRole('checkbox', { name: 'reports' }).check();
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('a') });
    await page.getByRole('cell', { name: 'reports' }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.goto(consoleUrl(person, '/tags'));
    await page.getByRole('button', { name: 'Delete reports…' }).click();
    await page.getByRole('button', { name: 'Delete tag' }).click();
    await page.getByText('1 tag', { exact: true }).waitFor();
  });
  expect((await api.get('/tag')).body.data).toMatchObject([{ name: 'drafts', color: '#d73a4a' }]);
  expect((await api.get(`/file/${projectID}`)).body.data).toMatchObject([{ name: 'a.txt', tags: ['reports'] }]);
});
