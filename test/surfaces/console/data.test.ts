import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { newId } from '../../../src/base/ids.js';
import { epochSeconds } from '../../../src/base/time.js';
import { createPerson, type Person } from '../../auth/auth-server.js';
import { shot } from '../../support/browser.js';
import { useDeps } from '../../support/fixture.js';
import { bearerClient } from '../../support/gateway.js';
import { refusal } from '../../support/refusal.js';
import { testRun } from '../../support/run.js';
import { createTable } from '../../support/tables.js';
import { verifies } from '../../support/verifies.js';
import { consoleUrl, signIn, withPage } from './chromium.js';

const deps = useDeps();

const columns = [
  { column_name: 'Company', column_type: 'string' },
  { column_name: 'Price', column_type: 'number' },
  { column_name: 'Stage', column_type: 'enum', enum_options: ['new', 'won', 'lost'] },
];

const csv = (name: string, ...lines: string[]) => ({
  name,
  mimeType: 'text/csv',
  buffer: Buffer.from(lines.join('\n')),
});

test('rows are filtered, sorted, added, imported and deleted', async () => {
  verifies('console.tables');
  const person = await createPerson(deps);
  const table = await createTable(person.workspace, columns, 'Leads');
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/tables'));
    await page.getByRole('link', { name: 'Leads' }).click();
    await page.getByText('This table has no rows yet').waitFor();
    await page.getByRole('button', { name: 'Add row…' }).click();
    await page.getByLabel(/^Company/).fill('Fjord Foods');
    await page.getByLabel(/^Price/).fill('cheap');
    await page.getByRole('button', { name: 'Add row', exact: true }).click();
    await page.getByRole('dialog').getByText('Must be a number').waitFor();
    expect(await page.getByLabel(/^Price/).getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel(/^Price/).fill('12.5');
    await page.getByRole('button', { name: 'Add row', exact: true }).click();
    await page.getByText('1 row', { exact: true }).waitFor();

    await page.getByRole('button', { name: 'Import CSV…' }).click();
    const file = page.getByLabel('CSV file');
    await file.setInputFiles(csv('wrong.csv', 'Nothing,Known', '1,2'));
    await page.getByText('The first line contains no column of the table.').waitFor();
    await file.setInputFiles({ ...csv('binary.csv'), buffer: Buffer.from([1, 2, 3, 0, 255]) });
    await page.getByText('The file is not a text file.').waitFor();
    await file.setInputFiles({ ...csv('latin.csv'), buffer: Buffer.from('Company\nÅsa', 'latin1') });
    await page.getByRole('cell', { name: 'Åsa' }).waitFor();
    const bad = csv('leads.csv', 'company;price;note;stage', '"Åsa; & Co";7;x;new', 'Bo;many;y;won', 'Cy;3;z;gone');
    await file.setInputFiles(bad);
    await page.getByText('Not imported, because the table has no such columns: note').waitFor();
    expect(await page.getByRole('region', { name: 'The first rows of the file' }).textContent()).toContain('Åsa; & Co');
    await page.getByRole('button', { name: 'Import 3 rows' }).click();
    await page.getByText('Line 3, Price: must be a number').waitFor();
    await page.getByText('Line 4, Stage: must be one of new, won, lost').waitFor();
    await shot(page, 'table-import');
    expect((await table.records()).total_count).toBe(1);
    const many = Array.from({ length: 1200 }, (_, at) => `Company ${at},${at}`);
    await file.setInputFiles(csv('good.csv', 'Company,Price', ...many));
    await page.getByRole('button', { name: 'Import 1,200 rows' }).click();
    await page.getByText('1,201 rows', { exact: true }).waitFor();
    expect((await table.records({ limit: '1' })).data[0]).toMatchObject({ company: 'Company 1199', price: 1199 });

    await page.getByLabel('Column').selectOption('price');
    await page.getByLabel('Condition').selectOption('lt');
    await page.getByRole('textbox', { name: 'Value' }).fill('3');
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByText('3 rows', { exact: true }).waitFor();
    await page
      .getByRole('columnheader', { name: 'Price' })
      .getByRole('button', { name: /^Price/ })
      .click();
    await page.waitForURL(/sort=price/);
    const shown = page.getByRole('button', { name: /^Company of row/ });
    await page.getByRole('columnheader', { name: 'Price' }).and(page.locator('[aria-sort=ascending]')).waitFor();
    await page.getByText('3 rows', { exact: true }).waitFor();
    expect(await shown.allTextContents()).toEqual(['Company 0', 'Company 1', 'Company 2']);
    await page.getByLabel('Select row 2').check();
    await page.getByRole('button', { name: 'Delete 1…' }).click();
    expect((await table.records()).total_count).toBe(1201);
    await page.getByRole('button', { name: 'Delete 1 row' }).click();
    await page.getByText('2 rows', { exact: true }).waitFor();
    expect((await table.records()).total_count).toBe(1200);
  });
});

