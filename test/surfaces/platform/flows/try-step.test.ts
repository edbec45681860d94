import { describe, expect, test } from '@jest/globals';
import { ask, decide, heldApproval, useActs } from '../../../support/acts.js';
import { moveExecution, untilExecution } from '../../../support/executions.js';
import { createWorkspace, personOf, type Workspace } from '../../../support/fixture.js';
import { refusal } from '../../../support/refusal.js';
import { newId } from '../../../../src/base/ids.js';
import { verifies } from '../../../support/verifies.js';

const { deps, governed, sink } = await useActs();

const flowOf = ({ projectID }: Pick<Workspace, 'projectID'>) => ({
  name: 'Orders',
  initialAgent: 'net',
  input_schema: { type: 'object', properties: { orders: { type: 'array' } }, required: ['orders'] },
  output_schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  failover_goal: 'Start again',
  agents: [
    {
      _id: 'writer',
      title: 'Writer',
      prompt: { template: 'Write {{ previous }} about {{ outputs_by_id.net.total }}', variables: [] },
      next_agent: 'judge',
    },
    { _id: 'judge', title: 'Judge', prompt: { template: 'Judge {{ previous }}' } },
    { _id: 'packer', title: 'Packer', prompt: { template: 'Pack {{ order.name }}', variables: ['order'] } },
  ],
  steps: [
    { _id: 'net', type: 'set', values: { total: 'inputs.price * inputs.count' }, next: 'gross' },
    { _id: 'gross', type: 'set', values: { total: 'outputs.net.total * 2' }, next: 'size' },
    { _id: 'size', type: 'branch', cases: [{ name: 'large', when: 'outputs.gross.total > 100', next: 'each' }] },
    { _id: 'each', type: 'map', items: 'inputs.orders', as: 'order', first: 'line', next: 'sum' },
    { _id: 'line', type: 'set', values: { price: 'order.price + index' }, next: 'packer' },
    { _id: 'sum', type: 'code', inputs: { each: 'outputs.each' }, source: 'return inputs.each.length;', next: 'pay' },
    {
      _id: 'pay',
      type: 'action',
      action: {
        name: 'Pay',
        endpoint: `${sink.url}/${projectID}/pay`,
        input_schema: { fields: [{ field_id: 'amount', type: 'number', required: true, mark: 'amount' }] },
      },
      inputs: { amount: 'outputs.sum' },
      next: 'writer',
    },
    { _id: 'broken', type: 'code', source: 'throw new Error("no stock");' },
  ],
});

async function stored(workspace: Workspace): Promise<string> {
  const answer = await workspace.api.post('/agentflow', flowOf(workspace));
  expect(answer).toMatchObject({ status: 201 });
  return answer.body._id;
}

const tryStep = ({ api }: Pick<Workspace, 'api'>, id: string, step: string, body: object = {}, headers = {}) =>
  api.post(`/agentflow/${id}/steps/${step}/try`, body, headers);

async function outputOf(workspace: Workspace, id: string, step: string, body: object) {
  const answer = await tryStep(workspace, id, step, body);
  expect(answer).toMatchObject({ status: 201, body: { draft: true, execution_context: { tried_step: step } } });
  const { conclusion } = await untilExecution(workspace, answer.body.execution_id, 'completed');
  return conclusion.output ?? conclusion.conclusion;
}

describe('POST /agentflow/{id}/steps/{step_id}/try', () => {
  test('runs one step alone, with the given values and its own parts', async () => {
    verifies('flow.try');
    const workspace = await createWorkspace(deps);
    const id = await stored(workspace);
    const net = { net: { total: 60 } };
    expect(await outputOf(workspace, id, 'net', { inputs: { price: 3, count: 4 } })).toEqual({ total: 12 });
    expect(await outputOf(workspace, id, 'gross', { outputs: net })).toEqual({ total: 120 });
    expect(await outputOf(workspace, id, 'size', { outputs: { gross: { total: 120 } } })).toEqual({ case: 'large' });
    expect(await outputOf(workspace, id, 'sum', { outputs: { each: [1, 2] } })).toBe(2);
    const item = { price: 7, name: 'Ada' };
    expect(await outputOf(workspace, id, 'line', { names: { item, order: item, index: 1 } })).toEqual({ price: 8 });
    const orders = [item, { price: 1, name: 'Bob' }];
    const packed = await outputOf(workspace, id, 'each', { inputs: { orders } });
    expect(packed).toEqual([expect.stringContaining('Ada'), expect.stringContaining('Bob')]);
  });

  test('runs one agent, whose prompt has the given outputs; at the end of the flow its answer has the schema of the flow', async () => {
    verifies('flow.try');
    const workspace = await createWorkspace(deps);
    const id = await stored(workspace);
    const outputs = { net: { total: 60 }, judge: 'a fair verdict' };
    const written = await outputOf(workspace, id, 'writer', { outputs });
    expect(written).toContain('Write a fair verdict about 60');
    expect(await outputOf(workspace, id, 'judge', { outputs: { writer: 'my text' } })).toEqual({
      text: expect.stringContaining('my text'),
    });
    expect(await outputOf(workspace, id, 'packer', { names: { order: { name: 'Ada' } } })).toContain('Pack Ada');
  });

  test('shows a failure without a failover, and evaluates and runs again with the given values', async () => {
    verifies('flow.try');
    const workspace = await createWorkspace(deps);
    const { api } = workspace;
    const id = await stored(workspace);
    const waiting = await tryStep(workspace, id, 'broken', {}, { prefer: 'wait=30' });
    expect(waiting).toMatchObject({ status: 201, body: { status: 'failed' } });
    expect(waiting.body.execution_context.failure.message).toContain('no stock');
    const { body } = await tryStep(workspace, id, 'gross', { outputs: { net: { total: 4 } } }, { prefer: 'wait=30' });
    expect(body.conclusion.output).toEqual({ total: 8 });
    const value = await api.get(`/execute_flow/${body.execution_id}/evaluate?expression=outputs.net.total`);
    expect(value).toMatchObject({ status: 200, body: { value: 4 } });
    const again = await api.post(`/execute_flow/${body.execution_id}/rerun`, {});
    expect(again).toMatchObject({ status: 201, body: { execution_context: { tried_step: 'gross' } } });
    await moveExecution(workspace, again.body.execution_id, 'execute');
    expect(await untilExecution(workspace, again.body.execution_id, 'completed')).toMatchObject({
      conclusion: { output: { total: 8 } },
    });
  });

  test('refuses what the flow does not have, with all problems', async () => {
    verifies('flow.try');
    const workspace = await createWorkspace(deps);
    const id = await stored(workspace);
    const stranger = await createWorkspace(deps);
    expect(await tryStep(stranger, id, 'net')).toMatchObject(refusal(404, 'not_found'));
    expect(await tryStep(workspace, id, 'nobody')).toMatchObject(refusal(404, 'not_found', 'the agent or step'));
    const wrong = { outputs: { nobody: 1 }, names: { item: 1, order: 2 } };
    const answer = await tryStep(workspace, id, 'gross', wrong);
    expect(answer).toMatchObject(
      refusal(422, 'validation_failed', 'outputs.nobody: the agentflow has no agent or step'),
    );
    expect(answer.body.error_description).toContain('names.item: "gross" does not know this name');
    expect(await tryStep(workspace, id, 'line', { names: { carry: 1 } })).toMatchObject(
      refusal(422, 'validation_failed', 'its part has item, index, order'),
    );
    expect(await tryStep(workspace, id, 'packer')).toMatchObject(refusal(422, 'validation_failed', '"order'));
    expect(await tryStep(workspace, id, 'net', { unknown: 1 })).toMatchObject({ status: 400 });
  });
});

