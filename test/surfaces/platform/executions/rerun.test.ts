import { describe, expect, test } from '@jest/globals';
import { newId } from '../../../../src/base/ids.js';
import { executionWorkflowId } from '../../../../workflows/agentflow-execution/messages.js';
import { eventually } from '../../../support/eventually.js';
import {
  closedAs,
  moveExecution,
  prepareExecution,
  runOf,
  startExecution,
  untilExecution,
  untilListed,
} from '../../../support/executions.js';
import { createWorkspace, useDeps, type Workspace } from '../../../support/fixture.js';
import { flowThatCalls } from '../../../support/flows.js';
import { useHttpSink } from '../../../support/use-http-sink.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const sink = await useHttpSink();

const rerun = ({ api }: Workspace, id: string, body: object = {}, headers: Record<string, string> = {}) =>
  api.post(`/execute_flow/${id}/rerun`, body, headers);

/** An ended execution of three agents with one action each. */
async function endedExecution() {
  const workspace = await createWorkspace(deps);
  const flow = flowThatCalls(...['a', 'b', 'c'].map((name) => [`${sink.url}/${workspace.projectID}/${name}`]));
  const id = await startExecution(workspace, flow, { input_variables: { x: 1 } });
  return { workspace, id, ended: await untilListed(workspace, id, 'completed') };
}

function called({ projectID }: Workspace): (string | undefined)[] {
  return sink.seen(`/${projectID}`).map(({ path }) => path.split('/').at(-1));
}

describe('POST /execute_flow/{execution_id}/rerun', () => {
  test('from an agent keeps the outputs of the preceding agents, and uses the plan of the source', async () => {
    verifies('agent.rerun', 'platform.executions.rerun');
    const { workspace, id, ended } = await endedExecution();
    await workspace.api.patch(`/agentflow/${ended.agentflow_id}`, { agents: [] });
    const made = await rerun(workspace, id, { from_agent_id: 'agent_3' });
    expect(made).toMatchObject({
      status: 201,
      body: {
        status: 'ready',
        start_from_agent_id: 'agent_3',
        parent_execution_id: null,
        execution_context: { rerun_of: id },
      },
    });
    expect(made.body).toMatchObject({ goal: ended.goal, input_variables: { x: 1 }, conclusion: null, previews: {} });
    expect(made.body.execution_id).not.toBe(id);
    const kept = ended.agents_output.slice(0, 2).map((output: any) => ({ ...output, kept_from: id }));
    expect(made.body.agents_output).toEqual(kept);
    expect(called(workspace)).toEqual(['a', 'b', 'c']);
    await moveExecution(workspace, made.body._id, 'execute');
    const again = await untilListed(workspace, made.body._id, 'completed');
    expect(called(workspace)).toEqual(['a', 'b', 'c', 'c']);
    expect(again.agents_output).toHaveLength(3);
    expect(again.agents_output.slice(0, 2)).toEqual(kept);
    // The offline model uses the notes of the preceding agents.
    expect(again.agents_output[2].output).toBe(ended.agents_output[2].output);
    const further = await rerun(workspace, made.body._id, { from_agent_id: 'agent_2' });
    expect(further.body.agents_output).toMatchObject([{ agent_id: 'agent_1', kept_from: id }]);
  });

  test('without an agent runs everything again', async () => {
    verifies('platform.executions.rerun');
    const { workspace, id } = await endedExecution();
    const made = await rerun(workspace, id);
    expect(made).toMatchObject({ status: 201, body: { agents_output: [], start_from_agent_id: null } });
    await moveExecution(workspace, made.body._id, 'execute');
    await untilListed(workspace, made.body._id, 'completed');
    expect(called(workspace)).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
  });

  test('takes another goal and other inputs, which its prompts need', async () => {
    verifies('executions.rerun.edited');
    const workspace = await createWorkspace(deps);
    const { agents } = flowThatCalls([]) as { agents: object[] };
    const prompt = { template: 'Greet {{ who }}', variables: ['who'] };
    const flow = { ...flowThatCalls([]), agents: agents.map((agent) => ({ ...agent, prompt })) };
    const id = await startExecution(workspace, flow, { input_variables: { who: 'Ada' }, runtime_inputs: { x: 1 } });
    await untilListed(workspace, id, 'completed');
    const made = await rerun(workspace, id, { goal: 'again', input_variables: { who: 'Grace' } });
    expect(made).toMatchObject({
      status: 201,
      body: { goal: 'again', input_variables: { who: 'Grace' }, runtime_inputs: { x: 1 } },
    });
    expect(await rerun(workspace, id, { input_variables: {} })).toMatchObject({
      status: 422,
      body: { error_description: expect.stringContaining('needs the variable "who"') },
    });
    for (const bad of [{ goal: '' }, { goal: 7 }, { input_variables: [] }, { runtime_inputs: null }])
      expect([bad, await rerun(workspace, id, bad)]).toMatchObject([bad, { status: 400 }]);
  });

  test('creates one execution for one Idempotency-Key', async () => {
    const { workspace, id } = await endedExecution();
    const key = { 'idempotency-key': newId() };
    const answers = await Promise.all([1, 2, 3].map(() => rerun(workspace, id, {}, key)));
    expect(new Set(answers.map(({ body }) => body._id)).size).toBe(1);
  });

  test('refuses what cannot be rerun', async () => {
    verifies('platform.executions.rerun');
    const { workspace, id } = await endedExecution();
    expect(await rerun(workspace, id, { from_agent_id: 'nobody' })).toMatchObject({
      status: 422,
      body: { error_description: expect.stringContaining('nobody') },
    });
    expect(await rerun(workspace, id, { from: 'x' })).toMatchObject({ status: 400 });
    expect(await rerun(workspace, newId())).toMatchObject({ status: 404 });
    expect(await rerun(await createWorkspace(deps), id)).toMatchObject({ status: 404 });
    const { _id: ready } = await prepareExecution(workspace, flowThatCalls([], []));
    expect(await rerun(workspace, ready)).toMatchObject({
      status: 409,
      body: { error_description: expect.stringContaining('ready') },
    });
    await moveExecution(workspace, ready, 'cancel');
    await untilListed(workspace, ready, 'failed');
    expect(await rerun(workspace, ready, { from_agent_id: 'agent_2' })).toMatchObject({
      status: 422,
      body: { error_description: expect.stringContaining('agent_1') },
    });
    expect(await rerun(workspace, ready)).toMatchObject({ status: 201 });
  });
});

