import { expect, test } from '@jest/globals';
import { sizeOf } from '../../../requirements/full-forms.js';
import { moveExecution, startAsPlanned, startExecution, untilExecution } from '../../../support/executions.js';
import { createWorkspace, useDeps, type Workspace } from '../../../support/fixture.js';
import { randomFlow } from '../../../support/random-flows.js';
import { useHttpSink } from '../../../support/use-http-sink.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const sink = await useHttpSink();

const prepare = ({ api }: Workspace, id: string, body: object) => api.post(`/execute_flow/${id}/rerun`, body);

async function rerun(workspace: Workspace, id: string, body: object, end = 'completed') {
  const made = await prepare(workspace, id, body);
  expect(made).toMatchObject({ status: 201 });
  await moveExecution(workspace, made.body._id, 'execute');
  return untilExecution(workspace, made.body._id, end);
}

const stepsOf = async ({ api }: Workspace, id: string): Promise<any[]> =>
  (await api.get(`/execute_flow/${id}/monitoring`)).body.steps;

const called = ({ projectID }: Workspace) => sink.seen(`/${projectID}`).map(({ path }) => path.split('/').at(-1));

const calling = ({ projectID }: Workspace, _id: string, next: string | null = null, name = _id) => ({
  ...{ _id, type: 'action', next, inputs: {} },
  action: { name: _id, method: 'POST', endpoint: `${sink.url}/${projectID}/${name}` },
});

/** Orders are priced and sent one by one, then a writer and a bill follow. */
const shop = (workspace: Workspace) => ({
  name: 'Shop',
  initialAgent: 'start',
  agents: [
    {
      _id: 'writer',
      title: 'Writer',
      next_agent: 'bill',
      prompt: { template: 'Thank for {{ outputs_by_id.each | size }}' },
    },
  ],
  steps: [
    { _id: 'start', type: 'set', values: { rate: '2' }, next: 'each' },
    {
      _id: 'each',
      type: 'map',
      items: 'inputs.orders',
      as: 'order',
      first: 'price',
      on_error: 'collect',
      next: 'size',
    },
    { _id: 'price', type: 'set', values: { total: 'order.price * outputs.start.rate' }, next: 'send' },
    calling(workspace, 'send', 'done', '{{ item.id }}'),
    { _id: 'done', type: 'set', values: { total: 'outputs.price.total', rest: 'inputs.stock - order.price' } },
    { _id: 'size', type: 'branch', cases: [{ name: 'many', when: 'size(outputs.each) > 1', next: 'writer' }] },
    calling(workspace, 'bill', 'sum'),
    { _id: 'sum', type: 'set', values: { all: 'outputs.each' } },
  ],
});

const orders = { orders: ['a', 'b', 'c'].map((id, at) => ({ id, price: at + 1 })), stock: 10 };

test('a rerun keeps what has ended before a step and in the other parts, and sends only the acts that follow', async () => {
  verifies('flow.rerun');
  const workspace = await createWorkspace(deps);
  const id = await startExecution(workspace, shop(workspace), { input_variables: orders });
  const first = await untilExecution(workspace, id, 'completed');
  expect(called(workspace).sort()).toEqual(['a', 'b', 'bill', 'c']);
  const keys = new Set(sink.seen(`/${workspace.projectID}`).map(({ headers }) => headers['idempotency-key']));

  const inner = await rerun(workspace, id, { from_agent_id: 'each/1/send' });
  expect(inner).toMatchObject({ start_from_agent_id: 'each/1/send', conclusion: { output: first.conclusion.output } });
  expect(called(workspace).slice(4)).toEqual(['b', 'bill']);
  const again = sink.seen(`/${workspace.projectID}`).slice(4);
  expect(again.map(({ headers }) => headers['idempotency-key'])).toEqual([
    `${inner._id}/each/1/send`,
    `${inner._id}/bill`,
  ]);
  expect(again.every(({ headers }) => !keys.has(headers['idempotency-key'] ?? ''))).toBe(true);
  const steps = await stepsOf(workspace, inner._id);
  expect(
    steps
      .filter(({ kept_from }) => kept_from === id)
      .map(({ step_id }) => step_id)
      .sort(),
  ).toEqual(
    [
      'start',
      'each/0/price',
      'each/0/send',
      'each/0/done',
      'each/1/price',
      'each/2/price',
      'each/2/send',
      'each/2/done',
    ].sort(),
  );
  const graph = await workspace.api.get(`/execute_flow/${inner._id}/graph`);
  expect(graph.body).toMatchObject({ first: 'each' });
  expect(graph.body.nodes.find((node: any) => node.id === 'price').runs).toMatchObject({ completed: 3 });

  const late = await rerun(workspace, inner._id, { from_agent_id: 'bill' });
  expect(called(workspace).slice(6)).toEqual(['bill']);
  expect(late).toMatchObject({ agents_output: [{ agent_id: 'writer', kept_from: inner._id }] });
  expect(late.conclusion.output).toEqual(first.conclusion.output);
  // The whole of a rerun begins where the rerun began.
  await rerun(workspace, late._id, {});
  expect(called(workspace).slice(7)).toEqual(['bill']);
  await rerun(workspace, late._id, { from_agent_id: 'each/2' });
  expect(called(workspace).slice(8)).toEqual(['c', 'bill']);
});

