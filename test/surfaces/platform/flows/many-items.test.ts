import { expect, test } from '@jest/globals';
import { eventually } from '../../../support/eventually.js';
import { startExecution, untilExecution } from '../../../support/executions.js';
import { createWorkspace, useDeps } from '../../../support/fixture.js';

const deps = useDeps();

test('10,000 items', async () => {
  const workspace = await createWorkspace(deps);
  const orders = Array.from({ length: 10_000 }, (_one, at) => at);
  const started = Date.now();
  const id = await startExecution(
    workspace,
    {
      name: 'Orders',
      initialAgent: 'each',
      steps: [
        { _id: 'each', type: 'map', items: 'inputs.orders', as: 'order', first: 'price', next: 'sum' },
        { _id: 'price', type: 'set', values: { total: 'order * 2', at: 'index' } },
        {
          _id: 'sum',
          type: 'set',
          values: { size: 'size(outputs.each)', last: 'outputs.each[9999]', some: 'outputs.each[777]' },
        },
      ],
    },
    { input_variables: { orders } },
  );
  const seen = await eventually(async () => {
    const { body } = await workspace.api.get(`/execute_flow/${id}/monitoring?path=each/250/price`);
    const one = await workspace.api.get(`/execute_flow/${id}/monitoring?path=each/250`);
    expect(one).toMatchObject({ status: 200, body: { steps: [{ step_id: 'each/250/price', status: 'completed' }] } });
    return body.status;
  });
  console.log('seen', seen, Date.now() - started);
  const run = await untilExecution(workspace, id, { end_time: expect.any(Number) });
  console.log(Date.now() - started, JSON.stringify(run.conclusion?.output), JSON.stringify(run.execution_context));
  expect(run.conclusion.output).toEqual({
    size: 10000,
    last: { total: 19998, at: 9999 },
    some: { total: 1554, at: 777 },
  });
  const graph = await workspace.api.get(`/execute_flow/${id}/graph`);
  console.log(JSON.stringify(graph.body.nodes));
});
