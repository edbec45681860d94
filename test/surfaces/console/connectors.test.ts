import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createPerson } from '../../auth/auth-server.js';
import { shot } from '../../support/browser.js';
import { connectorOf, run } from '../../support/connectors.js';
import { eventually } from '../../support/eventually.js';
import { useDeps } from '../../support/fixture.js';
import { actionTo } from '../../support/flows.js';
import { startMcpServer, toolNamed, type McpServer } from '../../support/mcp-server.js';
import { grantAccess, startOauthMcpServer, type OauthMcpServer } from '../../support/oauth-mcp.js';
import { testRun } from '../../support/run.js';
import { useHttpSink } from '../../support/use-http-sink.js';
import { verifies } from '../../support/verifies.js';
import { consoleUrl, signIn, withPage } from './chromium.js';

const deps = useDeps();
const sink = await useHttpSink();
let mcp: McpServer;
let oauth: OauthMcpServer;
beforeAll(async () => {
  [mcp, oauth] = await Promise.all([startMcpServer(), startOauthMcpServer()]);
});
afterAll(() => Promise.all([mcp.close(), oauth.close()]));

test('a connector is created with the messages of the API at its fields, shows its use, and is deleted', async () => {
  verifies('console.connectors', 'connectors.use');
  const person = await createPerson(deps);
  const { api, projectID } = person.workspace;
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/connectors'));
    await page.getByText('This project has no connectors yet').waitFor();
    await page.getByRole('button', { name: 'New connector…' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Claims register');
    await page.getByLabel('Base URL').fill('no address');
    await page.getByLabel('Authentication').selectOption('bearer');
    await page.getByLabel('Token', { exact: true }).fill('a-secret-token');
    await page.getByRole('button', { name: 'Create connector' }).click();
    const field = page.getByLabel('Base URL');
    await page.locator('[aria-invalid=true]').waitFor();
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    const problem = await field.evaluate(
      (element: any) => element.ownerDocument.getElementById(element.getAttribute('aria-describedby')).textContent,
    );
    expect(problem).toMatch(/url/i);
    await page.reload();
    await page.getByRole('button', { name: 'New connector…' }).click();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Claims register');
    // A secret is stored nowhere except in the open window.
    expect(await page.evaluate(() => JSON.stringify((globalThis as any).sessionStorage))).not.toContain('a-secret');
    await page.getByLabel('Token', { exact: true }).fill('a-secret-token');
    await page.getByLabel('Base URL').fill(`${sink.url}/${projectID}`);
    await page.getByRole('button', { name: 'Create connector' }).click();
    await page.getByRole('heading', { name: 'Claims register', level: 1 }).waitFor();
    await page.getByRole('status').filter({ hasText: 'active' }).waitFor();
    await page.getByText('As JSON').click();
    expect(await page.getByRole('region', { name: 'Configuration as JSON' }).textContent()).toContain('[stored]');
    expect(await page.content()).not.toContain('a-secret-token');
    const id = page.url().split('/').at(-1) ?? '';

    sink.answer(`/${projectID}/broken`, (_request, res) => res.writeHead(422).end('{"error":"no such claim"}'));
    await run(person.workspace, id, [actionTo('/broken')], {}, 'failed');
    const read = async () => (await api.get(`/connectors/${projectID}/${id}`)).body;
    await eventually(async () =>
      expect(await read()).toMatchObject({
        failures: 1,
        last_failure: { message: expect.stringContaining('422') },
        last_used_at: expect.any(Number),
      }),
    );
    await page.getByText('no such claim').waitFor();
    await shot(page, 'connector-failing');
    await run(person.workspace, id, [actionTo('/fine')]);
    await eventually(async () => expect(await read()).toMatchObject({ failures: 0 }));

    await page.getByRole('button', { name: 'Edit…' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByLabel('Base URL').inputValue()).toBe(`${sink.url}/${projectID}`);
    await dialog.getByText('Leave empty to keep the stored value.').waitFor();
    await dialog.getByLabel('Name', { exact: true }).fill('Claims, new');
    await dialog.getByLabel('Base URL').fill('no address');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.locator('[aria-invalid=true]').waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Edit…' }).click();
    expect(await dialog.getByLabel('Name', { exact: true }).inputValue()).toBe('Claims, new');
    await dialog.getByLabel('Base URL').fill(`${sink.url}/${projectID}/v2`);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Claims, new', level: 1 }).waitFor();
    await page.getByLabel('Path (GET, relative to the base URL)').fill('/claims');
    await page.getByRole('button', { name: 'Send request' }).click();
    await page.getByText(`{"ok":true,"path":"/${projectID}/v2/claims"}`).waitFor();
    // The secret was left empty, so the stored one was kept.
    expect(sink.seen(`/${projectID}/v2/claims`)[0]?.headers.authorization).toBe('Bearer a-secret-token');
    await shot(page, 'connector-test');

    await page.getByRole('button', { name: 'Pause…' }).click();
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByRole('status').filter({ hasText: 'paused' }).waitFor();
    await page.getByRole('button', { name: 'Delete…' }).click();
    expect((await read()).status).toBe('paused');
    await page.getByRole('button', { name: 'Delete connector' }).click();
    await page.getByText('This project has no connectors yet').waitFor();
    expect(await api.get(`/connectors/${projectID}/${id}`)).toMatchObject({ status: 404 });
  });
});

test('a test call is refused at its field, and made once although its answer is lost', async () => {
  verifies('console.connectors');
  const person = await createPerson(deps);
  const { projectID } = person.workspace;
  const { _id } = await connectorOf(person.workspace, 'restful', { base_url: `${sink.url}/${projectID}` });
  const calls = () => sink.seen(`/${projectID}/claims`).length;
  await withPage(async (page, complaints) => {
    await signIn(page, person, consoleUrl(person, `/connectors/${_id}`));
    const path = page.getByLabel('Path (GET, relative to the base URL)');
    const callIt = () => page.getByRole('button', { name: 'Send request' }).click();
    await path.fill('claims');
    await callIt();
    await page.getByRole('alert').getByText('must begin with /').waitFor();
    expect(await path.getAttribute('aria-invalid')).toBe('true');
    await page.reload();
    expect(await path.inputValue()).toBe('claims');
    await path.fill('/claims');
    const lose = () =>
      page.route(
        '**/test',
        async (route) => {
          await route.fetch();
          await route.abort();
        },
        { times: 1 },
      );
    await lose();
    await callIt();
    await page.getByText('The service cannot be reached.').waitFor();
    expect(calls()).toBe(1);
    await callIt();
    await page.getByText(`{"ok":true,"path":"/${projectID}/claims"}`).waitFor();
    expect(calls()).toBe(1);
    // After an answer, the next call is another call.
    await page.context().clearCookies();
    await page.getByText('Send request', { exact: true }).dispatchEvent('click');
    await page.getByRole('heading', { name: 'Sign in again' }).waitFor();
    await page.getByLabel('Password').fill(person.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await eventually(() => expect(calls()).toBe(2));
    // A call with other content is another call as well.
    await page.getByText('{"ok":true').waitFor();
    await lose();
    await callIt();
    await page.getByText('The service cannot be reached.').waitFor();
    await path.fill('/others');
    await callIt();
    await page.getByText(`{"ok":true,"path":"/${projectID}/others"}`).waitFor();
    complaints.splice(0);
  });
});

test('the tools of an MCP server are accepted as they were read, with their difference after a change', async () => {
  verifies('console.connectors');
  const person = await createPerson(deps);
  mcp.tools = [toolNamed('find'), toolNamed('file')];
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/connectors'));
    await page.getByRole('button', { name: 'New connector…' }).click();
    await page.getByLabel('Type').selectOption('mcp');
    await page.getByLabel('Name', { exact: true }).fill('Tickets');
    await page.getByRole('button', { name: 'Create connector' }).click();
    await page.getByRole('dialog').getByText('Give either url or command').waitFor();
    await page.getByLabel('Server URL (Streamable HTTP)').fill(mcp.url);
    await page.getByRole('button', { name: 'Create connector' }).click();
    await page.getByText('2 tools, 2 to review').waitFor();
    await page.getByLabel('Select find').check();
    await page.getByRole('button', { name: 'Accept 1 selected…' }).click();
    await page.getByRole('button', { name: 'Accept', exact: true }).click();
    await page.getByText('2 tools, 1 to review').waitFor();
    mcp.tools = [toolNamed('find', { description: 'Finds and deletes' }), toolNamed('file')];
    await page.getByRole('button', { name: 'Accept all…' }).click();
    await page.getByRole('button', { name: 'Accept', exact: true }).click();
    await page.getByRole('dialog').getByText('the server changed its tools', { exact: false }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Refresh tools' }).click();
    const tool = page.getByRole('listitem').filter({ hasText: 'suspended' });
    expect(await tool.locator('del').textContent()).toBe('Does find');
    expect(await tool.locator('ins').textContent()).toBe('Finds and deletes');
    await shot(page, 'mcp-tools');
    await page.getByRole('button', { name: 'Accept all…' }).click();
    await page.getByRole('button', { name: 'Accept', exact: true }).click();
    await page.getByText('2 tools, 0 to review').waitFor();
  });
});

test('an MCP server is authorized in another tab, and the authorization is withdrawn', async () => {
  verifies('console.connectors');
  const person = await createPerson(deps);
  const { api, projectID } = person.workspace;
  const auth = { type: 'oauth', owner: 'project' };
  const made = await api.post(`/connectors/${projectID}/mcp`, { name: 'Protected', url: oauth.url, auth });
  expect(made.status).toBe(200);
  await connectorOf(person.workspace, 'restful', {});
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/connectors/${made.body._id}`));
    await page.getByRole('status').filter({ hasText: 'not authorized' }).waitFor();
    // Without a token, the server refuses to list its tools.
    await page.getByRole('alert').waitFor();
    await page.getByRole('button', { name: 'Authorize', exact: true }).click();
    const link = page.getByRole('link', { name: /^Grant access at / });
    const back = await grantAccess((await link.getAttribute('href')) ?? '', 'ada');
    const tab = await page.context().newPage();
    // The product uses another host name, for which this browser has no cookie.
    await tab.goto(`${testRun().url}${back.pathname}${back.search}`);
    await tab.getByRole('heading', { name: 'The MCP server is authorized' }).waitFor();
    await page.getByRole('status').filter({ hasText: 'for the whole project' }).getByText('✓').waitFor();
    await page.getByRole('button', { name: 'Refresh tools' }).click();
    await page.getByText('to review').waitFor();
    await shot(page, 'mcp-authorized');
    await page.getByRole('button', { name: 'Revoke…' }).click();
    await page.getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByRole('status').filter({ hasText: 'not authorized' }).waitFor();
    await page.goto(consoleUrl(person, '/connectors?category=restful'));
    await page.getByText('1 connector', { exact: true }).waitFor();
  });
});

test('an MCP server is connected with a registered OAuth client, which is removed together with its secret', async () => {
  verifies('console.connectors');
  const person = await createPerson(deps);
  const { api, projectID } = person.workspace;
  const secret = 'a secret of the registered client';
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/connectors'));
    await page.getByRole('button', { name: 'New connector…' }).click();
    await page.getByRole('combobox', { name: 'Type' }).selectOption('mcp');
    await page.getByLabel('Name', { exact: true }).fill('Registered');
    await page.getByLabel('Server URL').fill(oauth.url);
    await page.getByLabel('Authentication').selectOption('oauth');
    await page.getByLabel('Id of a registered client').fill('client 7');
    await page.getByLabel('Secret of the registered client').fill(secret);
    await page.getByLabel('Authorization server of the registered client').fill('https://login.example.com');
    await page.getByRole('button', { name: 'Create connector' }).click();
    await page.getByRole('heading', { name: 'Registered', level: 1 }).waitFor();
    const id = page.url().split('/').at(-1) ?? '';
    const authOf = async () => (await api.get(`/connectors/${projectID}/${id}`)).body.config.auth;
    expect(await authOf()).toMatchObject({
      ...{ type: 'oauth', client_id: 'client 7', client_secret: '[stored]', issuer: 'https://login.example.com' },
    });
    await page.getByRole('button', { name: 'Edit…' }).click();
    await page.getByLabel('Id of a registered client').fill('client 8');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(await authOf()).toMatchObject({ client_id: 'client 8', client_secret: '[stored]' });
    await page.getByRole('button', { name: 'Edit…' }).click();
    await page.getByLabel('Id of a registered client').fill('');
    await page.getByLabel('Authorization server of the registered client').fill('');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(await authOf()).toEqual({ type: 'oauth', owner: 'person' });
  });
});
