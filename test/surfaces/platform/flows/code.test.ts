import { expect, test } from '@jest/globals';
import { startExecution, untilExecution } from '../../../support/executions.js';
import { createWorkspace, useDeps } from '../../../support/fixture.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();

async function runCode(source: string, end: string, change: object = {}) {
  const workspace = await createWorkspace(deps);
  const step = { _id: 'code', type: 'code', source, inputs: { list: 'inputs.list', who: 'goal' }, ...change };
  const flow = { name: 'Code', initialAgent: 'code', steps: [step] };
  const id = await startExecution(workspace, flow, { input_variables: { list: [3, 1, 2] } });
  return { workspace, id, execution: await untilExecution(workspace, id, end) };
}

test.concurrent.each([
  ['return inputs.list.sort().map((n) => ({ n }));', [{ n: 1 }, { n: 2 }, { n: 3 }]],
  [
    'return [inputs.who, typeof fetch, typeof require, typeof process, typeof setTimeout];',
    ['the sink', ...Array(4).fill('undefined')],
  ],
  [
    'const a = Date.now(); for (let i = 0; i < 1e6; i += 1); return [Date.now() - a, new Date() - a, new Date(5).getTime()];',
    [0, 0, 5],
  ],
  ['return new (Object.getPrototypeOf(new Date()).constructor)() - Date.now();', 0],
])('%s returns %j', async (source, output) => {
  verifies('flow.code');
  const { execution } = await runCode(source, 'completed');
  expect(execution.conclusion.output).toEqual(output);
});

test.concurrent.each([
  ['\n\nthrow new Error("no");', 'line 3: Error: no'],
  ['return nosuch;', 'line 1: ReferenceError'],
  ['let x = ;', 'line 1: SyntaxError'],
  ['return function () {};', 'must return a JSON value'],
  ['const a = {}; a.a = a; return a;', 'circular'],
  ['const f = () => f() + 1; return f();', 'code failed'],
  ['const all = []; for (;;) all.push(new Array(100000).fill(1));', 'code failed'],
  ['for (;;) try { for (;;); } catch {}', 'longer than 1 seconds'],
  ['return "x".repeat(2e6);', 'more than 1048576 characters'],
  ['return 10n;', 'BigInt'],
  ['})(); while (true) {} (function () {', 'code failed'],
])('%s fails with its reason', async (source, reason) => {
  verifies('flow.code');
  const { execution } = await runCode(source, 'failed', { timeout_seconds: 1 });
  expect(execution.execution_context.failure).toMatchObject({
    code: 'validation_failed',
    step_id: 'code',
    message: expect.stringContaining(reason),
  });
});

test('the step shows its inputs and output', async () => {
  verifies('flow.code');
  const { workspace, id } = await runCode('return inputs.list.length;', 'completed');
  const { body } = await workspace.api.get(`/execute_flow/${id}/monitoring`);
  expect(body.steps).toMatchObject([{ step_id: 'code', kind: 'code', status: 'completed', output: 3 }]);
});
