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
      ['outputs.again', 'unreached', { output: { sum: 3 }, rounds: 3 }, ''],
    ] as const;
    for (const [expression, at, value, path] of cases)
      expect([expression, await evaluate(workspace, id, expression, at)]).toMatchObject([
        expression,
        { status: 200, body: { value, path } },
      ]);
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
