import { beforeAll, expect, test } from '@jest/globals';
import { createPerson } from '../../../auth/auth-server.js';
import { ask, decide, heldApproval, useActs } from '../../../support/acts.js';
import { apiClient } from '../../../support/client.js';
import { eventually } from '../../../support/eventually.js';
import { closedAs, moveExecution, startExecution, untilExecution } from '../../../support/executions.js';
import { createKey, createWorkspace, type Workspace } from '../../../support/fixture.js';
import { ownProduct } from '../../../support/own-product.js';
import type { ProductProcess } from '../../../support/processes.js';
import { refusal } from '../../../support/refusal.js';
import { verifies } from '../../../support/verifies.js';

const { deps, governed, sink } = await useActs();
const product = ownProduct();
let workspaceOf: () => Promise<Workspace>;
let worker: ProductProcess;
beforeAll(async () => {
  const [api, started] = await Promise.all([product.api(), product.worker()]);
  worker = started;
  workspaceOf = async () => product.through(api, await createWorkspace(deps));
});

const numbers = (count: number) => Array.from({ length: count }, (_one, at) => at);

/** Each item is doubled; those for which `calls` is true call the path of their index at the sink first. */
const doubling = ({ projectID }: Pick<Workspace, 'projectID'>, calls: string, change: object = {}) => ({
  name: 'Numbers',
  initialAgent: 'each',
  steps: [
    { _id: 'each', type: 'map', items: 'inputs.numbers', as: 'number', first: 'which', next: 'sum', ...change },
    { _id: 'which', type: 'branch', cases: [{ name: 'calls', when: calls, next: 'call' }], otherwise: 'double' },
    {
      ...{ _id: 'call', type: 'action', next: 'double', inputs: {} },
      action: { name: 'Call', method: 'POST', endpoint: `${sink.url}/${projectID}/{{ number }}` },
    },
    { _id: 'double', type: 'set', values: { twice: 'number * 2', at: 'index' } },
    { _id: 'sum', type: 'set', values: { all: 'outputs.each' } },
  ],
});

const runOver = (workspace: Workspace, count: number, flow: object) =>
  startExecution(workspace, flow, { input_variables: { numbers: numbers(count) } });

const doubled = (count: number) => numbers(count).map((at) => ({ twice: at * 2, at }));
const calledBy = ({ projectID }: Pick<Workspace, 'projectID'>) => sink.seen(`/${projectID}/`);
const slicesOf = (id: string) =>
  deps.mongo.collections.executions.find({ 'flow.slice.root': id }).sort({ 'flow.slice.from': 1 }).toArray();
const statusesOf = async (id: string) => (await slicesOf(id)).map(({ status }) => status);
const isRunning = async (workspace: Workspace, id: string) =>
  expect(await workspace.api.get(`/execute_flow/${id}`)).toMatchObject({ status: 200, body: { status: 'running' } });

test('a map of 10,000 items keeps their order, and one item can be read while others run', async () => {
  verifies('flow.many-items');
  const workspace = await workspaceOf();
  const release = sink.hold(`/${workspace.projectID}/9000`);
  const id = await runOver(workspace, 10_000, doubling(workspace, 'number == 9000'));
  const read = (what: string) => workspace.api.get(`/execute_flow/${id}/${what}`);
  await eventually(() => expect(calledBy(workspace)).toHaveLength(1));
  await isRunning(workspace, id);
  const item = await read('monitoring?path=each/9000');
  expect(item.body.steps.map(({ step_id }: any) => step_id)).toEqual(['each/9000/which', 'each/9000/call']);
  expect(item.body.steps[1]).toMatchObject({ status: 'running' });
  const graph = await read('graph?path=each/9000');
  expect(graph.body.nodes).toContainEqual(
    expect.objectContaining({ id: 'call', runs: expect.objectContaining({ running: 1 }) }),
  );
  expect(await read('evaluate?at=each/250/double&expression=number%2B1')).toMatchObject({ body: { value: 251 } });
  release();
  const { conclusion } = await untilExecution(workspace, id, 'completed');
  expect(conclusion.output.all).toEqual(doubled(10_000));
  const { body } = await read('graph');
  expect(body.nodes.map(({ id: node, runs }: any) => [node, runs.completed])).toEqual([
    ['each', 1],
    ['which', 10_000],
    ['call', 1],
    ['double', 10_000],
    ['sum', 1],
  ]);
  const { historyLength } = await deps.temporal.client.workflow.getHandle(`execution/${id}`).describe();
  expect(historyLength).toBeLessThan(2000);
  const listed = await workspace.api.get(`/${workspace.projectID}/execution_flows`);
  expect(listed.body.data.map((run: any) => run._id)).toEqual([id]);
});

