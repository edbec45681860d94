import { expect, test } from '@jest/globals';
import { ask, decide, heldApproval, useActs } from '../../../support/acts.js';
import { startExecution, untilExecution } from '../../../support/executions.js';
import { createWorkspace, type Workspace } from '../../../support/fixture.js';
import { refusal } from '../../../support/refusal.js';
import { verifies } from '../../../support/verifies.js';

const { deps, governed, lifecyclesOf, sink } = await useActs();

const field = { field_id: 'amount', type: 'number', required: true, mark: 'amount' };

/** A flow that posts an amount for each item. */
const paying = ({ projectID }: Pick<Workspace, 'projectID'>, change: object = {}, map: object = {}) => ({
  name: 'Payments',
  initialAgent: 'each',
  steps: [
    { _id: 'each', type: 'map', items: 'inputs.orders', as: 'order', first: 'pay', concurrency: 1, ...map },
    {
      _id: 'pay',
      type: 'action',
      title: 'Pay',
      action: {
        name: 'Pay an order',
        endpoint: `${sink.url}/${projectID}/{{ order.id }}`,
        input_schema: { fields: [field] },
      },
      inputs: { amount: 'order.price * 2' },
      ...change,
    },
  ],
});
const orders = {
  input_variables: {
    orders: [
      { id: 'a', price: 1.5 },
      { id: 'b', price: 4 },
    ],
  },
};
const answers = ({ projectID }: Workspace) =>
  sink.answer(
    `/${projectID}`,
    (request, res) => void res.writeHead(200, { 'content-type': 'application/json' }).end(`{"paid":${request.body}}`),
  );

test('an action step calls its action with computed inputs, and its output is the answer', async () => {
  verifies('flow.action');
  const workspace = await createWorkspace(deps);
  answers(workspace);
  const id = await startExecution(workspace, paying(workspace), orders);
  const { conclusion } = await untilExecution(workspace, id, 'completed');
  expect(conclusion.output).toEqual([{ paid: { amount: 3 } }, { paid: { amount: 8 } }]);
  const calls = sink.seen(`/${workspace.projectID}`);
  expect(calls.map(({ path, body }) => [path.split('/').at(-1), JSON.parse(body)])).toEqual([
    ['a', { amount: 3 }],
    ['b', { amount: 8 }],
  ]);
  expect(new Set(calls.map(({ headers }) => headers['idempotency-key']))).toEqual(
    new Set([`${id}/each/0/pay`, `${id}/each/1/pay`]),
  );
});

test('its call is an act: rules read its path and amount, an approver releases it, and a rejection fails its path', async () => {
  verifies('flow.action', 'flow.approvals', 'flow.errors');
  const of = await governed(ask);
  const { workspace } = of;
  answers(workspace);
  const id = await startExecution(workspace, paying(workspace, {}, { on_error: 'collect' }), orders);
  const first = await heldApproval(of, id);
  expect(await decide(of.approver, first, 'reject')).toMatchObject({ status: 200 });
  const second = await heldApproval(of, id, first);
  expect(of.seen()).toBe(0);
  const { body } = await of.approver.get(`/v1/approvals/${second}`);
  expect(JSON.stringify(body.payload)).toContain('"amount":8');
  expect(await decide(of.approver, second, 'approve')).toMatchObject({ status: 200 });
  const { conclusion } = await untilExecution(workspace, id, 'completed');
  expect(conclusion.output).toEqual([
    { error: { code: 'approval_rejected', message: expect.any(String) } },
    { paid: { amount: 8 } },
  ]);
  expect(of.seen()).toBe(1);
  const outcomes = (await lifecyclesOf(of)).map(({ act }) => act?.outcome);
  expect(outcomes).toEqual(['held', 'refused', 'held', 'answered']);
});

test('storing one is storing an action for rules, also in a change and a copy', async () => {
  verifies('flow.action');
  const of = await governed({
    policy_id: 'no-actions',
    effect: 'forbid',
    tools: ['action.create'],
    description: 'Nobody stores actions.',
  });
  const { api, projectID } = of.workspace;
  const refused = refusal(403, 'S5:policy', 'Nobody stores actions');
  expect(await api.post(`/agentflow?projectID=${projectID}`, paying(of.workspace))).toMatchObject(refused);
  const { body } = await api.post(`/agentflow?projectID=${projectID}`, { name: 'Empty' });
  const { initialAgent, steps } = paying(of.workspace);
  expect(await api.patch(`/agentflow/${body._id}`, { initialAgent, steps })).toMatchObject(refused);
});

test('inputs that the action does not have, and a path without a connector, are refused', async () => {
  verifies('flow.action', 'flow.checks');
  const workspace = await createWorkspace(deps);
  const flow = paying(workspace, { inputs: { total: '1' }, action: { name: 'Pay', endpoint: '/pay' } });
  const answer = await workspace.api.post('/agentflow', flow);
  expect(answer).toMatchObject(refusal(422, 'validation_failed', 'steps.pay.inputs.total'));
  expect(answer.body.error_description).toContain('steps.pay.action.endpoint');
});
