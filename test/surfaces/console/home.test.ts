import { expect, test } from '@jest/globals';
import { newId } from '../../../src/base/ids.js';
import { createPerson, type Person } from '../../auth/auth-server.js';
import { shot } from '../../support/browser.js';
import { startExecution, untilExecution } from '../../support/executions.js';
import { useDeps } from '../../support/fixture.js';
import { flowThatCalls } from '../../support/flows.js';
import { seedExecution } from '../../support/seeded-executions.js';
import { verifies } from '../../support/verifies.js';
import { consoleUrl, signIn, violations, withPage } from './chromium.js';

const deps = useDeps();
const day = 86_400;

const ofPerson = ({ workspace, userId }: Person) => ({ ...workspace, userId });

function failed(person: Person, coworker: { id: string; name: string }, at: number) {
  const created_at = Date.now() / 1000 - at;
  return seedExecution(deps, ofPerson(person), {
    ...{
      coworker,
      goal: 'order 88201',
      status: 'failed',
      created_at,
      started_at: created_at,
      end_time: created_at + 9,
    },
    execution_context: { failure: { code: 'unavailable', message: 'the database is down', reason: 'step_failed' } },
  });
}

test('what failed and what waits comes first, with its agentflow, and leads to its list', async () => {
  verifies('console.home');
  const person = await createPerson(deps);
  const [refund, delivery] = [
    { id: newId(), name: 'Refund approvals' },
    { id: newId(), name: 'Late deliveries' },
  ];
  await failed(person, refund, 3 * day);
  for (let at = 0; at < 37; at += 1) await failed(person, at % 2 === 0 ? refund : delivery, 60 + at);
  const asking = flowThatCalls(['http://127.0.0.1:9/never']);
  const waiting = await startExecution(
    person.workspace,
    { ...asking, agents: asking.agents.map((agent) => ({ ...agent, is_preview_mode_enabled: true })) },
    { goal: 'Send the letter' },
  );
  await untilExecution(person.workspace, waiting, { execution_context: { waiting_for: { kind: 'preview' } } });
  await withPage(async (page) => {
    await signIn(page, person);
    const failures = page.getByRole('region', { name: 'Failed in the last 24 hours' });
    await failures.getByRole('link', { name: 'Failed in the last 24 hours: 37' }).waitFor();
    const rows = failures.getByRole('listitem');
    expect(await rows.count()).toBe(5);
    // Two runs with the same goal differ by their agentflow.
    expect(await rows.nth(0).innerText()).toContain('Refund approvals');
    expect(await rows.nth(1).innerText()).toContain('Late deliveries');
    expect(await rows.nth(0).innerText()).toContain('the database is down');
    const waits = page.getByRole('region', { name: 'Waiting for a decision' });
    await waits.getByRole('link', { name: 'Waiting for a decision: 1' }).waitFor();
    expect(await page.locator('main').getByRole('region').first().getAttribute('aria-label')).toBe(
      'Failed in the last 24 hours',
    );
    expect(await violations(page)).toEqual([]);
    await shot(page, 'home');
    await failures.getByRole('link', { name: 'Failed in the last 24 hours: 37' }).click();
    await page.waitForURL(/runs\?state=failed&since=24h$/);
    await page.getByText('37 runs', { exact: true }).waitFor();
    await page.goBack();
    await waits.getByRole('link', { name: 'Waiting for a decision: 1' }).click();
    await page.getByText('1 item, oldest first').waitFor();
    await page.goBack();
    await waits.getByRole('link', { name: 'Send the letter' }).click();
    await page.locator('.agents li[aria-current=step]').getByText('waiting').waitFor();
  });
});

test('what is fine takes one line, and a store that is away is named there', async () => {
  verifies('console.home');
  const person = await createPerson(deps);
  await withPage(async (page) => {
    await signIn(page, person);
    const state = page.getByRole('list', { name: 'State' });
    await state.getByText('Service and stores work').waitFor();
    await state.getByRole('link', { name: /^Remaining credits: [\d.,]+$/ }).waitFor();
    await state.getByRole('link', { name: 'Waiting for a decision: 0' }).waitFor();
    await state.getByRole('link', { name: 'Failed in the last 24 hours: 0' }).waitFor();
    await page.getByText('No runs were created and no credits were charged in this time.').waitFor();
    expect(await page.locator('main').getByRole('heading', { level: 2 }).allInnerTexts()).toEqual([
      'First steps',
      'Last 24 hours',
    ]);
    await shot(page, 'home-empty');
    await page.route(/\/readyz$/, (route) =>
      route.fulfill({
        json: { status: 'unavailable', dependencies: { mongodb: 'up', neo4j: 'down' }, indexes: 'ready' },
      }),
    );
    await page.reload();
    await state.getByRole('alert').getByText('Neo4j cannot be reached').waitFor();
    await state.getByRole('link', { name: 'Failed in the last 24 hours: 0' }).click();
    await page.waitForURL(/runs\?state=failed&since=24h$/);
    await page.getByText('No runs match these filters.').waitFor();
  });
});

test('figures are shown for a day, a week or a month, and each bar leads to the runs of its time', async () => {
  verifies('console.home.figures');
  const person = await createPerson(deps);
  const flow = { id: newId(), name: 'Refund approvals' };
  await failed(person, flow, 60);
  await failed(person, flow, 5 * day);
  await failed(person, flow, 5 * day + 1);
  await withPage(async (page) => {
    await signIn(page, person);
    const runs = page.getByRole('group', { name: /^Runs over time/ });
    await runs.getByRole('link', { name: /: Created 1, Failed 1$/ }).waitFor();
    // The axis of a count has no fractions.
    expect(await runs.locator('text').allTextContents()).not.toContain('0.5');
    await page.getByText('Hourly figures').click();
    expect(await page.getByRole('row').count()).toBeGreaterThan(24);
    await page.getByRole('button', { name: 'Last 7 days' }).click();
    await page.waitForURL(/\?since=7d$/);
    await page.getByRole('heading', { name: 'Last 7 days' }).waitFor();
    await page.getByRole('region', { name: 'Runs' }).getByText('3', { exact: true }).first().waitFor();
    await shot(page, 'home-week');
    await runs.getByRole('link', { name: /: Created 2, Failed 2$/ }).click();
    await page.getByText('2 runs', { exact: true }).waitFor();
    // The address can be shared, and the filter says which time it is.
    await page.reload();
    await page.getByText('2 runs', { exact: true }).waitFor();
    const created = page.getByRole('combobox', { name: 'Created' });
    expect(await created.locator('option:checked').innerText()).toMatch(/\d{4}/);
    await page.goto(consoleUrl(person, '?since=30d'));
    await page.getByText('Daily figures').click();
    await page.getByRole('region', { name: 'Figures' }).getByRole('link').last().click();
    await page.getByText('1 run', { exact: true }).waitFor();
  });
});

test('what could not be read can be read again', async () => {
  verifies('console.try-again');
  const person = await createPerson(deps);
  await failed(person, { id: newId(), name: 'Refund approvals' }, 60);
  await withPage(async (page, complaints) => {
    await signIn(page, person, consoleUrl(person, '/members'));
    await page.getByText('(you)').first().waitFor();
    await page.route(/execution_flows/, (route) =>
      route.fulfill({ status: 503, json: { error: 'unavailable', error_description: 'the store is away' } }),
    );
    await page.getByRole('navigation').getByRole('link', { name: 'Runs' }).click();
    await page.getByRole('alert').getByText('The store is away').waitFor();
    await page.unroute(/execution_flows/);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('link', { name: 'order 88201' }).waitFor();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    complaints.splice(0);
  });
});
