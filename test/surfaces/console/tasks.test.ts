import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { newId } from '../../../src/base/ids.js';
import { createPerson, type Person } from '../../auth/auth-server.js';
import { connectorOf } from '../../support/connectors.js';
import { startExecution, untilExecution } from '../../support/executions.js';
import { useDeps } from '../../support/fixture.js';
import { flowThatCalls } from '../../support/flows.js';
import { bearerClient } from '../../support/gateway.js';
import { startMcpServer, toolNamed, type McpServer } from '../../support/mcp-server.js';
import { createTable } from '../../support/tables.js';
import { useHttpSink } from '../../support/use-http-sink.js';
import { verifies } from '../../support/verifies.js';
import { coworker } from '../platform/schedules/schedules.js';
import { consoleUrl, signIn, withPage } from './chromium.js';
import { clicksInGuide, countClicks } from './clicks.js';

const deps = useDeps();
const sink = await useHttpSink();
let mcp: McpServer;
beforeAll(async () => {
  mcp = await startMcpServer();
});
afterAll(() => mcp.close());

interface Task {
  /** As the table of the guide names it. */
  name: string;
  /** Makes what the person finds. @returns the address where the task begins */
  prepare(person: Person): Promise<string>;
  perform(page: Page, person: Person): Promise<void>;
}

const permitAll = { policy_id: 'all', effect: 'permit' };
const press = (page: Page, name: string | RegExp) =>
  page.getByRole('button', { name, exact: typeof name === 'string' }).click();
const fill = (page: Page, name: string, text: string) => page.getByRole('textbox', { name, exact: true }).fill(text);

async function failedRuns({ workspace }: Person, count: number): Promise<void> {
  sink.answer('/broken', (_request, res) => res.writeHead(422).end('wrong'));
  for (let made = 0; made < count; made += 1) {
    const id = await startExecution(workspace, flowThatCalls([], [`${sink.url}/broken`]), { goal: `order ${made}` });
    await untilExecution(workspace, id, 'failed');
  }
}

async function twoVersions({ workspace: { api } }: Person): Promise<string> {
  const { body } = await api.post('/agentflow', { name: 'Refunds', agents: [{ _id: 'a', title: 'Clerk' }] });
  for (const description of ['First', 'Second']) {
    await api.patch(`/agentflow/${body._id}`, { description });
    expect(await api.post(`/agentflow/${body._id}/promote`, {})).toMatchObject({ status: 200 });
  }
  return `/agentflows/${body._id}`;
}

const ofRuns: readonly Task[] = [
  {
    name: 'See why a run failed, and rerun it from there',
    prepare: async (person) => {
      await failedRuns(person, 1);
      return '/runs';
    },
    perform: async (page) => {
      await page.getByRole('link', { name: 'order 0' }).click();
      await page.getByText('was answered with status 422').first().waitFor();
      const failed = page.url().split('/').at(-1) ?? '';
      await press(page, 'Rerun…');
      expect(await page.getByRole('dialog').getByLabel('Start from').inputValue()).toBe('agent_2');
      await press(page, 'Rerun');
      await page.waitForURL((url) => !url.pathname.endsWith(failed));
    },
  },
  {
    name: 'Rerun all failed runs',
    prepare: async (person) => {
      await failedRuns(person, 3);
      return '/runs?state=failed';
    },
    perform: async (page) => {
      await page.getByLabel('Select all loaded runs').click();
      await press(page, 'Rerun 3…');
      await press(page, 'Rerun 3 runs');
      await page.getByText('3 of 3 processed, 3 succeeded.').waitFor();
    },
  },
  {
    name: 'Decide five waiting calls',
    prepare: async ({ workspace }) => {
      const gateway = bearerClient(workspace.apiKey);
      const ask = { policy_id: 'ask', effect: 'require_approval', tools: ['save-model'] };
      await gateway.put('/v1/policies', { policies: [permitAll, ask] });
      for (const model of ['a', 'b', 'c', 'd', 'e']) await gateway.post('/v1/save-model', { model });
      return '/inbox';
    },
    perform: async (page) => {
      await page.getByRole('list', { name: 'Waiting for a decision' }).getByRole('checkbox').first().click();
      await press(page, 'Mark all 5 alike');
      await press(page, 'Approve 5…');
      await press(page, 'Approve 5 items');
      await page.getByText('5 of 5 processed, 5 succeeded.').waitFor();
    },
  },
];

