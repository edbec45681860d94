import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { BSON } from 'mongodb';
import { storedBytes } from '../../../../workflows/agentflow-execution/stored-size.js';
import {
  closedAs,
  prepareExecution,
  startAsPlanned,
  startExecution,
  untilExecution,
} from '../../../support/executions.js';
import { beginStream, chunk, endStream, send, startFakeModel, usageChunk } from '../../../support/fake-model.js';
import { createWorkspace, useDeps, type Workspace } from '../../../support/fixture.js';
import { ownProduct } from '../../../support/own-product.js';
import { useHttpSink } from '../../../support/use-http-sink.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const sink = await useHttpSink();
const overrides: Record<string, string> = {};
const product = ownProduct(overrides);
const model = await startFakeModel();
let workspaceOf: () => Promise<Workspace>;
beforeAll(async () => {
  overrides.LLM_BASE_URL = model.url;
  const [api] = await Promise.all([product.api(), product.worker()]);
  workspaceOf = async () => product.through(api, await createWorkspace(deps));
});
afterAll(() => model.close());

const kib = 1024;
const code = (_id: string, source: string, next: string | null = null) => ({ _id, type: 'code', source, next });
const text = (size: number) => `return "x".repeat(${size});`;

/** A flow of one step or agent, whose output has so many characters. */
const producers: Record<string, (workspace: Workspace, size: number) => object> = {
  code: (_workspace, size) => ({ initialAgent: 'a', steps: [code('a', text(size))] }),
  action({ projectID }, size) {
    sink.answer(`/${projectID}`, (_request, res) => void res.writeHead(200).end('x'.repeat(size)));
    const call = { name: 'Get', method: 'GET', endpoint: `${sink.url}/${projectID}/large` };
    return { initialAgent: 'a', steps: [{ _id: 'a', type: 'action', action: call }] };
  },
  agent({ projectID }, size) {
    const name = `large-${projectID}`;
    model.on(name, (res) => {
      const part = 50 * kib;
      beginStream(res);
      for (let left = size; left > 0; left -= part) send(res, chunk({ content: 'x'.repeat(Math.min(left, part)) }));
      send(res, chunk({}, 'stop'), usageChunk);
      endStream(res);
    });
    return { agents: [{ _id: 'a', title: 'Large', prompt: { template: 'Write' }, llm: { model: name } }] };
  },
};

async function endOf(workspace: Workspace, flow: object, plan?: object) {
  const whole = { name: 'Large', ...flow };
  let id: string;
  if (plan) {
    ({ execution_id: id } = await prepareExecution(workspace, whole));
    await startAsPlanned(deps, id, plan);
  } else id = await startExecution(workspace, whole);
  const run = await untilExecution(workspace, id, { end_time: expect.any(Number) });
  await closedAs(deps, id);
  expect(await workspace.api.get(`/execute_flow/${id}/monitoring`)).toMatchObject({ status: 200 });
  const { conclusion, execution_context } = run;
  const { code: problem = null, message = '' } = execution_context.failure ?? {};
  return { conclusion, problem, message };
}

describe.each(Object.keys(producers))('a large output of an agent or step (%s)', (kind) => {
  test.each([
    [300 * kib, null],
    [900 * kib, null],
    [3072 * kib, kind === 'code' ? 'validation_failed' : 'too_large'],
  ])('of %i characters is kept, or refused with the reason', async (size, refused) => {
    verifies('flow.large-outputs');
    const workspace = await workspaceOf();
    const flow = producers[kind]?.(workspace, size) ?? {};
    const { conclusion, problem, message } = await endOf(workspace, flow);
    expect(problem).toBe(refused);
    if (refused === null) expect(conclusion.conclusion).toContain('x'.repeat(size));
    else expect(message).toMatch(/returns more than|is larger than/);
  });
});

describe('many large outputs', () => {
  const map = (count: number, size: number, next: string | null = null) => [
    { _id: 'each', type: 'map', items: JSON.stringify(Array.from({ length: count }, () => 0)), first: 'a', next },
    code('a', text(size)),
  ];

  test('of a map are kept up to the limit of a run, and beyond it the run fails with the reason', async () => {
    verifies('flow.large-outputs');
    const workspace = await workspaceOf();
    const kept = await endOf(workspace, { initialAgent: 'each', steps: map(3, 300 * kib) });
    expect(kept.conclusion.output.map((each: string) => each.length)).toEqual(
      [300, 300, 300].map((size) => size * kib),
    );
    const refused = await endOf(workspace, { initialAgent: 'each', steps: map(8, 300 * kib) });
    expect(refused).toMatchObject({
      problem: 'validation_failed',
      message: expect.stringContaining('are larger than'),
    });
  });

  test('survive that the run continues as new', async () => {
    verifies('flow.large-outputs', 'execution.continue-as-new');
    const workspace = await createWorkspace(deps);
    const waits = ['w1', 'w2', 'w3'].map((_id, at) => ({
      _id,
      type: 'wait',
      seconds: 1,
      next: at < 2 ? `w${at + 2}` : 'end',
    }));
    const end = { _id: 'end', type: 'set', values: { sizes: 'outputs.each.map(each, size(each))' } };
    const steps = [...map(3, 300 * kib, 'w1'), ...waits, end];
    const { conclusion } = await endOf(workspace, { initialAgent: 'each', steps }, { max_history_events: 8 });
    expect(conclusion.output).toEqual({ sizes: [300, 300, 300].map((size) => size * kib) });
  });

  test('for which the record has no room end the run with the reason, so that its end can be written', async () => {
    verifies('flow.large-outputs');
    const workspace = await workspaceOf();
    // In the store, each number needs several times its text.
    const numbers = 'return Array.from({ length: 500000 }, () => 1);';
    const one = await endOf(workspace, { initialAgent: 'a', steps: [code('a', numbers)] });
    expect(one.conclusion.output).toHaveLength(500_000);
    const two = { initialAgent: 'a', steps: [code('a', numbers, 'b'), code('b', numbers)] };
    expect(await endOf(workspace, two)).toMatchObject({
      problem: 'validation_failed',
      message: expect.stringContaining('too large for its record'),
    });
  });
});

test('the size of a value in the store is not underestimated', () => {
  verifies('flow.large-outputs');
  const values = [
    { text: 'a€😀ß\u0000', list: [1, -2.5, true, null, [], {}, 'x'.repeat(1000)], inner: { ключ: [[1, 2], [3]] } },
    { list: Array.from({ length: 2000 }, (_one, at) => at) },
    { list: Array.from({ length: 2000 }, () => '€') },
  ];
  for (const value of values) {
    const exact = BSON.calculateObjectSize(value);
    expect(storedBytes(value)).toBeGreaterThanOrEqual(exact);
    expect(storedBytes(value)).toBeLessThan(exact * 2);
  }
});