describe('an execution with a parent', () => {
  async function runningParent() {
    const workspace = await createWorkspace(deps);
    const release = sink.hold(`/${workspace.projectID}/held`);
    const parent = await startExecution(workspace, flowThatCalls([`${sink.url}/${workspace.projectID}/held`]));
    await untilExecution(workspace, parent, 'running');
    return { workspace, release, parent };
  }

  test('is its child in Temporal and in the records, is started once, and outlives its end', async () => {
    verifies('agent.parent-child');
    const { workspace, release, parent } = await runningParent();
    const { _id } = await prepareExecution(workspace, flowThatCalls([`${sink.url}/${workspace.projectID}/child`]), {
      parent_execution_id: parent,
    });
    const releaseChild = sink.hold(`/${workspace.projectID}/child`);
    const key = { 'idempotency-key': newId() };
    const answers = await Promise.all([
      moveExecution(workspace, _id, 'execute', {}, key),
      moveExecution(workspace, _id, 'execute', {}, key),
      moveExecution(workspace, _id, 'execute'),
    ]);
    const accepted = answers.filter(({ status }) => status === 200);
    expect(accepted.map(({ body }) => body)).toEqual(accepted.map(() => ({ execution_id: _id, status: 'ready' })));
    expect([1, 2]).toContain(accepted.length);
    expect(await moveExecution(workspace, _id, 'execute')).toMatchObject({ status: 409 });
    const run = await runOf(deps, _id).describe();
    expect(run.parentExecution?.workflowId).toBe(executionWorkflowId(parent));
    expect(run.memo).toMatchObject({ parent_execution_id: parent, project: workspace.projectID });
    expect(await workspace.api.get(`/execute_flow/${_id}`)).toMatchObject({ body: { parent_execution_id: parent } });
    release();
    await untilListed(workspace, parent, 'completed');
    expect(await closedAs(deps, parent)).toBe('COMPLETED');
    expect((await runOf(deps, _id).describe()).status.name).toBe('RUNNING');
    releaseChild();
    await untilListed(workspace, _id, 'completed');
    const events = await deps.mongo.collections.execution_events.find({ execution_id: parent }).toArray();
    expect(events.filter(({ type }) => type === 'child_started')).toMatchObject([{ data: { execution_id: _id } }]);
    await eventually(async () => {
      const found: string[] = [];
      const query = `WorkflowId = '${executionWorkflowId(_id)}' AND ProjectId = '${workspace.projectID}' AND AgentflowStatus = 'completed'`;
      for await (const { workflowId } of deps.temporal.client.workflow.list({ query })) found.push(workflowId);
      expect(found).toHaveLength(1);
    });
  });

  test('is not cancelled with its parent', async () => {
    verifies('agent.parent-child');
    const { workspace, release, parent } = await runningParent();
    const releaseChild = sink.hold(`/${workspace.projectID}/child`);
    const child = await startExecution(workspace, flowThatCalls([`${sink.url}/${workspace.projectID}/child`]), {
      parent_execution_id: parent,
    });
    expect(await moveExecution(workspace, parent, 'cancel')).toMatchObject({ status: 200 });
    expect(await closedAs(deps, parent)).toBe('CANCELLED');
    releaseChild();
    release();
    await untilListed(workspace, child, 'completed');
  });

  test('starts without the workflow of an ended parent, which the memo names', async () => {
    verifies('agent.parent-child');
    const { workspace, release, parent } = await runningParent();
    release();
    await untilListed(workspace, parent, 'completed');
    const child = await startExecution(workspace, flowThatCalls([]), { parent_execution_id: parent });
    const run = await runOf(deps, child).describe();
    expect(run.parentExecution).toBeUndefined();
    expect(run.memo).toMatchObject({ parent_execution_id: parent });
    await untilListed(workspace, child, 'completed');
  });
});