test('concurrency, a pause and the loss of a worker apply to all runs on the items', async () => {
  verifies('flow.many-items');
  const workspace = await workspaceOf();
  const release = sink.hold(`/${workspace.projectID}/`);
  const id = await runOver(workspace, 450, doubling(workspace, 'index % 10 == 0', { concurrency: 3 }));
  await eventually(() => expect(calledBy(workspace)).toHaveLength(3));
  expect(await moveExecution(workspace, id, 'pause')).toMatchObject({ status: 200 });
  await eventually(async () => expect(await statusesOf(id)).toEqual(['paused', 'paused', 'paused']));
  release();
  await eventually(async () => {
    const steps = (await slicesOf(id)).flatMap((slice) => slice.steps);
    expect(steps.filter(({ kind, status }) => kind === 'action' && status === 'completed')).toHaveLength(3);
  });
  // Nothing begins while the run is paused.
  expect(calledBy(workspace)).toHaveLength(3);
  expect(await moveExecution(workspace, id, 'resume')).toMatchObject({ status: 200 });
  await eventually(() => expect(calledBy(workspace).length).toBeGreaterThan(10));
  await worker.end('SIGKILL');
  worker = await product.worker();
  const { conclusion } = await untilExecution(workspace, id, 'completed');
  expect(conclusion.output.all).toEqual(doubled(450));
  const keys = new Map(calledBy(workspace).map(({ path, key }) => [key, path]));
  expect(keys.size).toBe(45);
  expect(new Set(keys.values()).size).toBe(45);
});

test('a run whose person has lost their role is paused with the runs on its items', async () => {
  verifies('flow.many-items', 'auth.no-authority');
  const workspace = await workspaceOf();
  const { collections } = deps.mongo;
  const person = await createPerson(deps, { workspace, role: 'PROJECT_ADMIN' });
  const apiKey = await createKey(deps, { ...workspace, userId: person.userId }, { role: 'PROJECT_ADMIN' });
  const theirs = { ...workspace, api: apiClient(workspace.api.url, { 'x-api-key': apiKey }) };
  const release = sink.hold(`/${workspace.projectID}/`);
  const id = await runOver(theirs, 450, doubling(workspace, 'index % 10 == 0', { concurrency: 3 }));
  await eventually(() => expect(calledBy(workspace)).toHaveLength(3));
  // Nobody notices, so no sweep looks for runs of the person.
  await collections.api_keys.updateMany({ 'scope.user_id': person.userId }, { $set: { revoked_at: 1 } });
  await collections.users.deleteOne({ _id: person.userId });
  release();
  const reason = expect.any(String);
  await eventually(async () =>
    expect(await workspace.api.get(`/execute_flow/${id}`)).toMatchObject({
      body: { status: 'paused', execution_context: { hold: { reason } } },
    }),
  );
  await eventually(async () => expect(await statusesOf(id)).toEqual(['paused', 'paused', 'paused']));
  expect(calledBy(workspace)).toHaveLength(3);
});

test('an item that fails ends the others, and a rerun from it keeps what has ended', async () => {
  verifies('flow.many-items', 'flow.rerun');
  const workspace = await workspaceOf();
  let isBroken = true;
  sink.answer(`/${workspace.projectID}/250`, (_request, res) => void res.writeHead(isBroken ? 400 : 200).end('{}'));
  const release = sink.hold(`/${workspace.projectID}/0`);
  const fail = sink.hold(`/${workspace.projectID}/250`);
  const flow = doubling(workspace, 'number == 0 || number == 30 || number == 250');
  const id = await runOver(workspace, 300, flow);
  await eventually(async () => {
    expect(calledBy(workspace)).toHaveLength(3);
    const { body } = await workspace.api.get(`/execute_flow/${id}/monitoring?path=each/30`);
    expect(body.steps.at(-1)).toMatchObject({ step_id: 'each/30/double', status: 'completed' });
  });
  fail();
  const { execution_context } = await untilExecution(workspace, id, 'failed');
  expect(execution_context.failure).toMatchObject({ code: 'action_refused', step_id: 'each/250/call' });
  await eventually(async () => expect(await statusesOf(id)).toEqual(['failed', 'failed']));
  for (const { _id } of await slicesOf(id)) await closedAs(deps, _id);
  release();
  isBroken = false;
  const rerunOf = async (source: string, request: object) => {
    const before = calledBy(workspace).length;
    const again = await workspace.api.post(`/execute_flow/${source}/rerun`, request);
    expect(again).toMatchObject({ status: 201 });
    await moveExecution(workspace, again.body._id, 'execute');
    const { conclusion } = await untilExecution(workspace, again.body._id, 'completed');
    expect(conclusion.output.all).toEqual(doubled(300));
    const called = calledBy(workspace).slice(before);
    return { id: again.body._id, repeated: called.map(({ path }) => path.split('/').at(-1)).sort() };
  };
  expect(await workspace.api.post(`/execute_flow/${id}/rerun`, { from_agent_id: 'each/300/call' })).toMatchObject(
    refusal(422, 'validation_failed', 'never reached'),
  );
  const again = await rerunOf(id, { from_agent_id: 'each/250' });
  expect(again.repeated).toEqual(['0', '250']);
  // Without a place, a rerun of the rerun repeats what this has run itself; with one, it keeps that too.
  const repeated = await rerunOf(again.id, {});
  expect(repeated.repeated).toEqual(['0', '250']);
  expect((await rerunOf(repeated.id, { from_agent_id: 'each/250' })).repeated).toEqual(['250']);
  const [slice] = await slicesOf(again.id);
  expect(await workspace.api.post(`/execute_flow/${slice?._id}/rerun`, {})).toMatchObject(
    refusal(409, 'conflict', 'works on items of'),
  );
  expect(await workspace.api.delete(`/execute_flow/${id}`)).toMatchObject({ status: 200 });
  expect(await slicesOf(id)).toEqual([]);
});

