import { expect, test } from '@jest/globals';
import { createPerson, type Person } from '../../auth/auth-server.js';
import { shot } from '../../support/browser.js';
import { sizeOf } from '../../requirements/full-forms.js';
import { moveExecution, prepareExecution, startExecution, untilExecution } from '../../support/executions.js';
import { beginStream, chunk, endStream, send, startFakeModel, usageChunk } from '../../support/fake-model.js';
import { useDeps } from '../../support/fixture.js';
import { flowThatCalls } from '../../support/flows.js';
import { ownProduct } from '../../support/own-product.js';
import { refusal } from '../../support/refusal.js';
import { seedExecution } from '../../support/seeded-executions.js';
import { useHttpSink } from '../../support/use-http-sink.js';
import { verifies } from '../../support/verifies.js';
import { consoleUrl, signIn, violations, withPage } from './chromium.js';

const deps = useDeps();
const sink = await useHttpSink();

const overrides: Record<string, string> = {};
const product = ownProduct(overrides);

const ofPerson = ({ workspace, userId }: Person) => ({ ...workspace, userId });
const cancelled = { failure: { code: 'cancelled', message: 'by Ada', reason: 'cancelled', by: null, step_id: null } };
const waiting = { waiting_for: { kind: 'approval', agent_id: 'a', step_id: 'a:1', approval_id: 'x' } };

test('runs are filtered by state, time and text, and the address keeps the filter', async () => {
  verifies('console.executions', 'executions.filters');
  const person = await createPerson(deps);
  const seed = (goal: string, fields: object) => seedExecution(deps, ofPerson(person), { goal, ...fields });
  await seed('broken invoice', { status: 'failed', execution_context: { failure: { reason: 'step_failed' } } });
  await seed('stopped invoice', { status: 'failed', execution_context: cancelled });
  await seed('held (letter)', { status: 'running', execution_context: waiting });
  await seed('busy letter', { status: 'running' });
  await seed('old letter', { created_at: Date.now() / 1000 - 2 * 86_400 });
  const list = async (query: string) =>
    (await person.workspace.api.get(`/${person.workspace.projectID}/execution_flows?${query}`)).body.data.map(
      ({ goal }: { goal: string }) => goal,
    );
  expect(await list('state=failed')).toEqual(['broken invoice']);
  expect(await list('state=cancelled')).toEqual(['stopped invoice']);
  expect(await list('state=waiting')).toEqual(['held (letter)']);
  expect(await list('state=running')).toEqual(['busy letter']);
  expect(await list('state=completed')).toEqual(['old letter']);
  expect(await list('text=D%20%28L')).toEqual(['held (letter)']);
  expect(await list('text=seeded&state=failed')).toEqual(['broken invoice']);
  expect(await list(`from=${Date.now() / 1000 - 3600}&text=letter`)).toEqual(['busy letter', 'held (letter)']);
  for (const bad of ['text=%00', `text=${'x'.repeat(101)}`, 'text=', 'state=done', 'from=soon', 'to=-1', 'fields=none'])
    expect([
      bad,
      await person.workspace.api.get(`/${person.workspace.projectID}/execution_flows?${bad}`),
    ]).toMatchObject([bad, refusal(400, 'invalid_request')]);
  expect(await list('text=%5C.*%24%5B')).toEqual([]);
  expect(await list(`to=${Date.now() / 1000 - 3600}&fields=summary`)).toEqual(['old letter']);
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/runs?state=waiting'));
    await page.getByRole('link', { name: 'held (letter)' }).waitFor();
    await page.getByText('1 run', { exact: true }).waitFor();
    await page.getByRole('combobox', { name: 'State' }).selectOption('cancelled');
    await page.getByRole('link', { name: 'stopped invoice' }).waitFor();
    await page.waitForURL(/\?state=cancelled$/);
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByLabel('Goal, agentflow or id').fill('LETTER');
    await page.getByText('3 runs', { exact: true }).waitFor();
    await page.getByRole('combobox', { name: 'Created' }).selectOption('24h');
    await page.getByText('2 runs', { exact: true }).waitFor();
    await page.reload();
    await page.getByText('2 runs', { exact: true }).waitFor();
    expect(await page.getByLabel('Goal, agentflow or id').inputValue()).toBe('LETTER');
    await page.locator('summary', { hasText: 'Columns' }).click();
    await page.getByRole('checkbox', { name: 'Started by' }).check();
    await page.getByRole('columnheader', { name: 'Started by' }).waitFor();
    await shot(page, 'runs');
  });
});

