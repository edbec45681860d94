import { expect, test } from '@jest/globals';
import { eventually } from '../../../support/eventually.js';
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
  ['const [a, b] = await Promise.all([1, Promise.resolve(2)]); return a + b;', 3],
  ['return new Promise((resolve) => resolve({ n: 1 }));', { n: 1 }],
  [
    'class Point { x = 1 }; return [new Point(), new Date(0), undefined, { y: undefined }];',
    [{ x: 1 }, '1970-01-01T00:00:00.000Z', null, {}],
  ],
])('%s returns %j', async (source, output) => {
  verifies('flow.code');
  const { execution } = await runCode(source, 'completed');
  expect(execution.conclusion.output).toEqual(output);
});

test.concurrent.each([
  ['\n\nthrow new Error("no");', 'line 3: Error: no'],
  ['return nosuch;', 'line 1: ReferenceError'],
  ['let x = ;', 'line 1: SyntaxError'],
  ['\nawait null;\nthrow new Error("late");', 'line 3: Error: late'],
  ['return Promise.reject(new Error("rejected"));', 'line 1: Error: rejected'],
  ['return new Promise(() => {});', 'promise that never settles'],
  ['for (;;) await null;', 'longer than 1 seconds'],
  ['(async () => { for (;;) await null; })(); return 1;', 'longer than 1 seconds'],
  ['throw { status: 402, text: "no credit" };', '{"status":402,"text":"no credit"}'],
  ['throw "no credit";', 'the code failed: no credit'],
  ['return;', 'must return a JSON value, such as an object'],
  ['return function () {};', 'must return a JSON value, but returns a function'],
  ['return { total: 0 / 0 };', '"total" is NaN'],
  ['return [1, 1 / 0];', '"1" is Infinity'],
  ['return { rows: [new Map([[1, 2]])] };', '"0" is an object of the class Map'],
  ['return { failed: new Error("x") };', '"failed" is an object of the class Error'],
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

test.each([
  ['completed', 'return inputs.list.length;'],
  ['failed', 'throw new Error("x");'],
  ['failed', 'for (;;);'],
])('the details of a step that has %s show what its code wrote: %s', async (end, source) => {
  verifies('flow.code');
  const written = 'console.log("rows", inputs.list, new Error("odd")); console.warn({ a: 1n });';
  const { workspace, id } = await runCode(`${written} ${source}`, end, { timeout_seconds: 1 });
  await eventually(async () => {
    const { body } = await workspace.api.get(`/execute_flow/${id}/steps/1`);
    expect(body.exchanges.at(-1)).toMatchObject({ log: ['rows [3,1,2] Error: odd', '[object Object]'] });
  });
});

test('the step shows its inputs and output', async () => {
  verifies('flow.code');
  const { workspace, id } = await runCode('return inputs.list.length;', 'completed');
  const { body } = await workspace.api.get(`/execute_flow/${id}/monitoring`);
  expect(body.steps).toMatchObject([{ step_id: 'code', kind: 'code', status: 'completed', output: 3 }]);
});