test('an import names repeated columns and impossible dates, and skips the line of the delimiter', async () => {
  verifies('console.tables.import-faults');
  const person = await createPerson(deps);
  const due = { column_name: 'Due', column_type: 'date' };
  const table = await createTable(person.workspace, [...columns, due], 'Leads');
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/tables'));
    await page.getByRole('link', { name: 'Leads' }).click();
    await page.getByRole('button', { name: 'Import CSV…' }).click();
    const file = page.getByLabel('CSV file');
    await file.setInputFiles(csv('twice.csv', 'Company,Price,company', 'Åsa,1,Bo'));
    await page.getByText('The first line names a column more than once: Company.').waitFor();
    const dates = ['Åsa,2026-02-30', 'Bo,2026-02-28', 'Cy,2026-13-01T10:00:00Z', 'Di,2023-02-29 10:00'];
    await file.setInputFiles(csv('dates.csv', 'Company,Due', ...dates));
    const named = 'line 2, Due: 2026-02-30; line 4, Due: 2026-13-01T10:00:00Z; line 5, Due: 2023-02-29 10:00.';
    await page.getByText(`The file contains dates that do not exist: ${named}`).waitFor();
    await file.setInputFiles(csv('sep.csv', 'sep=;', 'Company;Due;Price', '"A, B";2024-02-29;1,5', 'Bo;2026-12-31;7'));
    await page.getByRole('button', { name: 'Import 2 rows' }).click();
    await page.getByText('Line 3, Price: must be a number').waitFor();
    await file.setInputFiles(csv('sep.csv', 'sep=;', 'Company;Due;Price', '"A, B";2024-02-29;2', 'Bo;2026-12-31;7'));
    await page.getByRole('button', { name: 'Import 2 rows' }).click();
    await page.getByText('2 rows', { exact: true }).waitFor();
  });
  const { data } = await table.records();
  expect(data).toMatchObject([
    { company: 'Bo', due: Date.UTC(2026, 11, 31) / 1000, price: 7 },
    { company: 'A, B', due: Date.UTC(2024, 1, 29) / 1000, price: 2 },
  ]);
});

test('a table that somebody else creates shows in the lists of all tabs', async () => {
  verifies('console.real-time');
  const person = await createPerson(deps);
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/tables'));
    const other = await page.context().newPage();
    await other.goto(consoleUrl(person, '/tables'));
    for (const tab of [page, other]) await tab.getByText('This project has no tables yet').waitFor();
    await createTable(person.workspace, [], 'Leads');
    for (const tab of [page, other]) await tab.getByRole('link', { name: 'Leads' }).waitFor();
  });
});

test('governed calls, also those that only read, show in the open lists of lifecycles and of the audit chain', async () => {
  verifies('console.real-time');
  const person = await createPerson(deps);
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/lifecycles?tool=docs'));
    const audit = await page.context().newPage();
    await audit.goto(consoleUrl(person, '/audit?action=docs'));
    await page.getByText('No calls match these filters.').waitFor();
    await audit.getByText('No entries match these filters.').waitFor();
    const { status } = await bearerClient(person.workspace.apiKey).post('/v1/docs', { topic: 'governance' });
    expect(status).toBe(200);
    await page.getByRole('link', { name: 'Read the documentation' }).waitFor();
    await audit.getByRole('button', { name: /^Entry / }).waitFor();
  });
});

