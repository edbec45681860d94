import { beforeAll, expect, test } from '@jest/globals';
import { createPerson } from '../../auth/auth-server.js';
import { tabTo } from '../../support/browser.js';
import { eventually } from '../../support/eventually.js';
import {
  moveExecution,
  prepareExecution,
  startExecution,
  untilExecution,
  untilListed,
} from '../../support/executions.js';
import { agentThatCalls, flowThatCalls } from '../../support/flows.js';
import { useDeps } from '../../support/fixture.js';
import { useHttpSink } from '../../support/use-http-sink.js';
import { verifies } from '../../support/verifies.js';
import { consoleUrl, screenshots, shot, signIn, withPage } from './chromium.js';
import { signedInConsole } from './console-browser.js';

const deps = useDeps();
const sink = await useHttpSink();
beforeAll(() => console.log(`screenshots in ${screenshots()}`));

test('by keyboard alone: sign in, open a running execution, pause it, watch it pause, resume it, watch it end', async () => {
  verifies('console.executions', 'console.accessible');
  const person = await createPerson(deps);
  const release = sink.hold('/walk-1');
  const id = await startExecution(person.workspace, flowThatCalls([`${sink.url}/walk-1`, `${sink.url}/walk-2`]), {
    goal: 'Walk by keyboard',
  });
  await untilListed(person.workspace, id, 'running');
  await withPage(async (page) => {
    const state = page.locator('[data-part=state]');
    await page.goto(consoleUrl(person));
    await tabTo(page, 'Email address');
    await page.keyboard.type(person.email);
    await tabTo(page, 'Password');
    await page.keyboard.type(person.password);
    await page.keyboard.press('Enter');
    await page.waitForURL(consoleUrl(person));
    await tabTo(page, 'Skip to the content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => (globalThis as any).document.activeElement.id as string)).toBe('main');
    await page.goto(consoleUrl(person));
    await tabTo(page, 'Executions');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Executions' }).waitFor();
    await shot(page, 'executions');
    await tabTo(page, 'Walk by keyboard');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Walk by keyboard' }).waitFor();
    expect(await state.textContent()).toContain('running');
    await tabTo(page, 'Pause');
    await page.keyboard.press('Enter');
    await page.getByText('Asked to pause').waitFor();
    release();
    await page.locator('[data-part=state]', { hasText: 'paused' }).waitFor();
    await shot(page, 'execution-paused');
    expect(await page.locator('.timeline').textContent()).toContain('Call action_1');
    await tabTo(page, 'Resume');
    await page.keyboard.press('Enter');
    await page.locator('[data-part=state]', { hasText: 'completed' }).waitFor();
    await page.getByRole('heading', { name: 'Conclusion' }).waitFor();
    await shot(page, 'execution-completed');
    expect(await page.getByRole('button', { name: /Pause|Resume/ }).count()).toBe(0);
    const link = await page.getByRole('link', { name: 'Open in the Temporal UI' }).getAttribute('href');
    expect(link).toBe((await person.workspace.api.get(`/execute_flow/${id}/monitoring`)).body.temporal_ui_url);
    await tabTo(page, 'Sign out');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
  });
});

test('the page cancels after a confirmation, with the reason, and shows why the execution failed', async () => {
  verifies('console.executions');
  const person = await createPerson(deps);
  const release = sink.hold('/cancel');
  const id = await startExecution(person.workspace, flowThatCalls([`${sink.url}/cancel`]));
  await untilExecution(person.workspace, id, 'running');
  await withPage(
    async (page) => {
      await signIn(page, person, consoleUrl(person, `/executions/${id}`));
      await page.getByRole('link', { name: 'Cancel…' }).click();
      await page.getByRole('heading', { name: 'Cancel this execution?' }).waitFor();
      await shot(page, 'cancel');
      await page.getByRole('link', { name: 'Keep it' }).click();
      expect((await person.workspace.api.get(`/execute_flow/${id}`)).body.status).toBe('running');
      await page.getByRole('link', { name: 'Cancel…' }).click();
      await page.getByLabel('Reason (optional)').fill('asked for by finance');
      await page.getByRole('button', { name: 'Cancel the execution' }).click();
      await page.locator('[data-part=outcome]', { hasText: 'asked for by finance' }).waitFor();
      await page.locator('[data-part=state]', { hasText: 'failed' }).waitFor();
      await shot(page, 'execution-cancelled');
    },
    { withoutScript: true },
  );
  release();
  await untilExecution(person.workspace, id, 'failed');
});

test('the page refuses a transition that the state no longer allows, and shows the current state', async () => {
  verifies('console.executions');
  const person = await createPerson(deps);
  const { execution_id: id } = await prepareExecution(person.workspace, flowThatCalls([]));
  const client = await signedInConsole(person);
  const refused = await client.send(`${client.base}/executions/${id}/pause`);
  expect(refused.status).toBe(409);
  expect(refused.html).toContain('The execution is ready: pause is not possible.');
  for (const path of [
    `/executions/${id}/execute`,
    '/executions/nothing/pause',
    `/executions/${person.userId}/resume`,
  ]) {
    expect([path, (await client.send(client.base + path)).status]).toEqual([path, 404]);
  }
});

test('lists with a filter by state and in pages, and links every run to the Temporal UI', async () => {
  verifies('console.executions');
  const person = await createPerson(deps);
  const flow = flowThatCalls([]);
  const first = await prepareExecution(person.workspace, flow, { goal: 'goal 0' });
  for (let at = 1; at <= 25; at += 1)
    await person.workspace.api.post('/execute_flow', { agentflow_id: first.agentflow_id, goal: `goal ${at}` });
  await moveExecution(person.workspace, first.execution_id, 'execute');
  await eventually(async () =>
    expect((await deps.mongo.collections.executions.findOne({ _id: first.execution_id }))?.status).toBe('completed'),
  );
  const client = await signedInConsole(person);
  const newest = (await client.open(`${client.base}/executions`)).html;
  expect(newest).toContain('25 of 26 shown.');
  expect(newest).not.toContain('>goal 0<');
  const older = /href="([^"]+cursor=[^"]+)"/.exec(newest)?.[1] ?? '';
  expect((await client.open(older)).html).toContain('>goal 0<');
  const completed = (await client.open(`${client.base}/executions?status=completed`)).html;
  expect(completed).toContain('1 of 1 shown.');
  expect(completed).toContain(`href="${deps.temporal.uiLink(`execution/${first.execution_id}`)}"`);
  expect((await client.open(`${client.base}/executions?status=running`)).html).toContain('No execution is running.');
  expect((await client.open(`${client.base}/executions?status=%3Cscript%3E`)).status).toBe(200);
  expect((await client.open(`${client.base}/executions?cursor=x`)).status).toBe(400);
});

test('shows failed steps with their attempts and error, and what waits for a person', async () => {
  verifies('console.executions');
  const person = await createPerson(deps);
  sink.answer('/broken', (_request, res) =>
    res.writeHead(422, { 'content-type': 'application/json' }).end('{"error":"no such customer"}'),
  );
  const failing = await startExecution(person.workspace, flowThatCalls([`${sink.url}/broken`]));
  const waits = await startExecution(person.workspace, {
    name: 'Asks',
    agents: [{ ...agentThatCalls([`${sink.url}/asks`]), is_preview_mode_enabled: true }],
  });
  await untilExecution(person.workspace, failing, 'failed');
  await eventually(async () =>
    expect((await person.workspace.api.get(`/execute_flow/${waits}`)).body.previews).toMatchObject({
      agent_1: { status: 'waiting' },
    }),
  );
  const client = await signedInConsole(person);
  const { steps } = (await person.workspace.api.get(`/execute_flow/${failing}/monitoring`)).body;
  const { error } = steps.find(({ status }: any) => status === 'failed');
  const failed = (await client.open(`${client.base}/executions/${failing}`)).html;
  expect(failed).toContain('Why it failed');
  expect(failed).toContain(String(error).replaceAll('"', '&quot;').replaceAll("'", '&#39;').replaceAll('<', '&lt;'));
  expect(failed).toMatch(/1 attempt/);
  const waiting = (await client.open(`${client.base}/executions/${waits}`)).html;
  expect(waiting).toContain('Waits for a person');
  expect(waiting).toContain(`${sink.url}/asks`);
});

test('a goal with markup is shown as text', async () => {
  const person = await createPerson(deps);
  const goal = `<script>alert(1)</script><img src=x onerror="alert(2)">`;
  const { execution_id: id } = await prepareExecution(person.workspace, flowThatCalls([]), { goal });
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/executions/${id}`));
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(goal);
    await page.goto(consoleUrl(person, '/executions'));
    expect(await page.getByRole('link', { name: goal, exact: true }).textContent()).toBe(goal);
    expect(await page.locator('main img, main script').count()).toBe(0);
  });
});

test('a link on another site opens the page even without the cookie', async () => {
  verifies('console.sign-in');
  const person = await createPerson(deps);
  const site = sink.url.replace('127.0.0.1', 'localhost');
  sink.answer('/link', (_request, res) =>
    res
      .setHeader('content-type', 'text/html')
      .end(`<!doctype html><a href="${consoleUrl(person, '/lifecycles')}">See</a>`),
  );
  await withPage(
    async (page) => {
      await signIn(page, person);
      await page.goto(`${site}/link`);
      await page.getByRole('link', { name: 'See' }).click();
      await page.getByRole('heading', { name: 'Lifecycles' }).waitFor();
    },
    { from: site },
  );
});
