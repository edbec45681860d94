import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { startExecution, untilExecution } from '../../../support/executions.js';
import { createWorkspace, personOf, useDeps, type Workspace } from '../../../support/fixture.js';
import { refusal } from '../../../support/refusal.js';
import { newId } from '../../../../src/base/ids.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();

const flow = {
  name: 'Orders',
  initialAgent: 'each',
  agents: [{ _id: 'writer', title: 'Writer', prompt: { template: 'Thank {{ goal }}' } }],
  steps: [
    { _id: 'each', type: 'map', items: 'inputs.orders', as: 'order', first: 'price', next: 'again' },
    { _id: 'price', type: 'set', values: { total: 'order.price * order.count' } },
    {
      _id: 'again',
      type: 'loop',
      first: 'add',
      until: 'index == 2',
      max_rounds: 5,
      carry: 'outputs.add.sum',
      next: 'writer',
    },
    { _id: 'add', type: 'set', values: { sum: 'carry == null ? 1 : carry + 1' } },
    { _id: 'unreached', type: 'set', values: { x: '1' } },
  ],
};
const orders = [
  { price: 60, count: 2 },
  { price: 5, count: 1 },
];

async function ended(): Promise<{ workspace: Workspace; id: string }> {
  const workspace = await createWorkspace(deps);
  const id = await startExecution(workspace, flow, { input_variables: { orders } });
  await untilExecution(workspace, id, 'completed');
  return { workspace, id };
}

const evaluate = ({ api }: Pick<Workspace, 'api'>, id: string, expression: string, at?: string) =>
  api.get(
    `/execute_flow/${id}/evaluate?${new URLSearchParams({ expression, ...(at !== undefined && { at }) }).toString()}`,
  );

