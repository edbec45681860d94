import { describe, expect, test } from '@jest/globals';
import { startExecution, untilExecution } from '../../../support/executions.js';
import { createWorkspace, useDeps } from '../../../support/fixture.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();

/** Runs a flow to its end and returns the execution. */
async function run(flow: object, request: object = {}, end = 'completed') {
  const workspace = await createWorkspace(deps);
  const id = await startExecution(workspace, { name: 'Flow', ...flow }, request);
  return { workspace, id, execution: await untilExecution(workspace, id, end) };
}

const set = (_id: string, values: Record<string, string>, next: string | null = null) => ({
  _id,
  type: 'set',
  values,
  next,
});

describe('set and branch', () => {
  const flow = {
    initialAgent: 'sum',
    steps: [
      set('sum', { total: 'inputs.price * inputs.count' }, 'size'),
      {
        _id: 'size',
        type: 'branch',
        cases: [
          { name: 'large', when: 'outputs.sum.total > 100', next: 'large' },
          { name: 'medium', when: 'outputs.sum.total > 10', next: 'medium' },
        ],
        otherwise: 'small',
      },
      set('large', { text: '"large: " + string(outputs.sum.total)' }),
      set('medium', { text: '"medium"' }),
      set('small', { text: 'goal + " is small"' }),
    ],
  };

  test.each([
    [{ price: 40, count: 3 }, { text: 'large: 120' }],
    [{ price: 101, count: 0.5 }, { text: 'medium' }],
    [{ price: 1, count: 2 }, { text: 'the sink is small' }],
  ])('with %j return %j', async (input_variables, output) => {
    verifies('flow.set-and-branch', 'flow.output');
    const { execution } = await run(flow, { input_variables });
    expect(execution.conclusion).toMatchObject({ output, conclusion: JSON.stringify(output) });
  });
});

test('parallel branches run at the same time, and their outputs are joined by name', async () => {
  verifies('flow.parallel');
  const { workspace, id, execution } = await run(
    {
      initialAgent: 'fan',
      steps: [
        {
          _id: 'fan',
          type: 'parallel',
          branches: [
            { name: 'left', first: 'l' },
            { name: 'right', first: 'r' },
          ],
          next: 'join',
        },
        set('l', { n: '1' }),
        set('r', { n: 'inputs.n' }),
        set('join', { sum: 'outputs.fan.left.n + outputs.fan.right.n' }),
      ],
    },
    { input_variables: { n: 41 } },
  );
  expect(execution.conclusion.output).toEqual({ sum: 42 });
  const { body } = await workspace.api.get(`/execute_flow/${id}/monitoring`);
  expect(
    body.steps.map(({ step_id, kind, path, status, output }: any) => ({ step_id, kind, path, status, output })),
  ).toEqual([
    { step_id: 'fan', kind: 'parallel', status: 'completed', output: { left: { n: 1 }, right: { n: 41 } } },
    { step_id: 'fan/left/l', kind: 'set', path: 'fan/left', status: 'completed', output: { n: 1 } },
    { step_id: 'fan/right/r', kind: 'set', path: 'fan/right', status: 'completed', output: { n: 41 } },
    { step_id: 'join', kind: 'set', status: 'completed', output: { sum: 42 } },
  ]);
});

test('a map returns the outputs in the order of its items, and its agents know the item', async () => {
  verifies('flow.map');
  const { execution } = await run(
    {
      initialAgent: 'each',
      agents: [{ _id: 'writer', title: 'Writer', prompt: { template: 'Say {{ row.name }} of {{ index }}' } }],
      steps: [
        { _id: 'each', type: 'map', items: 'inputs.rows', as: 'row', first: 'up', concurrency: 3, next: 'count' },
        set('up', { name: 'item.name + "!"', at: 'index' }, 'writer'),
        set('count', { n: 'size(outputs.each)', first: 'outputs.each[0]' }),
      ],
    },
    { input_variables: { rows: ['ada', 'bob', 'cleo', 'dan'].map((name) => ({ name })) } },
  );
  const { output } = execution.conclusion;
  expect(output.n).toBe(4);
  expect(output.first).toEqual(expect.stringContaining('Say ada of 0'));
  expect(execution.agents_output.map(({ path }: any) => path).sort()).toEqual(['each/0', 'each/1', 'each/2', 'each/3']);
});