test('runs are filtered by version, starter and schedule, and the list shows each as a column', async () => {
  verifies('console.executions', 'executions.filters');
  const person = await createPerson(deps);
  const { projectID, api } = person.workspace;
  const made = await api.post('/agentflow', { ...flowThatCalls([]), name: 'Letters' });
  const coworker = { id: made.body._id as string, name: 'Letters' };
  await api.post(`/agentflow/${coworker.id}/promote`, {});
  const planned = await api.post('/schedule/coworker', {
    ...{ coworker_id: coworker.id, goal: 'every night', type: 'interval', frequency: 86_400 },
  });
  const schedule = planned.body._id as string;
  const seed = (goal: string, fields: object) => seedExecution(deps, ofPerson(person), { goal, coworker, ...fields });
  await seed('promoted', { flow: { agentflow_version: 1 } });
  await seed('by somebody else', { executed_by: { _id: 'ada', metadata: null, name: 'Ada', type: 'manual' } });
  await seed('planned', { schedule });
  const goals = async (query: string) =>
    (await api.get(`/${projectID}/execution_flows?${query}`)).body.data.map(({ goal }: { goal: string }) => goal);
  expect(await goals(`agentflow_id=${coworker.id}&agentflow_version=1`)).toEqual(['promoted']);
  expect(await goals('executed_by=ada')).toEqual(['by somebody else']);
  expect(await goals(`schedule_id=${schedule}&executed_by=${person.userId}`)).toEqual(['planned']);
  for (const bad of ['agentflow_version=1', `agentflow_id=${coworker.id}&agentflow_version=0`])
    expect(await api.get(`/${projectID}/execution_flows?${bad}`)).toMatchObject(refusal(400, 'invalid_request'));
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/runs?agentflow=${coworker.id}&version=1`));
    await page.getByText('1 run', { exact: true }).waitFor();
    await page.locator('summary', { hasText: 'Columns' }).click();
    for (const column of ['Version', 'Started by', 'Schedule'])
      await page.getByRole('checkbox', { name: column }).check();
    await page.getByRole('row').filter({ hasText: 'promoted' }).getByRole('cell', { name: '1', exact: true }).waitFor();
    await page.getByRole('combobox', { name: 'Agentflow' }).selectOption('');
    await page.getByText('3 runs', { exact: true }).waitFor();
    expect(await page.getByRole('combobox', { name: 'Version' }).count()).toBe(0);
    await page.getByRole('combobox', { name: 'Schedule' }).selectOption('every night');
    await page.waitForURL(new RegExp(`\\?schedule=${schedule}$`));
    await page.getByText('1 run', { exact: true }).waitFor();
    await page.getByRole('row').getByRole('link', { name: 'every night' }).waitFor();
    await page.getByRole('combobox', { name: 'Started by' }).selectOption(person.userId);
    await page.reload();
    await page.getByText('1 run', { exact: true }).waitFor();
    expect(await page.getByRole('combobox', { name: 'Started by' }).inputValue()).toBe(person.userId);
    await page.goto(consoleUrl(person, '/runs?starter=ada'));
    await page.getByRole('row').filter({ hasText: 'by somebody else' }).getByRole('cell', { name: 'Ada' }).waitFor();
    expect(await violations(page)).toEqual([]);
  });
});

test('the list shows new runs and new states by itself, and many of 10,000 runs can be scrolled', async () => {
  verifies('console.runs.many', 'lists.counted-to-10000');
  const person = await createPerson(deps);
  const first = await seedExecution(deps, ofPerson(person), { goal: 'the first of all', created_at: 1_700_000_000 });
  // Another digit than that of the first run, so that no copy has its id.
  const prefix = first._id.slice(0, -6) + (first._id.at(-6) === '0' ? '1' : '0');
  const copies = Array.from({ length: 10_000 }, (_, at) => {
    const id = `${prefix}${String(at).padStart(5, '0')}`;
    return { ...first, _id: id, execution_id: id, goal: `run ${at}`, created_at: 1_700_000_001 + at };
  });
  await deps.mongo.collections.executions.insertMany(copies);
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/runs'));
    await page.getByRole('link', { name: 'run 9999', exact: true }).waitFor();
    await page.getByText('More than 10,000 runs').waitFor();
    const { _id } = await seedExecution(deps, ofPerson(person), { goal: 'just now', status: 'running' });
    const row = page.getByRole('row').filter({ hasText: 'just now' });
    await row.getByText('running').waitFor();
    await deps.mongo.collections.executions.updateOne(
      { _id },
      { $set: { status: 'completed', changed_at: Date.now() } },
    );
    await row.getByText('completed').waitFor();
    const last = page.getByRole('link', { name: /^(run \d+|the first of all)$/ }).last();
    /** How many runs are newer than the last one that the page contains. */
    const scrolled = async () => 9999 - Number(/\d+/.exec(await last.innerText())?.[0] ?? -1);
    const table = page.getByRole('table');
    while ((await scrolled()) < sizeOf('SCROLLED_RUNS')) {
      await table.evaluate((element: any) => element.scrollTo(0, element.scrollHeight));
      expect(await page.getByRole('row').count()).toBeLessThan(100);
      await page.waitForTimeout(20);
    }
  });
  // The stand-in for MongoDB reads all records of a collection for most queries.
  await deps.mongo.collections.executions.deleteMany({ projectID: person.workspace.projectID });
});

test('several runs are cancelled with a reason, and each says what became of it', async () => {
  verifies('console.runs.bulk', 'console.executions');
  const person = await createPerson(deps);
  const { execution_id: open } = await prepareExecution(person.workspace, flowThatCalls([]), { goal: 'still open' });
  const { execution_id: gone } = await prepareExecution(person.workspace, flowThatCalls([]), { goal: 'already over' });
  await moveExecution(person.workspace, gone, 'cancel');
  await untilExecution(person.workspace, gone, 'failed');
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/runs'));
    await page.getByRole('link', { name: 'still open' }).waitFor();
    await page.getByLabel('Select all loaded runs').check();
    await page.getByRole('button', { name: 'Cancel 2…' }).click();
    await page.getByLabel('Reason (optional)').fill('asked for by finance');
    expect((await person.workspace.api.get(`/execute_flow/${open}`)).body.status).toBe('ready');
    await page.getByRole('button', { name: 'Cancel 2 runs' }).click();
    await page.getByText('2 of 2 processed, 1 succeeded.').waitFor();
    await page.getByRole('listitem').filter({ hasText: 'already over' }).getByText('is failed').waitFor();
    await shot(page, 'runs-bulk');
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('row').filter({ hasText: 'still open' }).getByText('cancelled').waitFor();
  });
  const { body } = await person.workspace.api.get(`/execute_flow/${open}`);
  expect(JSON.stringify(body.execution_context.failure)).toContain('asked for by finance');
});

test('several runs are rerun with a reason, and each leads to its new run', async () => {
  verifies('console.runs.bulk', 'console.run.rerun');
  const person = await createPerson(deps);
  const { api, projectID } = person.workspace;
  const over = await startExecution(person.workspace, flowThatCalls([]), { goal: 'over' });
  await untilExecution(person.workspace, over, 'completed');
  await prepareExecution(person.workspace, flowThatCalls([]), { goal: 'still open' });
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/runs'));
    await page.getByRole('link', { name: 'still open' }).waitFor();
    await page.getByLabel('Select all loaded runs').check();
    await page.getByRole('button', { name: 'Rerun 2…' }).click();
    await page.getByLabel('Reason (optional)').fill('the register was wrong');
    await page.getByRole('button', { name: 'Rerun 2 runs' }).click();
    await page.getByText('2 of 2 processed, 1 succeeded.').waitFor();
    await page.getByRole('listitem').filter({ hasText: 'still open' }).getByText('is ready').waitFor();
    await page.getByRole('link', { name: 'View new run' }).click();
    await page.getByText('the register was wrong').waitFor();
  });
  const { data } = (await api.get(`/${projectID}/execution_flows`)).body;
  expect(data.map((run: any) => run.execution_context)).toContainEqual(
    expect.objectContaining({ rerun_of: over, rerun_reason: 'the register was wrong' }),
  );
});

test('a run is executed, followed, paused and resumed on its page, without a reload', async () => {
  verifies('console.executions', 'console.run');
  const person = await createPerson(deps);
  const path = `/${person.workspace.projectID}`;
  const release = sink.hold(`${path}/one`);
  const goal = `<script>alert(1)</script><img src=x onerror="alert(2)">`;
  const flow = flowThatCalls([`${sink.url}${path}/one`, `${sink.url}${path}/two`]);
  const { execution_id: id } = await prepareExecution(person.workspace, flow, { goal });
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/runs/${id}`));
    const state = (text: string) => page.getByRole('status').filter({ hasText: text }).waitFor();
    await state('ready');
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(goal);
    await page.getByRole('button', { name: 'Execute…' }).click();
    await page.getByRole('button', { name: 'Execute run' }).click();
    await state('running');
    const fact = (name: string) => page.locator(`dt:text-is("${name}") + dd`);
    // It ticks, although nothing happens.
    await fact('Duration')
      .filter({ hasText: /^([3-9]|\d\d+) s$/ })
      .waitFor();
    expect(await fact('Created').locator('time').getAttribute('title')).toMatch(
      /day, .*; \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/,
    );
    await fact('Credits').getByText('1', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Pause…' }).click();
    await page.getByLabel('Reason (optional)').fill('a look at it');
    await page.getByRole('button', { name: 'Pause run' }).click();
    await page.getByRole('button', { name: 'Pause run' }).waitFor({ state: 'detached' });
    release();
    await state('paused');
    await page.getByRole('button', { name: 'Resume…' }).click();
    await page.getByRole('button', { name: 'Resume run' }).click();
    await state('completed');
    await page.locator('.lists-rows summary', { hasText: 'agent completed' }).waitFor();
    expect(await page.getByRole('button', { name: /Pause|Resume|Cancel/ }).count()).toBe(0);
    await page.getByText('Details', { exact: true }).click();
    const link = await page.getByRole('link', { name: 'Open in the Temporal UI' }).getAttribute('href');
    expect(link).toBe((await person.workspace.api.get(`/execute_flow/${id}/monitoring`)).body.temporal_ui_url);
    const bar = await page.locator('.waterfall-bar').first().getAttribute('title');
    expect(bar).toMatch(/^Attempt 1: \d.+ to \d.+, [\d.]+ (ms|s)$/);
    await page.locator('.waterfall button', { hasText: 'model turn' }).first().click();
    await page.getByRole('heading', { name: 'Attempts' }).waitFor();
    await page.getByRole('region', { name: 'Message 2 of the prompt: user' }).getByText('Tell what happened').waitFor();
    await page.getByRole('region', { name: 'Output' }).getByText('input_tokens').waitFor();
    await shot(page, 'run-step');
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'Attempts' }).waitFor({ state: 'detached' });
    expect(await page.locator('main img, main script').count()).toBe(0);
    await shot(page, 'run-completed');
  });
});