describe('GET /execute_flow/{execution_id}/evaluate', () => {
  test('evaluates an expression as a step of the run would have', async () => {
    verifies('flow.evaluate');
    const { workspace, id } = await ended();
    const { body: run } = await workspace.api.get(`/execute_flow/${id}`);
    const cases = [
      ['inputs.orders[0].price + 1', undefined, 61, ''],
      ['size(outputs.each)', undefined, 2, ''],
      ['outputs.writer', undefined, run.conclusion.conclusion, ''],
      ['goal + execution.path', 'writer', 'the sink', ''],
      ['order.count * 10', 'price', 20, 'each/0'],
      ['outputs.price.total + item.price + index', 'each/1/price', 5 + 5 + 1, 'each/1'],
      ['[carry, index, outputs.add.sum]', 'again/0/add', [null, 0, 1], 'again/0'],
      ['[carry, index, outputs.add.sum]', 'again/2/add', [2, 2, 3], 'again/2'],
      ['[uint(3) + 1u, duration("90m"), {1u: optional.none()}]', 'writer', [4, 5400, { 1: null }], ''],
      ['timestamp("2026-07-01T10:00:00Z").getDayOfYear()', undefined, 181, ''],
      ['timestamp("2026-10-03T16:00:00Z").getHours("Europe/Zurich")', undefined, 18, ''],
      ['outputs.again', 'unreached', { output: { sum: 3 }, rounds: 3 }, ''],
    ] as const;
    for (const [expression, at, value, path] of cases)
      expect([expression, await evaluate(workspace, id, expression, at)]).toMatchObject([
        expression,
        { status: 200, body: { value, path } },
      ]);
  });

  test('has functions for lists, numbers, texts and times, which take numbers of JSON', async () => {
    verifies('flow.expressions.functions');
    const { workspace, id } = await ended();
    const text = '"a-b-c"';
    const prices = 'inputs.orders.map(order, order.price)';
    const cases = {
      [`${prices}.sum()`]: 65,
      [`math.round(${prices}.sum() / 3 * 100) / 100`]: 21.67,
      '[1, 2].sum() + [].sum()': 3,
      [`[${prices}.max(), ${prices}.min()]`]: [60, 5],
      '[timestamp(9), timestamp(3)].min()': '1970-01-01T00:00:03.000Z',
      [`${prices}.sort()`]: [5, 60],
      '["b", "ä", "a"].sort()': ['a', 'b', 'ä'],
      '[3, 1, 2].reverse()': [2, 1, 3],
      '[1, 1.0, "1", {"a": 1, "b": 2}, {"b": 2, "a": 1}].distinct()': [1, '1', { a: 1, b: 2 }],
      '[[1], [2, [3]], 4].flatten()': [1, 2, [3], 4],
      '[1, 2, 3].slice(1, inputs.orders[0].count + 1)': [2, 3],
      [`math.greatest(1, ${prices}[0]) + math.least([3, 2])`]: 62,
      '[math.round(-1.5), math.floor(-1.5), math.ceil(-1.5), math.trunc(-1.5), math.abs(-1.5), math.abs(-2)]': [
        -2, -2, -1, -1, 1.5, 2,
      ],
      [`${text}.replace("-", "$&")`]: 'a$&b$&c',
      '"ab".replace("", "-")': '-a-b-',
      [`[${text}.substring(inputs.orders[0].count), ${text}.substring(0, inputs.orders[1].count)]`]: ['b-c', 'a'],
      [`[${text}.indexOf("-", inputs.orders[0].count)]`]: [3],
      [`${text}.split("-", inputs.orders[0].count)`]: ['a', 'b-c'],
      '[string(timestamp(0)), string(duration("90s"))]': ['1970-01-01T00:00:00.000Z', '90s'],
      'int(timestamp("2026-07-01T00:00:00Z"))': 1782864000,
      'timestamp(execution.started_at) > timestamp("2026-01-01T00:00:00Z")': true,
    };
    for (const [expression, value] of Object.entries(cases))
      expect([expression, await evaluate(workspace, id, expression)]).toMatchObject([expression, { body: { value } }]);
    const refused = {
      '[1, "a"].sum()': 'sum() requires a list of numbers',
      '[1, "a"].sort()': 'sort() requires a list whose values are all numbers, all texts or all times',
      '[].max()': 'max() requires a list with at least one value',
      '[1].slice(0, 2)': 'slice() has a position outside the list, which has 1 items',
      '"abc".substring(0.5)': 'substring() requires an integer, not 0.5',
      'timestamp(1e20)': 'timestamp() requires seconds since 1970 within the years 1 to 9999',
      'inputs.orders[0].price > "1"': 'no such overload: double > string',
    };
    for (const [expression, problem] of Object.entries(refused))
      expect(await evaluate(workspace, id, expression)).toMatchObject(refusal(422, 'validation_failed', problem));
  });

  test('counts the work of its functions before it is done', async () => {
    verifies('flow.expressions.bounded');
    const workspace = await createWorkspace(deps);
    const long = Array.from({ length: 25_000 }, (_, at) => at);
    const text = 'a'.repeat(200_000);
    const id = await startExecution(
      workspace,
      { name: 'Long', initialAgent: 'none', steps: [{ _id: 'none', type: 'set', values: { none: 'null' } }] },
      { input_variables: { long, text } },
    );
    await untilExecution(workspace, id, 'completed');
    const expressions = [
      'inputs.long.map(a, inputs.long).flatten().flatten()',
      '[inputs.long, inputs.long, inputs.long, inputs.long, inputs.long].flatten().sort()',
      'inputs.text.replace("a", inputs.text)',
      'inputs.long.map(a, inputs.text).distinct()',
    ];
    for (const expression of expressions)
      expect([expression, await evaluate(workspace, id, expression)]).toMatchObject([
        expression,
        refusal(422, 'validation_failed', 'takes more than 300000 steps'),
      ]);
    expect((await evaluate(workspace, id, 'inputs.long.sort().reverse().slice(0, 1)')).body.value).toEqual([24_999]);
  });

  test('lets an item keep the name of a namespace that an earlier release accepted', async () => {
    verifies('flow.expressions.functions');
    const module = new URL('../../../../dist/workflows/agentflow-execution/flow/expressions.js', import.meta.url);
    const program = `import { evaluateExpression } from '${module.href}';
      console.log(evaluateExpression('math.price + 1', { math: { price: 2 } }));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
    expect(stdout).toBe('3\n');
  });

  test('says why an expression has no value, within the bounds of a step', async () => {
    verifies('flow.evaluate');
    const { workspace, id } = await ended();
    const list = `[${Array.from({ length: 100 }, (_, at) => at).join(',')}]`;
    const refused = [
      ['1 +', undefined, 'expression: '],
      ['missing', undefined, 'Unknown variable: missing'],
      ['order.price', undefined, 'Unknown variable: order'],
      ['outputs.missing', undefined, 'missing'],
      ['goal.matches("(a+)+b")', undefined, 'the function "matches" is not available'],
      [`${list}.map(a, ${list}.map(b, ${list}.map(c, c)))`, undefined, 'takes more than 300000 steps'],
      ['1', 'nobody', 'at: the execution has no agent or step nobody'],
      ['1', 'each/0/nobody', 'at: the execution has no agent or step nobody'],
    ] as const;
    for (const [expression, at, problem] of refused)
      expect(await evaluate(workspace, id, expression, at)).toMatchObject(refusal(422, 'validation_failed', problem));
    expect(await evaluate(workspace, id, `"${'x'.repeat(4000)}"`)).toMatchObject({ status: 400 });
    expect(await evaluate(workspace, id, '')).toMatchObject({ status: 400 });
  });

  test('is a read of the run: only who sees the run can evaluate', async () => {
    verifies('flow.evaluate');
    const { workspace, id } = await ended();
    const stranger = await createWorkspace(deps);
    expect(await evaluate(stranger, id, '1')).toMatchObject(refusal(404, 'not_found'));
    expect(
      await evaluate({ api: await personOf(deps, workspace, { role: 'VIEWER', userId: newId() }) }, id, '1'),
    ).toMatchObject({ status: 200 });
    const member = await personOf(deps, workspace, { role: 'MEMBER', userId: newId() });
    expect(await evaluate({ api: member }, id, '1')).toMatchObject(refusal(404, 'not_found'));
  });
});