test('a wait ends at a date or time of ISO 8601, and refuses other texts', async () => {
  verifies('flow.wait');
  const until = (text: string) =>
    run(
      { initialAgent: 'w', steps: [{ _id: 'w', type: 'wait', until: 'inputs.at' }] },
      { input_variables: { at: text } },
      end(text),
    );
  const past = [
    '2026-01-31',
    '2026-02-28T10:00',
    '2026-02-28 10:00:00.5Z',
    '2024-02-29T23:59:59+05:30',
    '2026-06-30t00:00:00-08:00',
  ];
  const wrong = [
    'item 5',
    'tomorrow',
    '12',
    '2026-02-30',
    '2026-02-30T00:00:00Z',
    '2026-13-01',
    '2026-01-01T25:00',
    '1 Feb 2026',
    '',
  ];
  const end = (text: string) => (past.includes(text) ? 'completed' : 'failed');
  for (const text of past) expect((await until(text)).execution.conclusion.output).toEqual({});
  for (const text of wrong) {
    const { failure } = (await until(text)).execution.execution_context;
    expect(failure.message).toContain(`until: ${JSON.stringify(text)} is not a time in ISO 8601`);
  }
});

describe('a loop', () => {
  const loop = (change: object) => ({
    initialAgent: 'again',
    steps: [
      {
        _id: 'again',
        type: 'loop',
        first: 'double',
        until: 'outputs.double.n >= 100',
        carry: 'outputs.double.n',
        max_rounds: 20,
        ...change,
      },
      set('double', { n: 'carry == null ? 3 : carry * 2', round: 'index' }),
    ],
  });

  test('carries a value from round to round until its condition is true', async () => {
    verifies('flow.loop');
    const { execution } = await run(loop({}));
    expect(execution.conclusion.output).toEqual({ output: { n: 192, round: 6 }, rounds: 7 });
  });

  test('fails with limit_exceeded after max_rounds', async () => {
    verifies('flow.loop');
    const { execution } = await run(loop({ max_rounds: 3 }), {}, 'failed');
    expect(execution.execution_context.failure).toMatchObject({
      reason: 'limit_exceeded',
      step_id: 'again',
      message: expect.stringContaining('max_rounds is 3'),
    });
  });
});

test('the graph of a run has its nodes, pointers and the number of runs by state', async () => {
  verifies('flow.graph');
  const flow = {
    initialAgent: 'each',
    agents: [{ _id: 'writer', title: 'Writer' }],
    steps: [
      { _id: 'each', type: 'map', items: '["1", "2", "x"]', first: 'number', on_error: 'skip', next: 'size' },
      set('number', { n: 'int(item)' }, 'writer'),
      {
        _id: 'size',
        type: 'branch',
        title: 'How many?',
        cases: [{ name: 'many', when: 'size(outputs.each) > 2', next: 'end' }],
        otherwise: null,
      },
      set('end', { n: '1' }),
    ],
  };
  const { workspace, id } = await run(flow);
  const { body } = await workspace.api.get(`/execute_flow/${id}/graph`);
  const none = { running: 0, waiting: 0, completed: 0, failed: 0, cancelled: 0 };
  expect(body).toMatchObject({ execution_id: id, status: 'completed', first: 'each' });
  expect(body.nodes).toEqual([
    { id: 'writer', kind: 'agent', title: 'Writer', runs: { ...none, completed: 2 } },
    { id: 'each', kind: 'map', title: 'each', runs: { ...none, completed: 1 } },
    { id: 'number', kind: 'set', title: 'number', runs: { ...none, completed: 2, failed: 1 } },
    { id: 'size', kind: 'branch', title: 'How many?', runs: { ...none, completed: 1 } },
    { id: 'end', kind: 'set', title: 'end', runs: none },
  ]);
  expect(body.edges).toEqual([
    { from: 'each', to: 'size', kind: 'next', label: '' },
    { from: 'each', to: 'number', kind: 'part', label: '' },
    { from: 'number', to: 'writer', kind: 'next', label: '' },
    { from: 'size', to: 'end', kind: 'next', label: 'many' },
  ]);
});
