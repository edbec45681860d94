import { describe, expect, test } from '@jest/globals';
import { newId } from '../../../../src/base/ids.js';
import { stateQuery } from '../../../../workflows/agentflow-execution/messages.js';
import {
  closedAs,
  moveExecution,
  prepareExecution,
  runOf,
  startExecution,
  untilExecution,
  untilListed,
} from '../../../support/executions.js';
import { createWorkspace, useDeps } from '../../../support/fixture.js';
import { flowThatCalls } from '../../../support/flows.js';
import { useHttpSink } from '../../../support/use-http-sink.js';
import { loseAnswer } from '../../../support/lost-answers.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const sink = await useHttpSink();

describe('POST /execute_flow/{execution_id}/execute', () => {
  test('answers ready and runs every agent along its actions to the conclusion', async () => {
    verifies(
      'platform.executions.execute',
      'execution.execute.reports-ready',
      'execution.execute.runs',
      'execution.completes',
    );
    verifies(
      'execution.agents.chain',
      'execution.actions.chain',
      'resource.execution.conclusion',
      'platform.executions.get',
    );
    const workspace = await createWorkspace(deps);
    const [a, b, c] = ['a', 'b', 'c'].map((name) => `${sink.url}/${workspace.projectID}/${name}`) as [
      string,
      string,
      string,
    ];
    const { _id } = await prepareExecution(workspace, flowThatCalls([a, b], [c]));
    const answer = await moveExecution(workspace, _id, 'execute', {
      execution_id: _id,
      projectID: workspace.projectID,
    });
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.body).toEqual({ execution_id: _id, status: 'ready' });
    const ended = await untilExecution(workspace, _id, 'completed');
    expect(ended.agents_output).toMatchObject([
      {
        agent_id: 'agent_1',
        model: 'offline',
        actions: [{ action_id: 'action_1', output: { ok: true } }, { action_id: 'action_2' }],
      },
      { agent_id: 'agent_2', actions: [{ action_id: 'action_1', output: { path: expect.stringContaining('/c') } }] },
    ]);
    expect(ended.agents_output[1].output).toContain('Agent agent_1');
    expect(ended.conclusion).toEqual({
      conclusion: ended.agents_output[1].output,
      links: [],
      created_at: ended.end_time,
    });
    expect(ended.end_time).toBeGreaterThan(ended.created_at);
    const calls = sink.seen(`/${workspace.projectID}`);
    expect(calls.map((request) => request.path.split('/').at(-1))).toEqual(['a', 'b', 'c']);
    expect(calls.map((request) => request.key)).toEqual(
      ['agent_1/skill_1/action_1', 'agent_1/skill_1/action_2', 'agent_2/skill_1/action_1'].map(
        (step) => `${_id}/${step}`,
      ),
    );
    expect(await closedAs(deps, _id)).toBe('COMPLETED');
  });

  test('shows running with its current outputs, and the stored record equals the workflow at the end', async () => {
    verifies('execution.projection', 'execution.query-state', 'execution.model.offline');
    const workspace = await createWorkspace(deps);
    const release = sink.hold(`/${workspace.projectID}/second`);
    const id = await startExecution(
      workspace,
      flowThatCalls([`${sink.url}/first`], [`${sink.url}/${workspace.projectID}/second`]),
    );
    const running = await untilExecution(workspace, id, {
      status: 'running',
      agents_output: [{ agent_id: 'agent_1' }],
    });
    expect(running).toMatchObject({ conclusion: null, end_time: null });
    await untilListed(workspace, id, { status: 'running', agents_output: [{ agent_id: 'agent_1' }] });
    const state = await runOf(deps, id).query(stateQuery);
    expect(state).toMatchObject({
      status: 'running',
      paths: { '': { current: { agent_id: 'agent_2' } } },
      agents_output: running.agents_output,
    });
    expect(state.steps.at(-1)).toMatchObject({ step_id: 'agent_2/skill_1/action_1', status: 'running' });
    release();
    const listed = await untilListed(workspace, id, 'completed');
    const last = await runOf(deps, id).query(stateQuery);
    const { status, end_time, conclusion, agents_output } = last;
    expect(listed).toMatchObject({ status, end_time, conclusion, agents_output });
    expect(listed.projected_at).toBeGreaterThanOrEqual(listed.end_time);
    expect(running.projected_at === null || running.projected_at < listed.projected_at).toBe(true);
    expect(await deps.mongo.collections.executions.findOne({ _id: id })).toMatchObject({
      steps: last.steps,
      last_event_seq: last.last_event_seq,
    });
    expect(listed.conclusion.conclusion).toContain('offline model');
  });

  test('begins at start_from_agent_id', async () => {
    verifies('execution.agents.start-from');
    const workspace = await createWorkspace(deps);
    const flow = flowThatCalls([`${sink.url}/${workspace.projectID}/one`], [], []);
    const id = await startExecution(workspace, flow, { start_from_agent_id: 'agent_2' });
    const ended = await untilExecution(workspace, id, 'completed');
    expect(ended.agents_output.map((output: any) => output.agent_id)).toEqual(['agent_2', 'agent_3']);
    expect(sink.seen(`/${workspace.projectID}`)).toEqual([]);
    const { body } = await workspace.api.get(`/execute_flow/${id}`);
    const refused = await workspace.api.post('/execute_flow', {
      agentflow_id: body.agentflow_id,
      goal: 'g',
      start_from_agent_id: 'agent_9',
    });
    expect(refused).toMatchObject({
      status: 422,
      body: { error: 'validation_failed', error_description: expect.stringContaining('agent_9') },
    });
  });

  test('answers 409 with the current status for any status other than ready', async () => {
    verifies('execution.execute.again');
    const workspace = await createWorkspace(deps);
    const release = sink.hold(`/${workspace.projectID}/x`);
    const id = await startExecution(workspace, flowThatCalls([`${sink.url}/${workspace.projectID}/x`]));
    const refusal = (status: string) => ({
      status: 409,
      body: { error: 'conflict', error_description: expect.stringContaining(`is ${status}`) },
    });
    await untilExecution(workspace, id, 'running');
    expect(await moveExecution(workspace, id, 'execute')).toMatchObject(refusal('running'));
    expect(await moveExecution(workspace, id, 'pause')).toMatchObject({ status: 200 });
    expect(await moveExecution(workspace, id, 'execute')).toMatchObject(refusal('paused'));
    expect(await moveExecution(workspace, id, 'resume')).toMatchObject({ status: 200 });
    release();
    await untilExecution(workspace, id, 'completed');
    expect(await moveExecution(workspace, id, 'execute')).toMatchObject(refusal('completed'));
  });

  test.each([2, 20])('starts one workflow from %i concurrent calls', async (callers) => {
    verifies('execution.execute.once');
    const workspace = await createWorkspace(deps);
    const { _id } = await prepareExecution(workspace, flowThatCalls([`${sink.url}/${workspace.projectID}`]));
    const answers = await Promise.all(Array.from({ length: callers }, () => moveExecution(workspace, _id, 'execute')));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(callers - 1).fill(409)]);
    await untilExecution(workspace, _id, 'completed');
    expect(sink.seen(`/${workspace.projectID}`)).toHaveLength(1);
  });

  test('returns the first answer to a repeat with the same Idempotency-Key, even if its record is lost', async () => {
    verifies('execution.execute.idempotent');
    const workspace = await createWorkspace(deps);
    const { _id } = await prepareExecution(workspace, flowThatCalls([`${sink.url}/${workspace.projectID}`]));
    const execute = (key: string) => moveExecution(workspace, _id, 'execute', {}, { 'idempotency-key': key });
    const answers = await Promise.all(Array.from({ length: 10 }, () => execute('first')));
    await untilExecution(workspace, _id, 'completed');
    answers.push(await execute('first'));
    await loseAnswer(deps, { workspace, route: `post /execute_flow/${_id}/execute`, key: 'first' });
    answers.push(await execute('first'));
    for (const answer of answers)
      expect(answer).toMatchObject({ status: 200, body: { execution_id: _id, status: 'ready' } });
    expect(await execute('second')).toMatchObject({
      status: 409,
      body: { error_description: expect.stringContaining('completed') },
    });
    expect(sink.seen(`/${workspace.projectID}`)).toHaveLength(1);
  });

  test('never runs an old execution again after Temporal has removed it', async () => {
    const workspace = await createWorkspace(deps);
    const known = await startExecution(workspace, flowThatCalls([`${sink.url}/${workspace.projectID}`]));
    await untilListed(workspace, known, 'completed');
    const record = await deps.mongo.collections.executions.findOne({ _id: known });
    if (!record) throw new Error('the record is missing');
    const id = newId();
    await deps.mongo.collections.executions.insertOne({ ...record, _id: id, execution_id: id });
    const again = await moveExecution(workspace, id, 'execute', {}, { 'idempotency-key': 'new' });
    expect(again).toMatchObject({ status: 409, body: { error_description: expect.stringContaining('completed') } });
    for (const move of ['pause', 'resume', 'cancel'])
      expect(await moveExecution(workspace, id, move)).toMatchObject({ status: 409 });
    expect(await workspace.api.get(`/execute_flow/${id}/monitoring`)).toMatchObject({
      status: 200,
      body: { run_id: null, steps: [{}, {}] },
    });
    expect(sink.seen(`/${workspace.projectID}`)).toHaveLength(1);
  });
});
