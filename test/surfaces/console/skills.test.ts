import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { createPerson, type Person } from '../../auth/auth-server.js';
import { shot } from '../../support/browser.js';
import { connectorOf } from '../../support/connectors.js';
import { useDeps } from '../../support/fixture.js';
import { bearerClient } from '../../support/gateway.js';
import { startMcpServer, toolNamed, type McpServer } from '../../support/mcp-server.js';
import { useHttpSink } from '../../support/use-http-sink.js';
import { verifies } from '../../support/verifies.js';
import { consoleUrl, signIn, violations, withPage } from './chromium.js';

const deps = useDeps();
const sink = await useHttpSink();
let mcp: McpServer;
beforeAll(async () => {
  mcp = await startMcpServer();
});
afterAll(() => mcp.close());

const agents = [{ _id: 'clerk', title: 'Clerk', prompt: { template: 'Look after {{ goal }}' } }];

async function flowOf({ workspace }: Person): Promise<string> {
  const { body } = await workspace.api.post('/agentflow', { name: 'Orders', agents });
  return body._id as string;
}

const parts = (page: Page) => {
  const window = page.getByRole('dialog', { name: /^Skill/ });
  return {
    window,
    text: (name: string) => window.getByRole('textbox', { name, exact: true }),
    choice: (name: string) => window.getByRole('combobox', { name, exact: true }),
    button: (name: string) => window.getByRole('button', { name, exact: true }),
    field: (list: string, number: number) =>
      window.getByRole('group', { name: list }).getByRole('group', { name: `Field ${number}`, exact: true }),
    save: async () => {
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText('Saved.').waitFor();
    },
  };
};

const skillsOf = async ({ workspace }: Person, id: string) =>
  (await workspace.api.get(`/agentflow/${id}`)).body.agents[0].skills;