test('a failed run shows why, with each attempt and what it sent, and the conclusion as Markdown without its HTML', async () => {
  verifies('console.run', 'console.run.step');
  const person = await createPerson(deps);
  sink.answer('/broken', (_request, res) =>
    res.writeHead(422, { 'content-type': 'application/json' }).end('{"error":"no such customer"}'),
  );
  const id = await startExecution(person.workspace, flowThatCalls([`${sink.url}/broken`]));
  await untilExecution(person.workspace, id, 'failed');
  const text = `**Done**: see [the list](https://example.test/list), not [this](javascript:alert(1)).

<img src=x onerror=alert(1)>

| Month | Refunds |
|---|---|
| May | 12 |`;
  const concluded = await seedExecution(deps, ofPerson(person), {
    goal: 'with a conclusion',
    conclusion: { conclusion: text, links: [], created_at: Date.now() / 1000 },
  });
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/runs/${id}`));
    await page.getByRole('heading', { name: 'Failure reason' }).waitFor();
    await page.getByText('no such customer').first().waitFor();
    await page.getByText('1 attempt', { exact: false }).first().waitFor();
    expect(await page.locator('.waterfall-bar').first().getAttribute('title')).toContain('no such customer');
    await page.locator('.waterfall button').first().click();
    const drawer = page.getByRole('dialog');
    await drawer.getByRole('heading', { name: 'Response: 422' }).waitFor();
    await drawer.getByRole('region', { name: 'Body of the response' }).getByText('no such customer').waitFor();
    await drawer.getByText(`POST ${sink.url}/broken`).waitFor();
    await drawer.getByRole('region', { name: 'Headers of the request' }).getByText('user-agent').waitFor();
    expect(await violations(page)).toEqual([]);
    await shot(page, 'run-step-failed');
    await drawer.getByRole('link', { name: 'Audit entries of the call' }).click();
    await page.waitForURL(/\/audit\?lifecycle_id=/);
    await page.getByRole('cell', { name: 'Call a service over HTTP' }).first().waitFor();
    await page.goto(consoleUrl(person, `/runs/${concluded._id}`));
    await page.locator('.markdown-rendered strong', { hasText: 'Done' }).waitFor();
    expect(await page.getByRole('link', { name: 'the list' }).getAttribute('href')).toBe('https://example.test/list');
    expect(await page.locator('.markdown-rendered a[href^="javascript"], .markdown-rendered img').count()).toBe(0);
    await page.getByRole('cell', { name: '12' }).waitFor();
  });
});

test('without data the list offers a command, and a failing API shows its text', async () => {
  verifies('console.app');
  const person = await createPerson(deps);
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/runs'));
    await page.getByText('This project has no runs yet').waitFor();
    expect(await page.getByRole('region', { name: 'Command' }).textContent()).toContain('/execute_flow');
    await page.route('**/execution_flows?**', (route) =>
      route.fulfill({
        status: 403,
        json: { error: 'access_denied', error_description: 'the register is closed', lifecycle_id: 'l1' },
      }),
    );
    await page.getByRole('combobox', { name: 'State' }).selectOption('failed');
    await page.getByRole('alert').filter({ hasText: 'The register is closed' }).waitFor();
    await page.getByRole('link', { name: 'Lifecycle l1' }).waitFor();
    await page.unroute('**/execution_flows?**');
    await page.getByText('No runs match these filters.').waitFor();
    await page.goto(consoleUrl(person, `/runs/${person.userId}`));
    await page.getByRole('alert').waitFor();
  });
});

test('a sign-in that ends on the open page is renewed there, and nothing typed is lost', async () => {
  verifies('console.sign-in', 'console.app');
  const person = await createPerson(deps);
  const { execution_id: id } = await prepareExecution(person.workspace, flowThatCalls([]));
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/runs/${id}`));
    await page.getByRole('button', { name: 'Cancel…' }).click();
    await page.getByLabel('Reason (optional)').fill('typed before');
    await page.context().clearCookies();
    // The window to sign in may be open before, because the page reads again by itself.
    await page.getByText('Cancel run', { exact: true }).dispatchEvent('click');
    await page.getByRole('heading', { name: 'Sign in again' }).waitFor();
    await shot(page, 'sign-in-again');
    await page.getByLabel('Password').fill('wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('email or password is wrong').waitFor();
    await page.getByLabel('Password').fill(person.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('status').filter({ hasText: 'cancelled' }).waitFor();
  });
  const { body } = await person.workspace.api.get(`/execute_flow/${id}`);
  expect(JSON.stringify(body.execution_context.failure)).toContain('typed before');
});