test('only who may edit the agentflow tries a step, and a repeat with the same key tries it once', async () => {
  verifies('flow.try');
  const workspace = await createWorkspace(deps);
  const id = await stored(workspace);
  const as = async (role: string) => ({ api: await personOf(deps, workspace, { role, userId: newId() }) });
  for (const role of ['VIEWER', 'MEMBER', 'APPROVER'])
    expect([role, await tryStep(await as(role), id, 'net')]).toMatchObject([role, { status: 403 }]);
  const editor = await as('EDITOR');
  const body = { inputs: { price: 1, count: 2 } };
  const tries = [1, 2].map(() => tryStep(editor, id, 'net', body, { 'idempotency-key': 'one' }));
  const [first, second] = await Promise.all(tries);
  expect([first?.status, second?.status].filter((status) => status === 201)).not.toHaveLength(0);
  expect(await deps.mongo.collections.executions.countDocuments({ projectID: workspace.projectID })).toBe(1);
});

test('what a tried step does is governed as in a run: an act is held, and rules can forbid tries and starts', async () => {
  verifies('flow.try');
  const of = await governed(ask);
  const { workspace, approver } = of;
  const id = await stored(workspace);
  sink.answer(`/${workspace.projectID}`, (_request, res) => void res.writeHead(200).end('{"paid":true}'));
  const { body } = await tryStep(workspace, id, 'pay', { outputs: { sum: 5 } });
  const held = await heldApproval(of, body.execution_id);
  expect(of.seen('pay')).toBe(0);
  expect(JSON.stringify((await approver.get(`/v1/approvals/${held}`)).body.payload)).toContain('"amount":5');
  expect(await decide(approver, held, 'approve')).toMatchObject({ status: 200 });
  await untilExecution(workspace, body.execution_id, 'completed');
  expect(of.seen('pay')).toBe(1);

  const forbid = (when: string) => ({
    policy_id: 'no',
    effect: 'forbid',
    tools: ['execution.start'],
    when,
    description: 'Not here.',
  });
  for (const when of ['context.input.step == "try"', 'context.input.step == "start"', 'context.input.draft']) {
    await of.policies({ policy_id: 'permit', effect: 'permit' }, forbid(when));
    expect([when, await tryStep(workspace, id, 'pay', { outputs: { sum: 5 } })]).toMatchObject([
      when,
      refusal(403, 'S5:policy', 'Not here.'),
    ]);
  }
  const asks = { policy_id: 'look', effect: 'require_approval', tools: ['execution.start'] };
  await of.policies({ policy_id: 'permit', effect: 'permit' }, { ...asks, when: 'context.input.step == "try"' });
  const asked = await tryStep(workspace, id, 'pay', { outputs: { sum: 5 } });
  expect(asked).toMatchObject({ status: 202 });
  const { payload } = (await approver.get(`/v1/approvals/${asked.body.approval_id}`)).body;
  expect(JSON.stringify(payload)).toContain('"tried_step":"pay"');
  expect(of.seen('pay')).toBe(1);
});

test('a project that runs only releases refuses it', async () => {
  verifies('flow.try');
  const workspace = await createWorkspace(deps);
  const id = await stored(workspace);
  expect(await workspace.api.patch(`/settings/${workspace.projectID}`, { require_release: true })).toMatchObject({
    status: 200,
  });
  expect(await tryStep(workspace, id, 'net')).toMatchObject(refusal(409, 'conflict', 'require_release'));
});
