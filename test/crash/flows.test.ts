import { expect, test } from '@jest/globals';
import { newId } from '../../src/base/ids.js';
import { eventually } from '../support/eventually.js';
import { startExecution } from '../support/executions.js';
import { createWorkspace, useDeps } from '../support/fixture.js';
import { randomFlow } from '../support/random-flows.js';
import { useRunningProduct } from '../support/running-product.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const product = useRunningProduct();
const patience = { timeoutMs: 180_000, everyMs: 500 };

/** A flow that calls the sink for each of six items in a branch, computes in another one, and starts a second agentflow. */
const working = (url: string, agentflow_id: string) => ({
  name: 'Under kills',
  initialAgent: 'fan',
  steps: [
    {
      _id: 'fan',
      type: 'parallel',
      branches: [
        { name: 'calls', first: 'each' },
        { name: 'code', first: 'compute' },
        { name: 'other', first: 'start' },
      ],
      next: 'sum',
    },
    { _id: 'each', type: 'map', items: '[1, 2, 3, 4, 5, 6]', first: 'call', concurrency: 2 },
    { _id: 'call', type: 'action', action: { name: 'Call', endpoint: `${url}/{{ item }}` }, next: 'rest' },
    { _id: 'rest', type: 'wait', seconds: 0.5 },
    { _id: 'compute', type: 'code', source: 'return inputs.n * 2;', inputs: { n: '21' }, next: 'later' },
    { _id: 'later', type: 'wait', seconds: 2, next: 'kept' },
    { _id: 'kept', type: 'set', values: { n: 'outputs.compute' } },
    { _id: 'start', type: 'flow', agentflow_id },
    {
      _id: 'sum',
      type: 'set',
      values: { calls: 'size(outputs.fan.calls)', n: 'outputs.fan.code.n', other: 'outputs.fan.other' },
    },
  ],
});

test('flows go on after kills of worker and API: each call has one key, and the outputs are complete', async () => {
  verifies('flow.durable', 'flow.random');
  const workspace = product.through(await createWorkspace(deps));
  const { api, projectID } = workspace;
  const other = await api.post('/agentflow', {
    name: 'Other',
    initialAgent: 'rest',
    steps: [
      { _id: 'rest', type: 'wait', seconds: 3, next: 'a' },
      { _id: 'a', type: 'set', values: { v: '7' } },
    ],
  });
  const path = `/${projectID}/${newId()}`;
  const flow = working(`${product.sink.url}${path}`, other.body._id);
  const calling = await Promise.all(Array.from({ length: 4 }, () => startExecution(workspace, flow)));
  const random = Array.from({ length: 6 }, (_one, at) => randomFlow(5000 + at));
  const computing = await Promise.all(
    random.map(async ({ interpret, ...given }) => {
      let expected: unknown;
      try {
        expected = interpret();
      } catch {
        expected = undefined;
      }
      return { id: await startExecution(workspace, { name: 'Random', ...given }), expected };
    }),
  );
  for (const what of ['worker', 'api', 'worker'] as const) {
    await eventually(() => expect(product.sink.seen(path).length).toBeGreaterThan(0));
    await product.kill(what);
    await product.start(what);
  }
  const ids = [...calling, ...computing.map(({ id }) => id)];
  const ended = await eventually(async () => {
    const found = await deps.mongo.collections.executions.find({ _id: { $in: ids } }).toArray();
    expect(found.filter(({ status }) => status !== 'completed' && status !== 'failed')).toHaveLength(0);
    return new Map(found.map((record) => [record._id, record]));
  }, patience);
  for (const id of calling) {
    const output = { calls: 6, n: 42, other: { v: 7 } };
    expect(ended.get(id)).toMatchObject({ status: 'completed', conclusion: { output } });
    const keys = [...product.sink.keys().keys()].filter((key) => key.startsWith(`${id}/`));
    expect(keys.sort()).toEqual(Array.from({ length: 6 }, (_one, at) => `${id}/fan/calls/each/${at}/call`));
  }
  for (const { id, expected } of computing) {
    const record = ended.get(id);
    expect(record?.status).toBe(expected === undefined ? 'failed' : 'completed');
    if (expected !== undefined && !JSON.stringify(expected).includes('"error"'))
      expect(record?.conclusion?.output).toEqual(JSON.parse(JSON.stringify(expected)));
  }
});

test('kills of the worker while batches of light steps run: each step has one record, and the outputs are complete', async () => {
  verifies('flow.durable', 'execution.light-steps.batches');
  const workspace = product.through(await createWorkspace(deps));
  const flow = {
    name: 'Light under kills',
    initialAgent: 'many',
    steps: [
      { _id: 'many', type: 'loop', first: 'each', until: 'index >= 5', max_rounds: 6 },
      { _id: 'each', type: 'map', items: '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]', first: 'work', concurrency: 12 },
      { _id: 'work', type: 'code', source: busy, inputs: { n: 'item' }, next: 'add' },
      { _id: 'add', type: 'code', source: 'return inputs.n + 1;', inputs: { n: 'outputs.work' } },
    ],
  };
  const ids = await Promise.all(Array.from({ length: 4 }, () => startExecution(workspace, flow)));
  for (let kills = 0; kills < 2; kills += 1) {
    await eventually(async () => {
      const running = await deps.mongo.collections.executions.countDocuments({ _id: { $in: ids }, status: 'running' });
      expect(running).toBeGreaterThan(0);
    }, patience);
    await product.kill('worker');
    await product.start('worker');
  }
  const records = await eventually(async () => {
    const found = await deps.mongo.collections.executions.find({ _id: { $in: ids } }).toArray();
    expect(found.map(({ status }) => status)).toEqual(ids.map(() => 'completed'));
    return found;
  }, patience);
  for (const { conclusion, steps } of records) {
    const output = Array.from({ length: 12 }, (_one, at) => at * 2 + 1);
    expect(conclusion?.output).toEqual({ output, rounds: 6 });
    const code = steps.filter(({ kind }) => kind === 'code');
    expect(new Set(code.map(({ step_id }) => step_id)).size).toBe(code.length);
    expect(code.map(({ status }) => status)).toEqual(code.map(() => 'completed'));
    expect(code).toHaveLength(6 * 24);
  }
});

/** Takes some tens of milliseconds. */
const busy = `
  let sum = 0;
  for (let at = 0; at < 300000; at += 1) sum += at % 2;
  return sum > 0 ? inputs.n * 2 : 0;
`;