test('two tabs share one stream of the project, and what one does shows in the other', async () => {
  verifies('console.real-time');
  const person = await createPerson(deps);
  const { execution_id: id } = await prepareExecution(person.workspace, flowThatCalls([]), { goal: 'seen twice' });
  await withPage(async (page) => {
    const streams: string[] = [];
    page.context().on('request', (request) => {
      if (request.url().endsWith(`/${person.workspace.projectID}/events`)) streams.push(request.url());
    });
    await signIn(page, person, consoleUrl(person, '/runs'));
    const other = await page.context().newPage();
    await other.goto(consoleUrl(person, '/runs?state=ready'));
    await other.getByRole('link', { name: 'seen twice' }).waitFor();
    await page.getByRole('row').filter({ hasText: 'seen twice' }).getByText('ready').waitFor();
    await moveExecution(person.workspace, id, 'execute');
    await page.getByRole('row').filter({ hasText: 'seen twice' }).getByText('completed').waitFor();
    await other.getByText('No runs match these filters.').waitFor();
    expect(streams).toHaveLength(1);
    // The other tab goes on when the first one is closed.
    await page.close();
    await seedExecution(deps, ofPerson(person), { goal: 'made later', status: 'ready' });
    await other.getByRole('link', { name: 'made later' }).waitFor();
    expect(streams.length).toBeGreaterThanOrEqual(2);
  });
});

