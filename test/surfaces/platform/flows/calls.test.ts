import { describe, expect, test } from '@jest/globals';
import { heldApproval, decide, useActs } from '../../../support/acts.js';
import { eventually } from '../../../support/eventually.js';
import { moveExecution, runOf, startExecution, untilExecution } from '../../../support/executions.js';
import { createWorkspace, type Workspace } from '../../../support/fixture.js';
import { agentThatCalls } from '../../../support/flows.js';
import { stateQuery } from '../../../../workflows/agentflow-execution/messages.js';
import { verifies } from '../../../support/verifies.js';

const { deps, governed, sink } = await useActs();

const set = (_id: string, values: Record<string, string>, next: string | null = null) => ({
  _id,
  type: 'set',
  values,
  next,
});

async function store({ api }: Pick<Workspace, 'api'>, flow: object): Promise<string> {
  const { body } = await api.post('/agentflow', { name: 'Other', ...flow });
  return body._id;
}

/** A flow that starts another one. */
const starting = (agentflow_id: string, change: object = {}) => ({
  name: 'Starting',
  initialAgent: 'call',
  steps: [
    { _id: 'call', type: 'flow', agentflow_id, inputs: { n: 'inputs.n + 1' }, next: 'end', ...change },
    set('end', { got: 'outputs.call' }),
  ],
});
const input = { input_variables: { n: 1 } };

/** The run that the other one has started. */
async function childOf({ projectID }: Workspace, id: string) {
  return eventually(async () => {
    const [child] = await deps.mongo.collections.executions.find({ projectID, parent_execution_id: id }).toArray();
    if (!child) throw new Error('no child yet');
    return child;
  });
}

test('a flow step waits for another agentflow and returns its output', async () => {
  verifies('flow.calls');
  const workspace = await createWorkspace(deps);
  const other = await store(workspace, { initialAgent: 'twice', steps: [set('twice', { n: 'inputs.n * 2' })] });
  const id = await startExecution(workspace, starting(other, { goal: '"part of " + goal' }), input);
  expect((await untilExecution(workspace, id, 'completed')).conclusion.output).toEqual({ got: { n: 4 } });
  const child = await childOf(workspace, id);
  expect(child).toMatchObject({ goal: 'part of the sink', input_variables: { n: 2 }, status: 'completed' });
});

test('the promoted version runs rather than the saved agentflow, or the version that the step names', async () => {
  verifies('flow.calls');
  const workspace = await createWorkspace(deps);
  const { api } = workspace;
  const other = await store(workspace, { initialAgent: 'a', steps: [set('a', { v: '1' })] });
  for (const v of ['2', '3']) {
    expect(await api.post(`/agentflow/${other}/promote`, {})).toMatchObject({ status: 200 });
    expect(await api.patch(`/agentflow/${other}`, { steps: [set('a', { v })] })).toMatchObject({ status: 200 });
  }
  const run = async (change: object) => {
    const id = await startExecution(workspace, starting(other, change), input);
    return (await untilExecution(workspace, id, 'completed')).conclusion.output;
  };
  expect(await Promise.all([run({}), run({ version: 1 })])).toEqual([{ got: { v: 2 } }, { got: { v: 1 } }]);
});