test('a skill with an HTTP action is made in a form, tried with a governed call, and saved', async () => {
  verifies('console.agentflows.skills', 'console.accessible');
  const person = await createPerson(deps);
  const { projectID } = person.workspace;
  const connector = await connectorOf(person.workspace, 'restful', { base_url: `${sink.url}/${projectID}` });
  await connectorOf(person.workspace, 'mail', { host: 'mail.example.com', from: 'office@example.com' });
  sink.answer(`/${projectID}/orders`, (_request, res) =>
    res.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"7","total":12.5,"lines":[]}'),
  );
  const id = await flowOf(person);
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/agentflows/${id}`));
    const { window, text, choice, button, field, save } = parts(page);
    await page.getByRole('button', { name: 'New skill…' }).click();
    await text('Name of the skill').fill('Shop');
    await choice('Connector').selectOption('Office · HTTP API');
    await window.getByRole('link', { name: 'Open this connector' }).waitFor();
    await button('Add action').click();
    // An HTTP action fits no mail connector.
    expect(await choice('Connector').locator('option').allTextContents()).toEqual(['None', 'Office · HTTP API']);
    await text('Name').fill('Read an order');
    await text('Address').fill('/orders/{{ id }}');
    await button('Add field').first().click();
    const sent = field('Fields that are sent', 1);
    await sent.getByRole('textbox', { name: 'Name' }).fill('id');
    await sent.getByRole('combobox', { name: 'Place' }).selectOption('Path');
    await window.getByText('Test call', { exact: true }).click();
    await text('Test value of id').fill('7/8');
    await window.getByText('GET /orders/7%2F8').waitFor();
    await button('Send test call').click();
    await window.getByText('200', { exact: true }).waitFor();
    await button('Use the fields of this answer').click();
    const answered = field('Fields of the answer', 2);
    expect(await answered.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('total');
    expect(await answered.getByRole('combobox', { name: 'Type' }).inputValue()).toBe('number');
    await window.getByText('Fields from an example answer').click();
    await text('Example answer').fill('{"id": 7');
    await button('Use these fields').click();
    await window.getByText('The text is not valid JSON').waitFor();
    await text('Example answer').fill('{"id": 7, "state": "open"}');
    await button('Use these fields').click();
    expect(await answered.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('state');
    await shot(page, 'skill-window');
    expect(await violations(page)).toEqual([]);
    await button('Done').click();
    await page.getByText('Read an order', { exact: true }).waitFor();
    await save();
  });
  const [skill] = await skillsOf(person, id);
  expect(skill).toMatchObject({ name: 'Shop', connector_id: connector._id, initial_action_id: null });
  expect(skill.actions).toMatchObject([
    {
      ...{ name: 'Read an order', category: 'restful', method: 'GET', endpoint: '/orders/{{ id }}' },
      input_schema: { fields: [{ field_id: 'id', type: 'string', required: true, in: 'path' }] },
      output_schema: {
        fields: [
          { field_id: 'id', type: 'integer' },
          { field_id: 'state', type: 'string' },
        ],
      },
    },
  ]);
  // The test call was a governed act, with the credentials of the connector.
  const { body } = await bearerClient(person.workspace.apiKey).get('/v1/lifecycles?tool=act.http');
  expect(body).toMatchObject({ data: [{ status: 'completed' }] });
});

test('problems are at the fields of their action, and a change of the window is undone', async () => {
  verifies('console.agentflows.skills');
  const person = await createPerson(deps);
  const id = await flowOf(person);
  await withPage(
    async (page) => {
      await signIn(page, person, consoleUrl(person, `/agentflows/${id}`));
      const { window, text, choice, button, field, save } = parts(page);
      await page.getByRole('button', { name: 'New skill…' }).click();
      await text('Name of the skill').fill('Shop');
      await button('Add action').click();
      await text('Name').fill('Pay');
      await choice('Method').selectOption('POST');
      await text('Address').fill('orders');
      await button('Add field').first().click();
      const sent = field('Fields that are sent', 1);
      await sent.getByRole('textbox', { name: 'Name' }).fill('Authorization');
      await sent.getByRole('combobox', { name: 'Place' }).selectOption('Header');
      await button('Done').click();
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText('Some values of this skill are not valid').waitFor();
      await page.getByRole('button', { name: 'Edit… the skill Shop' }).click();
      await window.getByText('Address must be an http(s) URL').waitFor();
      await text('Address').fill('https://shop.example.com/pay');
      await button('Done').click();
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByRole('button', { name: 'Edit… the skill Shop' }).click();
      await window.getByText('Place the header Authorization must not be set by a field').waitFor();
      await sent.getByRole('textbox', { name: 'Name' }).fill('amount');
      await sent.getByRole('combobox', { name: 'Place' }).selectOption('Body');
      await sent.getByRole('combobox', { name: 'Filled by' }).selectOption('A fixed value');
      await sent.getByRole('textbox', { name: 'Fixed value' }).fill('{{ previous.total }}');
      await sent.getByRole('combobox', { name: 'Meaning for rules and approvals' }).selectOption('Amount');
      await text('Description').first().fill('Too much');
      await text('Description').first().press('Control+z');
      expect(await text('Description').first().inputValue()).toBe('');
      await choice('Before the first turn of the model').selectOption('Pay');
      await shot(page, 'skill-window-phone');
      expect(await violations(page)).toEqual([]);
      await button('Done').click();
      await save();
    },
    { width: 375, height: 812, dark: true },
  );
  expect(await skillsOf(person, id)).toMatchObject([
    {
      initial_action_id: 'action_1',
      actions: [
        {
          input_schema: { fields: [{ field_id: 'amount', in: 'body', value: '{{ previous.total }}', mark: 'amount' }] },
        },
      ],
    },
  ]);
});

test('the action of a step has the form of an action of a skill, and expressions fill its fields', async () => {
  verifies('console.agentflows.steps', 'console.accessible');
  const person = await createPerson(deps);
  const { api, projectID } = person.workspace;
  const shop = await connectorOf(person.workspace, 'restful', { base_url: `${sink.url}/${projectID}` });
  const mail = await connectorOf(person.workspace, 'mail', { host: 'mail.example.com', from: 'office@example.com' });
  mcp.tools = [toolNamed('find')];
  const server = await connectorOf(person.workspace, 'mcp', { url: mcp.url });
  const path = `/connectors/${projectID}/${server._id}/tools`;
  const { body: read } = await api.get(path);
  expect(await api.post(`${path}/accept`, { tools: ['find'], hash: read.hash })).toMatchObject({ status: 200 });
  sink.answer(`/${projectID}/orders/7`, (_request, res) =>
    res.writeHead(200, { 'content-type': 'application/json' }).end('{"total":12.5}'),
  );
  const call = (_id: string) => ({
    ...{ _id, title: _id, type: 'action' },
    action: { name: _id, endpoint: 'https://example.com' },
  });
  const { body: made } = await api.post('/agentflow', {
    name: 'Orders',
    agents: [],
    steps: ['Look', 'Write', 'Find'].map(call),
  });
  const id = made._id as string;
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/agentflows/${id}`));
    const text = (name: string) => page.getByRole('textbox', { name, exact: true });
    const choice = (name: string) => page.getByRole('combobox', { name, exact: true });
    const node = (name: string) => page.getByRole('list', { name: 'Agents and steps' }).getByRole('button', { name });
    const sent = page.getByRole('group', { name: 'Fields that are sent' });
    const field = (number: number) => sent.getByRole('group', { name: `Field ${number}`, exact: true });
    await node('Look').click();
    await choice('Connector').selectOption(shop._id);
    await choice('Method').selectOption('GET');
    await text('Address').fill('/orders/{{ id }}');
    for (const [at, name, place] of [
      [1, 'id', 'Path'],
      [2, 'idle', 'Query'],
    ] as const) {
      await sent.getByRole('button', { name: 'Add field' }).click();
      await field(at).getByRole('combobox', { name: 'Expression' }).fill(`"${name}"`);
      // On the way to its name, the second field has the name of the first one.
      await field(at).getByRole('textbox', { name: 'Name' }).pressSequentially(name);
      await field(at).getByRole('combobox', { name: 'Place' }).selectOption(place);
    }
    await sent.getByRole('button', { name: 'Add field' }).click();
    await field(3).getByRole('textbox', { name: 'Name' }).fill('view');
    await field(3).getByRole('combobox', { name: 'Filled by' }).selectOption('A fixed value');
    await field(3).getByRole('textbox', { name: 'Fixed value' }).fill('all');
    await page.getByText('Test call', { exact: true }).click();
    await text('Test value of id').fill('7');
    await page.getByRole('button', { name: 'Send test call' }).click();
    await page.getByRole('button', { name: 'Use the fields of this answer' }).click();
    await shot(page, 'action-step');
    expect(await violations(page)).toEqual([]);
    await node('Write').click();
    await choice('Connector').selectOption(mail._id);
    await sent.getByRole('button', { name: 'Add field' }).click();
    await field(1).getByRole('textbox', { name: 'Name' }).fill('to');
    await field(1).getByRole('combobox', { name: 'Expression' }).fill('nobody');
    await node('Find').click();
    await choice('Connector').selectOption(server._id);
    await choice('Tool').selectOption('find');
    await page.getByRole('button', { name: 'Add input' }).click();
    await text('Name').last().fill('query');
    await page.getByRole('group', { name: 'Input 1' }).getByRole('combobox', { name: 'Expression' }).fill('goal');
    const save = page.getByRole('button', { name: 'Save', exact: true });
    await save.click();
    await page.getByRole('button', { name: 'Write · action is not valid' }).click();
    await field(1).getByText('Expression is not a valid CEL expression').waitFor();
    await field(1).getByRole('combobox', { name: 'Expression' }).fill('goal');
    await node('Look').click();
    await field(2).getByRole('combobox', { name: 'Place' }).selectOption('Header');
    await field(2).getByRole('textbox', { name: 'Name' }).fill('Cookie');
    await save.click();
    await field(2).getByText('Place the header Cookie must not be set by a field').waitFor();
    await field(2).getByRole('textbox', { name: 'Name' }).fill('X-Idle');
    await save.click();
    await page.getByText('Saved.').waitFor();
  });
  const { steps } = (await api.get(`/agentflow/${id}`)).body;
  expect(steps).toMatchObject([
    {
      ...{ connector_id: shop._id, inputs: { id: '"id"', 'X-Idle': '"idle"' } },
      action: {
        ...{ category: 'restful', method: 'GET', endpoint: '/orders/{{ id }}' },
        input_schema: {
          fields: [
            { field_id: 'id', in: 'path' },
            { field_id: 'X-Idle', in: 'header' },
            { field_id: 'view', value: 'all' },
          ],
        },
        output_schema: { fields: [{ field_id: 'total', type: 'number' }] },
      },
    },
    { connector_id: mail._id, inputs: { to: 'goal' }, action: { category: 'mail', endpoint: '' } },
    { connector_id: server._id, inputs: { query: 'goal' }, action: { category: 'mcp', endpoint: 'find' } },
  ]);
  expect(JSON.stringify(steps)).not.toContain('"expression"');
});