test('rows are exported as CSV without formulas, and a table is deleted by its name', async () => {
  verifies('console.tables', 'tables.delete');
  const person = await createPerson(deps);
  const { workspace } = person;
  const table = await createTable(workspace, columns, '=Leads');
  const rows = Array.from({ length: 250 }, (_, at) => ({ company: `Company ${at}`, price: -at }));
  await table.insert([
    ...rows,
    { company: '=HYPERLINK("x")', price: -300, stage: 'won' },
    { company: 'Not', price: 9 },
  ]);
  const path = `/storage/${workspace.projectID}/table/${table._id}`;
  const stranger = await createPerson(deps);
  expect(await stranger.workspace.api.delete(path)).toMatchObject({ status: 403 });
  expect(
    await stranger.workspace.api.delete(`/storage/${stranger.workspace.projectID}/table/${table._id}`),
  ).toMatchObject(refusal(404, 'not_found'));
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/tables/${table._id}?column=price&op=lte&value=0&sort=price`));
    await page.getByText('251 rows', { exact: true }).waitFor();
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export CSV' }).click();
    const lines = (await readFile(await (await downloading).path(), 'utf8')).split('\r\n');
    expect(lines.length).toBe(253);
    expect(lines.slice(0, 3)).toEqual([
      expect.stringMatching(/^\uFEFF[^,]+,Company,Price,Stage$/),
      `251,"'=HYPERLINK(""x"")",-300,won`,
      '250,Company 249,-249,',
    ]);
    await page.getByRole('button', { name: 'Delete table…' }).click();
    await page.getByLabel('Table name').fill('leads');
    await page.getByRole('button', { name: 'Delete table', exact: true }).click();
    await page.getByRole('alert').getByText('Table name must be =Leads').waitFor();
    await page.getByLabel('Table name').fill('=Leads');
    await page.getByRole('button', { name: 'Delete table', exact: true }).click();
    await page.getByText('This project has no tables yet').waitFor();
  });
  expect(await workspace.api.get(`${path}/records`)).toMatchObject(refusal(404, 'not_found'));
  const connectors = async () => (await workspace.api.get(`/connectors/${workspace.projectID}`)).body.total_count;
  expect(await connectors()).toBe(0);
  // The state after a crash that followed the first step.
  const half = await createTable(workspace, columns, 'Half');
  await half.insert({ company: 'Fjord' });
  await deps.mongo.collections.tables.deleteOne({ _id: half._id });
  expect(await connectors()).toBe(1);
  expect(await workspace.api.delete(`/storage/${workspace.projectID}/table/${half._id}`)).toMatchObject({
    status: 404,
  });
  expect(await connectors()).toBe(0);
  expect(await deps.mongo.db.collection(`table_${half._id}`).countDocuments()).toBe(0);
});

test('a cell is edited by keyboard; what is refused or was changed by somebody else stays typed', async () => {
  verifies('console.tables', 'tables.expected', 'console.accessible');
  const person = await createPerson(deps);
  const { workspace } = person;
  const table = await createTable(workspace, columns, 'Leads');
  const row = (await table.insert({ company: 'Fjord', price: 1, stage: 'new' })).body;
  const path = `${table.path}/records/${row._id}`;
  const expecting = (expected: unknown) => `${path}?expected=${encodeURIComponent(JSON.stringify(expected))}`;
  expect(await workspace.api.put(expecting({ price: 2 }), { price: 3 })).toMatchObject(
    refusal(409, 'conflict', 'Price'),
  );
  expect(await workspace.api.put(expecting({ price: 1, stage: 'new' }), { price: 2 })).toMatchObject({ status: 200 });
  const tooLong = JSON.stringify({ company: 'ä'.repeat(5000) });
  for (const bad of ['no json', '[]', '{"$where":1}', '{"Price":1}', tooLong])
    expect([bad, await workspace.api.put(`${path}?expected=${encodeURIComponent(bad)}`, { price: 3 })]).toMatchObject([
      bad,
      refusal(400, 'invalid_request'),
    ]);
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/tables/${table._id}`));
    const price = page.getByRole('button', { name: 'Price of row 1: 2' });
    const input = page.getByLabel('Price of row 1', { exact: true });
    await price.focus();
    await page.keyboard.press('Enter');
    await input.fill('a lot');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('must be a number').waitFor();
    await page.reload();
    await page.getByRole('alert').getByText('must be a number').waitFor();
    expect(await input.inputValue()).toBe('a lot');
    expect((await workspace.api.put(path, { price: 5 })).status).toBe(200);
    await input.fill('7');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('somebody else changed the record', { exact: false }).waitFor();
    await page.getByText('The current value is “5”.').waitFor();
    expect(await input.inputValue()).toBe('7');
    await shot(page, 'table-conflict');
    await page.getByRole('button', { name: 'Keep mine' }).click();
    await page.getByRole('button', { name: 'Price of row 1: 7' }).waitFor();
    expect((await workspace.api.get(path)).body.price).toBe(7);
    await page.getByRole('button', { name: 'Company of row 1: Fjord' }).click();
    await page.keyboard.type(' and more');
    await page.keyboard.press('Escape');
    const company = page.getByRole('button', { name: 'Company of row 1: Fjord' });
    await company.waitFor();
    expect(await company.evaluate((element: any) => element.ownerDocument.activeElement === element)).toBe(true);
    await page.getByRole('button', { name: 'Stage of row 1: new' }).click();
    await page.getByLabel('Stage of row 1', { exact: true }).selectOption('won');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Stage of row 1: won' }).waitFor();
  });
  expect((await workspace.api.get(path)).body).toMatchObject({ company: 'Fjord', price: 7, stage: 'won' });
});

