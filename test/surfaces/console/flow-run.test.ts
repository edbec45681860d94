import { expect, test } from '@jest/globals';
import { createPerson } from '../../auth/auth-server.js';
import { shot } from '../../support/browser.js';
import { startExecution, untilExecution } from '../../support/executions.js';
import { useDeps } from '../../support/fixture.js';
import { seedExecution } from '../../support/seeded-executions.js';
import { verifies } from '../../support/verifies.js';
import { consoleUrl, signIn, violations, withPage } from './chromium.js';

const deps = useDeps();

/** Reads a number in each of the inputs, and keeps the error of a text that is none. */
const reading = {
  name: 'Read numbers',
  initialAgent: 'each',
  steps: [
    {
      _id: 'each',
      type: 'map',
      title: 'Each text',
      items: 'inputs.texts',
      first: 'number',
      on_error: 'collect',
      next: 'size',
    },
    { _id: 'number', type: 'set', title: 'Number', values: { value: 'int(item)' } },
    {
      ...{ _id: 'size', type: 'branch', title: 'Size', otherwise: 'none' },
      cases: [{ name: 'many', when: 'size(outputs.each) > 2', next: 'again' }],
    },
    { _id: 'none', type: 'set', title: 'None', values: { numbers: '0' } },
    { _id: 'again', type: 'loop', title: 'Again', first: 'count', until: 'index == 1', max_rounds: 5, next: 'end' },
    { _id: 'count', type: 'set', title: 'Count', values: { rounds: 'index + 1' } },
    { _id: 'end', type: 'set', title: 'End', values: { numbers: 'size(outputs.each)' } },
  ],
};