describe('between the two runs', () => {
  /** A run whose other run waits for an answer of the sink. */
  async function waitingRun() {
    const workspace = await createWorkspace(deps);
    const path = `/${workspace.projectID}/slow`;
    const release = sink.hold(path);
    const other = await store(workspace, { agents: [agentThatCalls([`${sink.url}${path}`])] });
    const id = await startExecution(workspace, starting(other), input);
    const child = await childOf(workspace, id);
    await eventually(() => expect(sink.seen(path)).toHaveLength(1));
    return { workspace, id, child: child._id, release };
  }

  test('a pause and a resume pass on', async () => {
    verifies('flow.calls', 'flow.control');
    const { workspace, id, child, release } = await waitingRun();
    expect(await moveExecution(workspace, id, 'pause')).toMatchObject({ status: 200 });
    await untilExecution(workspace, child, 'paused');
    release();
    expect(await moveExecution(workspace, id, 'resume')).toMatchObject({ status: 200 });
    await untilExecution(workspace, id, 'completed');
    await untilExecution(workspace, child, 'completed');
  });

  test('a pause also holds a run that waits for its turn, and a resume lets it go on', async () => {
    verifies('flow.calls', 'flow.control');
    const workspace = await createWorkspace(deps);
    const path = `/${workspace.projectID}/turn`;
    const release = sink.hold(path);
    const agents = [agentThatCalls([`${sink.url}${path}`])];
    const other = await store(workspace, { agents, concurrency: { limit: 1, key: null, limit_per_key: null } });
    const execute = (body: object) => workspace.api.post('/execute_flow?execute=true', { goal: 'x', ...body });
    const first = (await execute({ agentflow_id: other, draft: true })).body.execution_id;
    await eventually(() => expect(sink.seen(path)).toHaveLength(1));
    const id = await startExecution(workspace, starting(other), input);
    const { _id: child } = await childOf(workspace, id);
    await untilExecution(workspace, child, { status: 'ready', execution_context: { waiting_for: { kind: 'turn' } } });

    for (const move of ['pause', 'resume', 'pause'])
      expect(await moveExecution(workspace, id, move)).toMatchObject({ status: 200 });
    await eventually(async () => {
      const { turn } = await runOf(deps, child).query(stateQuery);
      expect(turn).toMatchObject({ waiting_since: expect.any(Number), pause_asked: { by: 'service' } });
    });
    release();
    await untilExecution(workspace, first, 'completed');
    await untilExecution(workspace, child, 'paused');
    expect(sink.seen(path)).toHaveLength(1);
    expect(await moveExecution(workspace, id, 'resume')).toMatchObject({ status: 200 });
    await untilExecution(workspace, id, 'completed');
    expect(sink.seen(path)).toHaveLength(2);
  });

  test('a cancel passes on', async () => {
    verifies('flow.calls', 'flow.control');
    const { workspace, id, child, release } = await waitingRun();
    expect(await moveExecution(workspace, id, 'cancel')).toMatchObject({ status: 200 });
    const { execution_context } = await untilExecution(workspace, child, 'failed');
    expect(execution_context.failure.reason).toBe('cancelled');
    release();
  });

  test('a failure comes back with its code and reason', async () => {
    verifies('flow.calls', 'flow.errors');
    const workspace = await createWorkspace(deps);
    const other = await store(workspace, { initialAgent: 'a', steps: [set('a', { v: 'int("x")' })] });
    const id = await startExecution(workspace, starting(other), input);
    const { execution_context } = await untilExecution(workspace, id, 'failed');
    const child = await childOf(workspace, id);
    expect(execution_context.failure).toMatchObject({ code: 'validation_failed', step_id: 'call' });
    expect(execution_context.failure.message).toContain(child._id);
  });
});

test('a step that does not wait returns the id, and the other run goes on', async () => {
  verifies('flow.calls');
  const workspace = await createWorkspace(deps);
  const other = await store(workspace, { initialAgent: 'w', steps: [{ _id: 'w', type: 'wait', seconds: 3 }] });
  const id = await startExecution(workspace, starting(other, { wait: false }), input);
  const { conclusion } = await untilExecution(workspace, id, 'completed');
  const { execution_id } = conclusion.output.got;
  await untilExecution(workspace, execution_id, 'completed');
});

test('an agentflow that does not exist, that of another project, and endless calls fail', async () => {
  verifies('flow.calls');
  const [workspace, stranger] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
  const foreign = await store(stranger, { initialAgent: 'a', steps: [set('a', { v: '1' })] });
  for (const other of ['01a227f0-01f7-762e-906b-5faced4bacd5', foreign]) {
    const id = await startExecution(workspace, starting(other), input);
    const { execution_context } = await untilExecution(workspace, id, 'failed');
    expect(execution_context.failure).toMatchObject({ code: 'not_found', step_id: 'call/start' });
  }
  const endless = await store(workspace, starting('none'));
  expect(await workspace.api.patch(`/agentflow/${endless}`, starting(endless))).toMatchObject({ status: 200 });
  const created = await workspace.api.post('/execute_flow', { agentflow_id: endless, goal: 'g', ...input });
  const { execution_id } = created.body;
  await moveExecution(workspace, execution_id, 'execute');
  const { execution_context } = await untilExecution(workspace, execution_id, 'failed');
  expect(execution_context.failure.message).toContain('at most 10 times');
});

test('rules decide whether a run may start another one, and an approver sees its inputs', async () => {
  verifies('flow.calls', 'flow.approvals');
  const of = await governed({
    policy_id: 'ask',
    effect: 'require_approval',
    description: 'Starts are looked at.',
    tools: ['execution.start'],
    when: 'principal.kind == "execution"',
  });
  const { workspace } = of;
  const other = await store(workspace, { initialAgent: 'a', steps: [set('a', { v: 'inputs.n' })] });
  const id = await startExecution(workspace, starting(other), input);
  const approval = await heldApproval(of, id);
  const { body } = await of.approver.get(`/v1/approvals/${approval}`);
  expect(JSON.stringify(body.payload)).toContain('"n":2');
  expect(await decide(of.approver, approval, 'approve')).toMatchObject({ status: 200 });
  expect((await untilExecution(workspace, id, 'completed')).conclusion.output).toEqual({ got: { v: 2 } });
});