test('a cancel reaches all runs on the items', async () => {
  verifies('flow.many-items');
  const workspace = await workspaceOf();
  const release = sink.hold(`/${workspace.projectID}/`);
  const id = await runOver(workspace, 450, doubling(workspace, 'index % 200 == 0', { concurrency: 2 }));
  await eventually(() => expect(calledBy(workspace)).toHaveLength(2));
  expect(await moveExecution(workspace, id, 'cancel')).toMatchObject({ status: 200 });
  expect(await closedAs(deps, id)).toBe('CANCELLED');
  await eventually(async () => {
    const slices = await slicesOf(id);
    expect(slices.map(({ execution_context }) => execution_context.failure)).toEqual(
      slices.map(() => expect.objectContaining({ reason: 'cancelled' })),
    );
  });
  release();
});

test('failures of items are skipped or collected in their places', async () => {
  verifies('flow.many-items');
  const workspace = await workspaceOf();
  const failing = (on_error: string) => ({
    name: 'Failing',
    initialAgent: 'each',
    steps: [
      { _id: 'each', type: 'map', items: 'inputs.numbers', first: 'value', on_error },
      { _id: 'value', type: 'set', values: { at: 'item == 207 ? [1][5] : index' } },
    ],
  });
  const [skipped, collected] = await Promise.all(
    ['skip', 'collect'].map(async (on_error) => {
      const id = await runOver(workspace, 210, failing(on_error));
      return (await untilExecution(workspace, id, 'completed')).conclusion.output;
    }),
  );
  expect(skipped).toEqual(
    numbers(210)
      .filter((at) => at !== 207)
      .map((at) => ({ at })),
  );
  expect(collected).toHaveLength(210);
  expect(collected[207]).toMatchObject({ error: { code: 'validation_failed' } });
});

test('what is no list, and a list of more than 100,000 items, is refused', async () => {
  verifies('flow.many-items');
  const workspace = await workspaceOf();
  const over = (source: string) => ({
    name: 'List',
    initialAgent: 'list',
    steps: [
      { _id: 'list', type: 'code', source, next: 'each' },
      { _id: 'each', type: 'map', items: 'outputs.list', first: 'same' },
      { _id: 'same', type: 'set', values: { item: 'item' } },
    ],
  });
  const [noList, tooMany] = await Promise.all(
    ['return { a: 1 };', 'return Array(100001).fill(1);'].map(async (source) => {
      const id = await startExecution(workspace, over(source));
      return (await untilExecution(workspace, id, 'failed')).execution_context.failure;
    }),
  );
  expect(noList).toMatchObject({ code: 'validation_failed', message: expect.stringContaining('must return a list') });
  expect(tooMany).toMatchObject({ code: 'validation_failed', message: expect.stringContaining('at most 100000') });
});

test('an act of one item that waits for approval holds only its own path', async () => {
  verifies('flow.many-items');
  const of = await governed(ask);
  const { workspace, approver } = of;
  const id = await runOver(workspace, 201, doubling(workspace, 'number == 200'));
  const slice = await eventually(async () => {
    const [first, second] = await slicesOf(id);
    expect(first?.status).toBe('completed');
    return String(second?._id);
  });
  const approval = await heldApproval(of, slice);
  expect(calledBy(workspace)).toHaveLength(0);
  expect(await decide(approver, approval, 'approve')).toMatchObject({ status: 200 });
  const { conclusion } = await untilExecution(workspace, id, 'completed');
  expect(conclusion.output.all).toEqual(doubled(201));
});