/** The address that the product uses in download links. */
const publicUrl = testRun().url.replace('127.0.0.1', 'localhost');

test('files are chosen and dropped, uploaded with their progress, downloaded and deleted', async () => {
  verifies('console.files', 'files.list');
  const person = await createPerson(deps);
  const { api, projectID } = person.workspace;
  await withPage(
    async (page) => {
      await signIn(page, person, consoleUrl(person, '/files'));
      await page.getByText('This project has no files yet').waitFor();
      const uploads = page.getByRole('list', { name: 'Uploads' }).getByRole('listitem');
      const choose = (...files: { name: string; mimeType: string; buffer: Buffer }[]) =>
        page.locator('input[type=file]').setInputFiles(files);
      await choose(
        { name: 'handbook.md', mimeType: 'text/markdown', buffer: Buffer.from('# Claims\n\nAda decides.') },
        { name: 'photo.png', mimeType: 'image/png', buffer: Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex') },
      );
      // The knowledge base accepts documents only. The message is that of the API.
      await uploads.filter({ hasText: 'photo.png' }).getByText('must be one of').waitFor();
      await uploads.filter({ hasText: 'handbook.md' }).getByText('done').waitFor();
      const row = (name: string) => page.getByRole('row').filter({ hasText: name });
      await row('handbook.md').getByText('completed').waitFor();
      await row('handbook.md').getByText('1 of 1 chunks').waitFor();
      await page.getByLabel('Add to the knowledge base').uncheck();
      const dropped = await page.evaluateHandle(() => {
        const { DataTransfer, File } = globalThis as any;
        const data = new DataTransfer();
        data.items.add(new File(['dropped here'], 'dropped.txt', { type: 'text/plain' }));
        return data;
      });
      for (const event of ['dragover', 'drop'])
        await page.locator('.upload-drop').dispatchEvent(event, { dataTransfer: dropped });
      await row('dropped.txt').getByText('ready').waitFor();
      await shot(page, 'files');

      // The sign-in ends during an upload, which is sent again after the person has signed in.
      await page.context().clearCookies();
      await choose({ name: 'later.txt', mimeType: 'text/plain', buffer: Buffer.alloc(300_000, 'a') });
      await page.getByRole('heading', { name: 'Sign in again' }).waitFor();
      await page.getByLabel('Password').fill(person.password);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await row('later.txt').getByText('293 KB').waitFor();

      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Download dropped.txt' }).click(),
      ]);
      expect(download.suggestedFilename()).toBe('dropped.txt');
      await page.getByRole('button', { name: 'Delete handbook.md' }).click();
      await page.getByRole('button', { name: 'Delete file' }).click();
      await row('handbook.md').waitFor({ state: 'detached' });
      await page.getByText('2 files', { exact: true }).waitFor();
    },
    { from: publicUrl },
  );
  const { body } = await api.get(`/file/${projectID}`);
  expect(body).toMatchObject({
    total_count: 2,
    data: [{ name: 'later.txt', knowledge: null }, { name: 'dropped.txt' }],
  });
  expect(JSON.stringify(body)).not.toContain('upload_id');
});