test('a hidden tab holds no stream of its run, and goes on when it is shown', async () => {
  verifies('console.real-time');
  const person = await createPerson(deps);
  const { execution_id: id } = await prepareExecution(person.workspace, flowThatCalls([]));
  const isStream = (request: { url(): string }) => request.url().endsWith(`/execute_flow/${id}/events`);
  await withPage(async (page, complaints) => {
    const hide = (isHidden: boolean) =>
      page.evaluate((hidden) => {
        const { document, Event } = globalThis as any;
        Object.defineProperty(document, 'hidden', { configurable: true, value: hidden });
        document.dispatchEvent(new Event('visibilitychange'));
      }, isHidden);
    const opened = page.waitForEvent('response', (response) => isStream(response.request()));
    await signIn(page, person, consoleUrl(person, `/runs/${id}`));
    await opened;
    const closed = page.waitForEvent('requestfailed', isStream);
    await hide(true);
    await closed;
    await moveExecution(person.workspace, id, 'execute');
    await untilExecution(person.workspace, id, 'completed');
    await hide(false);
    await page.locator('.lists-rows summary', { hasText: 'agent completed' }).waitFor();
    complaints.splice(0);
  });
});

test('a live run is followed across a kill of the API, and the model is read while it writes', async () => {
  verifies('console.real-time', 'console.run');
  const model = await startFakeModel();
  let finish = (): void => undefined;
  model.on('writer', (res) => {
    beginStream(res);
    send(res, chunk({ content: 'Dear Ada, ' }));
    finish = () => {
      send(res, chunk({ content: 'it is done.' }), chunk({}, 'stop'), usageChunk);
      endStream(res);
    };
  });
  Object.assign(overrides, { LLM_BASE_URL: model.url, LLM_MODEL: 'writer' });
  const [api] = await Promise.all([product.api(), product.worker()]);
  overrides.PORT = String(api.port);
  const person = await createPerson(deps);
  const workspace = product.through(api, person.workspace);
  const path = `/${workspace.projectID}/held`;
  const release = sink.hold(path);
  const { execution_id: id } = await prepareExecution(workspace, flowThatCalls([`${sink.url}${path}`]));
  await withPage(
    async (page, complaints) => {
      await signIn(page, person, `${api.url}/console/projects/${workspace.projectID}/runs/${id}`);
      await page.getByRole('button', { name: 'Execute…' }).click();
      await page.getByRole('button', { name: 'Execute run' }).click();
      await page.getByRole('status').filter({ hasText: 'running' }).waitFor();
      await api.end('SIGKILL');
      await page.getByText('Reconnecting').waitFor();
      await product.api();
      await page.getByText('Reconnecting').waitFor({ state: 'detached' });
      release();
      await page.getByRole('region', { name: 'Streamed text' }).getByText('Dear Ada,').waitFor();
      await shot(page, 'run-model-writes');
      finish();
      await page.getByRole('status').filter({ hasText: 'completed' }).waitFor();
      await page.locator('.markdown-rendered').getByText('Dear Ada, it is done.').waitFor();
      await page.locator('.lists-rows summary', { hasText: 'agent completed' }).waitFor();
      // What the browser says about the requests that were cut off.
      complaints.splice(0);
    },
    { from: api.url },
  ).finally(() => model.close());
});