test('who may only read sees every value of an agentflow, and why it cannot be changed', async () => {
  verifies('console.agentflows.read-only', 'console.accessible');
  const person = await createPerson(deps);
  const viewer = await createPerson(deps, { role: 'VIEWER', workspace: person.workspace });
  const { api } = person.workspace;
  const fields = [{ field_id: 'id', type: 'string' }];
  const read = {
    name: 'Read an order',
    method: 'GET',
    endpoint: 'https://example.com/{{ id }}',
    input_schema: { fields },
  };
  const { body: made } = await api.post('/agentflow', {
    ...{ name: 'Orders', input_schema: { type: 'object', properties: { orders: { type: 'array' } } } },
    agents: [{ ...agents[0], next_agent: 'pay', skills: [{ name: 'Shop', actions: [read] }] }],
    steps: [
      { _id: 'pay', type: 'action', action: { ...read, name: 'Pay' }, inputs: { id: 'goal' }, next: 'sort' },
      { _id: 'sort', type: 'branch', cases: [{ name: 'now', when: 'goal == "now"', next: 'total' }], otherwise: null },
      { _id: 'total', type: 'set', values: { total: '1 + 1' } },
    ],
  });
  await withPage(async (page) => {
    await signIn(page, viewer, consoleUrl(viewer, `/agentflows/${made._id}`));
    await page.getByText('You can read this agentflow, but not change it.').waitFor();
    await page.getByRole('button', { name: 'Show the skill Shop' }).click();
    const window = page.getByRole('dialog', { name: 'Skill Shop' });
    await window.getByText('That requires the role EDITOR').waitFor();
    const address = window.getByRole('textbox', { name: 'Address' });
    expect([await address.inputValue(), await address.isEditable()]).toEqual([read.endpoint, false]);
    expect(await window.getByRole('combobox', { name: 'Method' }).isDisabled()).toBe(true);
    await window.getByRole('textbox', { name: 'Name', exact: true }).first().press('Control+z');
    await shot(page, 'skill-read-only');
    expect(await violations(page)).toEqual([]);
    await window.getByRole('button', { name: 'Done' }).click();
    const main = page.getByRole('main');
    for (const name of ['pay · action', 'sort · branch', 'total · set']) {
      await page.getByRole('list', { name: 'Agents and steps' }).getByRole('button', { name }).click();
      await page
        .getByRole('group', { name: /^(Action|Branch|Set) / })
        .first()
        .waitFor();
      const editable =
        'input:not([readonly]):not([type=checkbox]), textarea:not([readonly]), select:enabled, [type=checkbox]:enabled';
      expect([name, await main.locator(editable).count()]).toEqual([name, 0]);
      expect([name, await main.getByRole('button', { name: /^(Add|Remove|Save|Undo|Paste|New)/ }).count()]).toEqual([
        name,
        0,
      ]);
    }
    await shot(page, 'step-read-only');
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'JSON', exact: true }).click();
    expect(await page.getByRole('textbox', { name: 'Agentflow as JSON' }).isEditable()).toBe(false);
  });
});