test('parts that have not ended continue where they were, with other inputs if the request has some', async () => {
  verifies('flow.rerun');
  const workspace = await createWorkspace(deps);
  const id = await startExecution(workspace, shop(workspace), { input_variables: { orders: orders.orders } });
  const first = await untilExecution(workspace, id, 'completed');
  expect(first.conclusion.output.all.map((one: any) => one.error.code)).toEqual(Array(3).fill('validation_failed'));
  const made = await rerun(workspace, id, { from_agent_id: 'each/1/done', input_variables: orders });
  expect(made.conclusion.output.all).toEqual([2, 4, 6].map((total, at) => ({ total, rest: 9 - at })));
  expect(called(workspace).slice(4)).toEqual(['bill']);
});

test('rounds of a loop before the step are kept, and those after it run again', async () => {
  verifies('flow.rerun');
  const workspace = await createWorkspace(deps);
  const flow = {
    ...{ name: 'Rounds', initialAgent: 'again' },
    steps: [
      { _id: 'again', type: 'loop', first: 'call', until: 'index == 3', max_rounds: 5, carry: 'index * 10' },
      calling(workspace, 'call', 'note', '{{ index }}'),
      { _id: 'note', type: 'set', values: { known: 'carry', index: 'index' } },
    ],
  };
  const id = await startExecution(workspace, flow);
  const first = await untilExecution(workspace, id, 'completed');
  expect(first.conclusion.output).toEqual({ output: { known: 20, index: 3 }, rounds: 4 });
  expect((await rerun(workspace, id, { from_agent_id: 'again/2/call' })).conclusion.output).toEqual(
    first.conclusion.output,
  );
  expect(called(workspace)).toEqual(['0', '1', '2', '3', '2', '3']);
});

test('what cannot run is refused with the reason', async () => {
  verifies('flow.rerun.refused');
  const workspace = await createWorkspace(deps);
  const flow = {
    ...{ name: 'Any', initialAgent: 'fan' },
    steps: [
      {
        ...{ _id: 'fan', type: 'parallel', join: 'any', next: 'choose' },
        branches: ['left', 'right'].map((name) => ({ name, first: name })),
      },
      { _id: 'left', type: 'set', values: { n: '1' } },
      { _id: 'right', type: 'wait', seconds: 300 },
      { _id: 'choose', type: 'branch', cases: [{ name: 'yes', when: 'true', next: 'large' }], otherwise: 'never' },
      { _id: 'large', type: 'set', values: { text: 'inputs.text' }, next: 'again' },
      { _id: 'again', type: 'loop', first: 'round', until: 'index == 2', max_rounds: 3, next: 'last' },
      { _id: 'round', type: 'set', values: { n: 'index' } },
      { _id: 'never', type: 'set', values: { n: '1' } },
      { _id: 'last', type: 'set', values: { n: '1' } },
    ],
  };
  const id = await startExecution(workspace, flow, { input_variables: { text: 'x'.repeat(70_000) } });
  await untilExecution(workspace, id, 'completed');
  const refused: Record<string, string> = {
    nobody: 'no agent or step nobody',
    'fan/left/nobody': 'no agent or step nobody',
    'fan/middle': 'never reached fan/middle',
    'fan/left/last': 'never reached fan/left/last',
    'choose/left/left': 'never reached choose/left/left',
    never: 'never reached never',
    '': 'no agent or step',
    '/': 'no agent or step',
    'fan/left/__proto__': 'no agent or step __proto__',
    'fan/right/right': 'other branches of fan have ended',
    round: 'round has run 3 times; name one with its path: again/0/round, again/1/round',
  };
  for (const [from_agent_id, text] of Object.entries(refused))
    expect([from_agent_id, await prepare(workspace, id, { from_agent_id })]).toMatchObject([
      from_agent_id,
      { status: 422, body: { error_description: expect.stringContaining(text) } },
    ]);
  // A node that ran once needs no path.
  expect(await prepare(workspace, id, { from_agent_id: 'left' })).toMatchObject({
    status: 201,
    body: { start_from_agent_id: 'fan/left/left' },
  });
  const { agentflow_id } = (await workspace.api.get(`/execute_flow/${id}`)).body;
  await workspace.api.patch(`/agentflow/${agentflow_id}`, {
    initialAgent: 'choose',
    steps: [{ _id: 'choose', type: 'set', values: { n: '1' } }],
  });
  for (const [from_agent_id, text] of Object.entries({ large: 'no agent or step large', fan: 'no agent or step fan' }))
    expect(await prepare(workspace, id, { from_agent_id, draft: true })).toMatchObject({
      status: 422,
      body: { error_description: expect.stringContaining(text) },
    });
});