async function withSyncs(person: Person): Promise<void> {
  const { projectID: project_id, organizationId: organization_id } = person.workspace;
  const { repository_bindings, lifecycles } = deps.mongo.collections;
  const repository = `acme/${newId()}`;
  await repository_bindings.insertOne({
    ...{ _id: `${repository}|${project_id}`, repository, branch: 'main', project_id, organization_id },
    ...{ bound_by: person.userId, bound_at: epochSeconds(), secret_sealed: 'sealed' },
  });
  for (const status of ['completed', 'failed'] as const)
    await lifecycles.insertOne({
      ...{ _id: newId(), tool: 'code-sync', project_id, organization_id, status },
      ...{
        created_at: epochSeconds(),
        ended_at: epochSeconds(),
        trace_id: newId(),
        payload_digest: null,
        consumed: [],
      },
      stages: [{ stage: 'S8:execute', status: 'ok', detail: `it has ${status}` }],
      principal: { user_id: 'code-sync', kind: 'service' },
    });
}

test('syncs show the catalog, the repositories and the last runs', async () => {
  verifies('syncs.state');
  const person = await createPerson(deps);
  const { api, projectID } = person.workspace;
  await withSyncs(person);
  const { body } = await api.get(`/${projectID}/syncs`);
  expect(body).toMatchObject({ catalog: null, repositories: [{ branch: 'main', has_signed: false }] });
  expect(JSON.stringify(body)).not.toContain('sealed');
  expect(await api.post(`/${projectID}/syncs/catalog`)).toMatchObject(refusal(409, 'conflict', 'not synced'));
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/syncs'));
    await page.getByText(body.repositories[0].repository).waitFor();
    await page.getByText('it has failed').waitFor();
    await page.getByText('The catalog is not synced into this project.').waitFor();
    const followed = `acme/${newId()}`;
    await page.getByRole('button', { name: 'Follow repository…' }).click();
    await page.getByRole('textbox', { name: 'Repository' }).fill('no repository');
    await page.getByRole('button', { name: 'Follow', exact: true }).click();
    await page.getByRole('alert').getByText('must be owner/name').waitFor();
    await page.getByRole('textbox', { name: 'Repository' }).fill(followed);
    await page.getByRole('button', { name: 'Follow', exact: true }).click();
    await page.getByRole('dialog').getByText('/v1/codesync/webhook/github').waitFor();
    await page.getByText('Copy the webhook secret now').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: `Unfollow ${followed}…` }).click();
    await page.getByRole('button', { name: 'Unfollow', exact: true }).click();
    await page.getByRole('button', { name: `Unfollow ${followed}…` }).waitFor({ state: 'detached' });
    const after = (await api.get(`/${projectID}/syncs`)).body.repositories;
    expect(after).toEqual(body.repositories);
    expect(await deps.mongo.collections.repository_owners.findOne({ _id: followed })).toBeNull();
    const follow = () =>
      api.post(`/${projectID}/syncs/repositories`, { repository: followed }, { 'idempotency-key': followed });
    const first = await follow();
    expect(first).toMatchObject({ status: 200, body: { webhook_secret: expect.any(String) } });
    expect((await follow()).body).toEqual(first.body);
    const unfollow = () => api.delete(`/${projectID}/syncs/repositories?repository=${followed}`);
    expect(await unfollow()).toMatchObject({ status: 200 });
    expect(await unfollow()).toMatchObject(refusal(404, 'not_found'));
    const catalog = {
      state: 'retrying',
      waiting_events: 2,
      waiting_for: ['orders'],
      waiting_since: 1,
      run_id: newId(),
    };
    await page.route(
      ({ pathname }) => pathname === `/${projectID}/syncs`,
      (route) =>
        route.fulfill({ json: { repositories: [], catalog: { ...catalog, started_at: 1, failure: 'it is down' } } }),
    );
    await page.reload();
    await page.getByText('2 pending changes: orders').waitFor();
    await page.getByText('The last attempt failed: it is down').waitFor();
    await page.getByText('This project follows no repositories.').waitFor();
    await page.getByRole('button', { name: 'Start sync…' }).click();
    await page.getByRole('button', { name: 'Start sync', exact: true }).click();
    await page.getByRole('dialog').getByRole('alert').getByText('is not synced into this project').waitFor();
    await shot(page, 'syncs');
    await page.goto(consoleUrl(person));
    const home = page.getByRole('list', { name: 'State' });
    await home.getByText('The sync of the catalog failed: it is down').waitFor();
    await home.getByRole('link', { name: 'Code syncs failed in the last 24 hours: 1' }).click();
    await page.waitForURL(/\/lifecycles\?tool=code-sync&status=failed&since=24h$/);
  });
});