const ofBuilding: readonly Task[] = [
  {
    name: 'Make two agents with an HTTP call, and try it',
    prepare: async ({ workspace }) => {
      await connectorOf(workspace, 'restful', { base_url: sink.url });
      return '/agentflows/new';
    },
    perform: async (page) => {
      const window = page.getByRole('dialog', { name: /^Skill/ });
      await fill(page, 'Name', 'Orders');
      await fill(page, 'Title', 'Reader');
      await press(page, 'New skill…');
      await window.getByRole('textbox', { name: 'Name of the skill', exact: true }).fill('Shop');
      await window.getByRole('combobox', { name: 'Connector', exact: true }).selectOption('Office · HTTP API');
      await window.getByRole('button', { name: 'Add action', exact: true }).click();
      await window.getByRole('textbox', { name: 'Name', exact: true }).fill('Read orders');
      await window.getByRole('textbox', { name: 'Address', exact: true }).fill('/orders');
      await window.getByRole('button', { name: 'Done', exact: true }).click();
      await press(page, 'Add agent');
      await fill(page, 'Title', 'Checker');
      await press(page, 'Create agentflow');
      await press(page, 'Test run…');
      await page.getByRole('dialog').getByRole('textbox', { name: 'Goal', exact: true }).fill('order 7');
      await press(page, 'Start test run');
      await page.waitForURL(/\/runs\//);
    },
  },
  {
    name: 'Let two tools of an MCP server be called',
    prepare: () => {
      mcp.tools = ['find', 'file', 'drop'].map((name) => toolNamed(name));
      return Promise.resolve('/connectors');
    },
    perform: async (page) => {
      await press(page, 'New connector…');
      await page.getByLabel('Type').selectOption('mcp');
      await page.getByLabel('Name', { exact: true }).fill('Tickets');
      await page.getByLabel('Server URL (Streamable HTTP)').fill(mcp.url);
      await press(page, 'Create connector');
      await page.getByText('3 tools, 3 to review').waitFor();
      await page.getByLabel('Select find').click();
      await page.getByLabel('Select file').click();
      await press(page, 'Accept 2 selected…');
      await press(page, 'Accept');
      await page.getByText('3 tools, 1 to review').waitFor();
    },
  },
  {
    name: 'Make a schedule in another time zone',
    prepare: async ({ workspace }) => {
      await coworker(workspace);
      return '/schedules';
    },
    perform: async (page) => {
      await page.getByRole('link', { name: 'New schedule' }).click();
      await page.getByLabel('Agentflow').selectOption({ index: 1 });
      await fill(page, 'Goal', 'Morning report');
      await fill(page, 'Cron expression', '0 9 * * 1-5');
      await page.getByRole('combobox', { name: 'Time zone' }).fill('Asia/Tokyo');
      await press(page, 'Create schedule');
      await page.getByRole('heading', { level: 1, name: 'Morning report' }).waitFor();
      await page.getByText('Asia/Tokyo').first().waitFor();
    },
  },
  {
    name: 'Compare two versions of an agentflow',
    prepare: twoVersions,
    perform: async (page) => {
      await press(page, 'Versions');
      await page.getByRole('combobox', { name: 'From', exact: true }).selectOption({ label: 'Version 1' });
      await page.getByRole('combobox', { name: 'To', exact: true }).selectOption({ label: 'Version 2' });
      await page.getByRole('region', { name: 'Difference' }).locator('ins').first().waitFor();
    },
  },
  {
    name: 'Go back to the version before',
    prepare: twoVersions,
    perform: async (page, { workspace }) => {
      await press(page, 'Versions');
      await press(page, 'Put version 1 into production…');
      await page.getByRole('dialog').getByRole('button', { name: 'Put into production' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      const { body } = await workspace.api.get('/agentflow');
      expect(body.data).toMatchObject([{ promoted_version: 1 }]);
    },
  },
];

const ofGoverning: readonly Task[] = [
  {
    name: 'Ask a person before mails to others',
    prepare: async ({ workspace }) => {
      await bearerClient(workspace.apiKey).put('/v1/policies', { policies: [permitAll] });
      return '/policies';
    },
    perform: async (page) => {
      await press(page, 'Add rule…');
      const dialog = page.getByRole('dialog', { name: 'Add a rule' });
      await dialog.getByLabel('Id', { exact: true }).fill('outside');
      await dialog.getByLabel('Limit to an operation').selectOption('Send a mail');
      await dialog.getByRole('button', { name: 'Always. Add a condition…' }).click();
      await dialog.getByRole('group', { name: 'When' }).getByLabel('Fact').selectOption('Recipient domains');
      const domains = dialog.getByRole('group', { name: 'Recipient domains' });
      await domains.getByLabel('Comparison').selectOption('contains others than');
      await domains.getByLabel('Values, separated by commas').fill('nordic.example');
      await dialog.getByRole('button', { name: 'Add rule' }).click();
      await page.getByRole('list', { name: 'Rules in force' }).getByText('outside').waitFor();
    },
  },
  {
    name: 'See who changed the rules, and what',
    prepare: async ({ workspace }) => {
      const gateway = bearerClient(workspace.apiKey);
      await gateway.put('/v1/policies', { policies: [permitAll] });
      await gateway.put('/v1/policies', {
        policies: [permitAll, { policy_id: 'no', effect: 'forbid', tools: ['save-model'] }],
      });
      return '/policies';
    },
    perform: async (page) => {
      await page.getByRole('table', { name: 'Versions' }).getByText('Version 2').waitFor();
      await press(page, 'Version 2');
      await page.getByRole('region', { name: 'Difference' }).getByText('"policy_id": "no"').waitFor();
    },
  },
  {
    name: 'Revoke an API key',
    prepare: () => Promise.resolve('/keys'),
    perform: async (page) => {
      await press(page, /^Revoke /);
      await press(page, 'Revoke key');
      await page.getByText('revoked').first().waitFor();
    },
  },
  {
    name: 'Invite a colleague',
    prepare: () => Promise.resolve('/members'),
    perform: async (page) => {
      await press(page, 'Invite…');
      await page.getByLabel('Email address').fill(`${newId()}@example.com`);
      await page.getByRole('checkbox', { name: /^editor/ }).click();
      await press(page, 'Create link');
      await page.getByRole('region', { name: 'Command' }).waitFor();
    },
  },
];

const ofData: readonly Task[] = [
  {
    name: 'Import a CSV file into a table',
    prepare: async ({ workspace }) => {
      const columns = [{ column_name: 'Company', column_type: 'string' as const }];
      const { _id } = await createTable(workspace, columns, 'Leads');
      return `/tables/${_id}`;
    },
    perform: async (page) => {
      await press(page, 'Import CSV…');
      const chosen = page.waitForEvent('filechooser');
      await page.getByLabel('CSV file').click();
      await (
        await chosen
      ).setFiles({ name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from('Company\nFjord\nAcme') });
      await press(page, 'Import 2 rows');
      await page.getByText('2 rows', { exact: true }).waitFor();
    },
  },
  {
    name: 'Ask the context graph, and see why it found something',
    prepare: async ({ workspace }) => {
      const entities = [{ id: 'acme', type: 'Company', name: 'Acme' }];
      expect(await bearerClient(workspace.apiKey).post('/v1/save-context', { entities })).toMatchObject({
        status: 200,
      });
      return '/context';
    },
    perform: async (page) => {
      await page.getByLabel('Question or Cypher').fill('What is Acme?');
      await press(page, 'Search');
      const entity = page.getByRole('table', { name: 'Entities' }).getByRole('row').filter({ hasText: 'Acme' });
      await entity.getByText(/names \d/).waitFor();
    },
  },
  {
    name: 'See what each agentflow cost this week',
    prepare: async ({ workspace }) => {
      const id = await startExecution(workspace, { ...flowThatCalls([]), name: 'Refunds' });
      await untilExecution(workspace, id, 'completed');
      return '/usage';
    },
    perform: async (page) => {
      await press(page, 'Last 7 days');
      const row = page.getByRole('region', { name: 'Credits by agentflow' }).getByRole('row', { name: /Refunds/ });
      await row.waitFor();
      expect(await row.getByRole('cell').allTextContents()).toEqual(['1', expect.stringMatching(/^[1-9]/)]);
    },
  },
];

const tasks = [...ofRuns, ...ofBuilding, ...ofGoverning, ...ofData];
const guide = clicksInGuide();

test('the guide names each task', () => {
  verifies('console.tasks');
  expect([...guide.keys()].sort()).toEqual(tasks.map(({ name }) => name).sort());
});

test.each(tasks)('$name', async ({ name, prepare, perform }) => {
  verifies('console.tasks');
  const person = await createPerson(deps);
  const address = await prepare(person);
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, address));
    const clicks = await countClicks(page);
    await perform(page, person);
    expect(clicks()).toBe(guide.get(name));
  });
});