test('a rerun keeps an output that monitoring does not show', async () => {
  verifies('flow.rerun');
  const workspace = await createWorkspace(deps);
  const flow = {
    ...{ name: 'Large', initialAgent: 'large' },
    steps: [
      { _id: 'large', type: 'set', values: { text: 'inputs.text' }, next: 'code' },
      { _id: 'code', type: 'code', source: 'return "y".repeat(900000);', next: 'last' },
      { _id: 'last', type: 'set', values: { size: 'size(outputs.large.text) + size(outputs.code)' } },
    ],
  };
  const id = await startExecution(workspace, flow, { input_variables: { text: 'x'.repeat(70_000) } });
  const output = { size: 970_000 };
  expect((await untilExecution(workspace, id, 'completed')).conclusion.output).toEqual(output);
  const [large] = await stepsOf(workspace, id);
  expect(large).not.toHaveProperty('output');
  const again = await rerun(workspace, id, { from_agent_id: 'last' });
  expect(again.conclusion.output).toEqual(output);
  const twice = await rerun(workspace, again._id, { from_agent_id: 'last', input_variables: { text: 'z' } });
  expect(twice.conclusion.output).toEqual(output);
});

/** Errors are compared without the ids of their runs. */
const comparable = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, each) => (key === 'error' && typeof each === 'object' ? true : each)) ?? 'null',
  );

test('a rerun from any step of a random flow returns what the first run returned', async () => {
  verifies('flow.rerun.random');
  const workspace = await createWorkspace(deps);
  const offset = Number(process.env.RANDOM_FLOW_SEED ?? 1);
  const seeds = Array.from({ length: sizeOf('RANDOM_FLOWS') }, (_one, at) => offset + at);
  const isOver = { end_time: expect.any(Number) };
  const check = async (seed: number): Promise<void> => {
    const { interpret: _interpret, ...flow } = randomFlow(seed);
    const id = await startExecution(workspace, { name: 'Random', ...flow });
    const first = await untilExecution(workspace, id, isOver);
    const places = (await stepsOf(workspace, id)).map(({ step_id }) => step_id);
    for (const at of [0.3, 0.8]) {
      const from_agent_id = places[Math.floor(places.length * ((seed * at) % 1))];
      const made = await prepare(workspace, id, { from_agent_id });
      expect([seed, from_agent_id, made]).toMatchObject([seed, from_agent_id, { status: 201 }]);
      await startAsPlanned(deps, made.body._id, { max_history_events: seed % 2 === 0 ? 5000 : 20 });
      const again = await untilExecution(workspace, made.body._id, isOver);
      const ends = [first, again].map(({ status, conclusion }) => [status, comparable(conclusion?.output)]);
      expect([seed, from_agent_id, ends[1]]).toEqual([seed, from_agent_id, ends[0]]);
    }
  };
  const waiting = [...seeds];
  const next = async (): Promise<void> => {
    for (let seed = waiting.shift(); seed !== undefined; seed = waiting.shift()) await check(seed);
  };
  await Promise.all(Array.from({ length: 6 }, next));
});