test('the page of a run shows agents and steps as a graph and a list, with the counts and the failures of parts', async () => {
  verifies('console.run.flow');
  const person = await createPerson(deps);
  const inputs = { input_variables: { texts: ['1', 'x', '3', '4'] } };
  const id = await startExecution(person.workspace, reading, inputs);
  await untilExecution(person.workspace, id, 'completed');
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/runs/${id}`));
    const graph = page.getByRole('group', { name: 'Graph of the agents and steps' });
    await graph.locator('.graph-node', { hasText: 'Each text' }).getByText('map, 3 of 4 done, 1 failed').waitFor();
    await graph.locator('.graph-node', { hasText: 'Again' }).getByText('loop, 2 of 2 done').waitFor();
    await graph.locator('.graph-node', { hasText: 'Number' }).getByText('Failed').waitFor();
    await graph.locator('.graph-node', { hasText: 'None' }).getByText('Not started').waitFor();
    expect(await graph.locator('.react-flow__edge').count()).toBe(6);
    for (const label of ['each item', 'each round', 'many', 'otherwise']) await graph.getByText(label).waitFor();
    const each = page.locator('.agents li', { hasText: 'Each text' });
    await each.getByText('map, 3 of 4 done, 1 failed').waitFor();
    await page.getByRole('region', { name: 'Output of the run' }).getByText('"numbers": 4').waitFor();
    const failed = page.locator('.waterfall li').filter({ has: page.locator('.badge-bad') });
    await failed.getByText('set in Each text, item 1').waitFor();
    expect(await failed.count()).toBe(1);
    await shot(page, 'run-flow');
    await failed.getByRole('button').click();
    await page.getByRole('dialog').getByText('Each text, item 1').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: /^Size/ }).click();
    await page.getByRole('dialog').getByRole('region', { name: 'Output' }).getByText('"case": "many"').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Rerun…' }).click();
    await page.getByRole('dialog').getByLabel('Goal').waitFor();
    const starts = page.getByLabel('Start from');
    expect(await starts.getByRole('option').allTextContents()).toEqual([
      'The beginning',
      ...['Each text', 'Size', 'Again', 'End'].map((title) => `${title} (keep what ended before)`),
      'Number in Each text, item 1 (keep the other parts)',
    ]);
    await starts.selectOption('each/1/number');
    await page.getByRole('dialog').getByRole('button', { name: 'Rerun' }).click();
    await page.waitForURL((url) => url.pathname.includes('/runs/') && !url.pathname.endsWith(id));
    await page.getByRole('region', { name: 'Output of the run' }).getByText('"numbers": 4').waitFor();
  });
});

test('a step of an agent in a part shows the proposal and the output of that part', async () => {
  verifies('console.run.flow');
  const person = await createPerson(deps);
  const { userId, workspace } = person;
  const now = Date.now() / 1000;
  const llm = { model: 'm', temperature: null, max_tokens: null };
  const writer = {
    _id: 'writer',
    title: 'Writer',
    llm,
    role: '',
    role_description: '',
    agent_type: 'a',
    next_agent: null,
  };
  const times = { started_at: now, ended_at: now + 1 };
  const outputOf = (path: string) => ({
    ...{ agent_id: 'writer', path, title: 'Writer', model: 'm', output: `letter of ${path}`, actions: [] },
    ...{ usage: { input_tokens: 1, output_tokens: 1 }, ...times },
  });
  const stepOf = (path: string) => ({
    ...{ step_id: `${path}/writer:1`, kind: 'model_turn', agent_id: 'writer', path, skill_id: null, action_id: null },
    ...{ name: `Turn on ${path}`, status: 'completed' as const, attempts: 1, error: null, ...times },
  });
  const paths = ['each/0', 'each/1'];
  const { _id } = await seedExecution(
    deps,
    { ...workspace, userId },
    {
      agentflow: {
        ...{ agentflow_id: 'f', image: '', initialAgent: 'each', name: 'Letters', role: '', conclusion: null },
        agents: [writer],
        steps: [
          { _id: 'each', type: 'map', title: 'Each reader', items: 'inputs.readers', first: 'writer', next: null },
        ],
      },
      agents_output: paths.map(outputOf),
      steps: paths.map(stepOf),
      previews: Object.fromEntries(
        paths.map((path) => [
          `${path}/writer`,
          {
            ...{ preview_id: path, agent_id: 'writer', path, title: 'Writer', status: 'approved', kind: 'output' },
            ...{ proposed: { output: `draft of ${path}` }, edits: null, requested_at: now, expires_at: now },
            ...{ decided_by: userId, decided_at: now },
          } as const,
        ]),
      ),
    },
  );
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/runs/${_id}`));
    await page.getByRole('button', { name: 'Turn on each/1' }).click();
    const drawer = page.getByRole('dialog');
    await drawer.getByRole('region', { name: 'Proposed' }).getByText('draft of each/1').waitFor();
    await drawer.getByRole('region', { name: 'Output' }).getByText('letter of each/1').waitFor();
    await drawer.getByText('Each reader, item 1').waitFor();
  });
});

test('the page of a run counts the items of a map that was divided among runs', async () => {
  verifies('console.run.flow');
  const person = await createPerson(deps);
  const flow = {
    ...{ name: 'Many', agents: [], initialAgent: 'each' },
    steps: [
      { _id: 'each', type: 'map', title: 'Each number', items: 'inputs.numbers', first: 'invert', on_error: 'collect' },
      { _id: 'invert', type: 'set', title: 'Invert', values: { n: '100 / int(item)' } },
    ],
  };
  const numbers = Array.from({ length: 210 }, (_, at) => at % 7);
  const id = await startExecution(person.workspace, flow, { input_variables: { numbers } });
  await untilExecution(person.workspace, id, 'completed');
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/runs/${id}`));
    const graph = page.getByRole('group', { name: 'Graph of the agents and steps' });
    await graph.locator('.graph-node', { hasText: 'Each number' }).getByText('map, 210 items').waitFor();
    const invert = graph.locator('.graph-node', { hasText: 'Invert' });
    await invert.getByText('set, 180 completed, 30 failed').waitFor();
    expect(await invert.textContent()).toContain('Failed');
    await page.locator('.agents li', { hasText: 'Invert' }).getByText('set, 180 completed, 30 failed').waitFor();
    // What divides the map is named in words.
    const waterfall = page.locator('.waterfall');
    await waterfall.getByText('start slice in Each number, items from 200').waitFor();
    expect(await waterfall.textContent()).not.toMatch(/Slice|divideItems|items-/);
    await shot(page, 'run-divided-map');
  });
});