test('accepted tools of an MCP server, operations of mail and agentflows become actions', async () => {
  verifies('console.agentflows.skills');
  const person = await createPerson(deps);
  const { api, projectID } = person.workspace;
  mcp.tools = [toolNamed('find', { annotations: { readOnlyHint: true } }), toolNamed('drop')];
  const server = await connectorOf(person.workspace, 'mcp', { url: mcp.url });
  await connectorOf(person.workspace, 'mail', { host: 'mail.example.com', from: 'office@example.com' });
  const path = `/connectors/${projectID}/${server._id}/tools`;
  const { body: read } = await api.get(path);
  expect(await api.post(`${path}/accept`, { tools: ['find'], hash: read.hash })).toMatchObject({ status: 200 });
  const other = await flowOf(person);
  const id = await flowOf(person);
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/agentflows/${id}`));
    const { window, text, choice, button, save } = parts(page);
    await page.getByRole('button', { name: 'New skill…' }).click();
    await text('Name of the skill').fill('Search');
    await choice('Connector').selectOption('Office · MCP server');
    const tools = window.getByRole('group', { name: 'Tools of the server' });
    await tools.getByText('1 more can be accepted').waitFor();
    await tools.getByText('Only reads').waitFor();
    await tools.getByRole('checkbox', { name: 'find' }).check();
    await shot(page, 'skill-tools');
    await button('Done').click();
    await page.getByRole('button', { name: 'New skill…' }).click();
    await text('Name of the skill').fill('Office');
    await choice('Connector').selectOption('Office · Mail');
    await button('Add action').click();
    await window.getByText('It has the fields to (required), cc').waitFor();
    await text('Name').fill('Write');
    await button('Add an agentflow').click();
    await window.getByRole('combobox', { name: 'Agentflow' }).selectOption(other);
    await window
      .getByRole('group', { name: 'Action New action' })
      .getByRole('textbox', { name: 'Name', exact: true })
      .fill('Hand on');
    await button('Done').click();
    await save();
    // What follows the removed action is forgotten with it.
    await page.getByRole('button', { name: 'Edit… the skill Office' }).click();
    await window.locator('summary', { hasText: 'Write' }).click();
    await button('Remove action Write').click();
    await button('Done').click();
    await save();
  });
  expect(await skillsOf(person, id)).toMatchObject([
    { name: 'Search', actions: [{ name: 'find', category: 'mcp', endpoint: 'find' }] },
    { name: 'Office', actions: [{ name: 'Hand on', category: 'agentflow', endpoint: other }] },
  ]);
});

test('actions are imported from a curl line without its credentials, and from an OpenAPI document', async () => {
  verifies('console.agentflows.import', 'console.accessible');
  const person = await createPerson(deps);
  await connectorOf(person.workspace, 'restful', { base_url: 'https://shop.example.com/v1' });
  const id = await flowOf(person);
  const paths = Object.fromEntries(
    Array.from({ length: 12 }, (_, at) => [`/item-${at}/{id}`, { get: { summary: `Read item ${at}` } }]),
  );
  const document = { openapi: '3.1.0', servers: [{ url: 'https://shop.example.com/v1' }], paths };
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/agentflows/${id}`));
    const { text, choice, button, save } = parts(page);
    await page.getByRole('button', { name: 'New skill…' }).click();
    await text('Name of the skill').fill('Shop');
    await choice('Connector').selectOption('Office · HTTP API');
    const window = page.getByRole('dialog', { name: 'Import actions' });
    const source = window.getByRole('textbox', { name: 'OpenAPI document (JSON or YAML), or a curl line' });
    await button('Import actions…').click();
    await source.fill('wget https://example.com');
    await window.getByRole('button', { name: 'Read' }).click();
    await window.getByText('must be an OpenAPI document').waitFor();
    await source.fill(`curl https://other.example.com/pay -H 'X-Api-Key: k3y' --json '{"amount": 5}'`);
    await window.getByRole('button', { name: 'Read' }).click();
    await window.getByText('Credentials belong into the connector').waitFor();
    await window.getByText('is not below https://shop.example.com/v1').waitFor();
    expect(await violations(page)).toEqual([]);
    await window.getByRole('button', { name: 'Add 1 action' }).click();
    await button('Import actions…').click();
    await window
      .getByLabel('Or a file')
      .setInputFiles({
        ...{ name: 'shop.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(document)) },
      });
    await window.getByText('12 operations found.').waitFor();
    await window.getByRole('searchbox', { name: 'Find an operation' }).fill('Item-11');
    await window.getByRole('checkbox', { name: /^Read item 11/ }).check();
    await shot(page, 'skill-import');
    await window.getByRole('button', { name: 'Add 1 action' }).click();
    await button('Done').click();
    await save();
  });
  const [skill] = await skillsOf(person, id);
  expect(skill.actions).toMatchObject([
    {
      ...{ name: 'POST /pay', method: 'POST', endpoint: 'https://other.example.com/pay' },
      input_schema: { fields: [{ field_id: 'amount', type: 'integer', in: 'body' }] },
    },
    { name: 'Read item 11', method: 'GET', endpoint: '/item-11/{{ id }}' },
  ]);
  expect(JSON.stringify(skill)).not.toContain('k3y');
});