test('a run is rerun from an agent with other inputs, and a wrong value and a reload lose nothing', async () => {
  verifies('console.run.rerun', 'console.run.graph');
  const person = await createPerson(deps);
  const inputs = { input_variables: { who: 'Ada', limits: { most: 2 } } };
  const id = await startExecution(person.workspace, flowThatCalls([], []), inputs);
  await untilExecution(person.workspace, id, 'completed');
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/runs/${id}`));
    const graph = page.getByRole('group', { name: 'Graph of the agents' });
    await graph.getByText('Agent agent_2').waitFor();
    expect(await graph.getByText('completed').count()).toBe(2);
    await shot(page, 'run-graph');
    await page.getByRole('button', { name: 'Rerun…' }).click();
    await page.getByRole('dialog').getByLabel('From').selectOption('agent_2');
    await page.getByLabel('Goal').fill('once more');
    await page.getByLabel('limits (JSON)').fill('{');
    await page.getByRole('button', { name: 'Rerun', exact: true }).click();
    await page.getByRole('alert').filter({ hasText: 'limits (JSON) must be JSON' }).waitFor();
    await page.reload();
    expect(await page.getByLabel('Goal').inputValue()).toBe('once more');
    await page.getByLabel('limits (JSON)').fill('{"most":3}');
    await page.getByRole('button', { name: 'Rerun', exact: true }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(id));
    await page.getByRole('status').filter({ hasText: 'completed' }).waitFor();
    const again = page.url().split('/').at(-1);
    expect((await person.workspace.api.get(`/execute_flow/${again}`)).body).toMatchObject({
      goal: 'once more',
      start_from_agent_id: 'agent_2',
      input_variables: { who: 'Ada', limits: { most: 3 } },
      execution_context: { rerun_of: id },
    });
  });
});
