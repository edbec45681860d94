import { describe, expect, test } from '@jest/globals';
import { eventually } from '../../../support/eventually.js';
import {
  closedAs,
  heldExecution,
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

function calls({ projectID }: Workspace): (string | undefined)[] {
  return sink.seen(`/${projectID}`).map((request) => request.path.split('/').at(-1));
}

const refusal = (status: string) => ({
  status: 409,
  body: { error: 'conflict', error_description: expect.stringContaining(`is ${status}`) },
});

describe('POST /execute_flow/{execution_id}/pause', () => {
  test('answers paused immediately; the step in progress finishes and keeps its result, the next waits for resume', async () => {
    verifies('platform.executions.pause', 'execution.pause.from-running', 'execution.pause.step-boundary');
    verifies('platform.executions.resume', 'execution.resume.from-paused');
    const { workspace, id, release } = await heldExecution(deps, sink);
    const paused = await moveExecution(workspace, id, 'pause', { execution_id: id, projectID: workspace.projectID });
    expect(paused).toMatchObject({ status: 200 });
    expect(paused.body).toEqual({ execution_id: id, status: 'paused' });
    await untilExecution(workspace, id, 'paused');
    await untilListed(workspace, id, 'paused');
    release();
    const { steps } = await eventually(async () => {
      const { body } = await workspace.api.get(`/execute_flow/${id}/monitoring`);
      expect(body.steps[0]).toMatchObject({ status: 'completed', error: null });
      return body;
    });
    expect(steps).toHaveLength(1);
    expect(calls(workspace)).toEqual(['one']);
    expect(await workspace.api.get(`/execute_flow/${id}`)).toMatchObject({ body: { status: 'paused' } });
    const resumed = await moveExecution(workspace, id, 'resume');
    expect(resumed).toMatchObject({ status: 200 });
    expect(resumed.body).toEqual({ execution_id: id, status: 'running' });
    const ended = await untilExecution(workspace, id, 'completed');
    expect(ended.agents_output[0].actions).toHaveLength(2);
    expect(calls(workspace)).toEqual(['one', 'two']);
  });

  test('is in the record before the run has written its event', async () => {
    verifies('execution.projection');
    const { workspace, id, release } = await heldExecution(deps, sink);
    await untilListed(workspace, id, 'running');
    await eventually(async () => {
      for (const move of ['pause', 'resume'])
        expect(await moveExecution(workspace, id, move)).toMatchObject({ status: 200 });
      const record = await deps.mongo.collections.executions.findOne({ _id: id });
      expect(record?.moved_seq).toBeGreaterThan(record?.last_event_seq ?? Number.NaN);
    });
    release();
    await untilExecution(workspace, id, 'completed');
  });

  test('also delays the conclusion if it arrives during the last step', async () => {
    const workspace = await createWorkspace(deps);
    const flow = flowThatCalls([`${sink.url}/${workspace.projectID}`]);
    const release = sink.hold(`/${workspace.projectID}`);
    const id = await startExecution(workspace, flow);
    await eventually(() => expect(calls(workspace)).toHaveLength(1));
    for (let round = 0; round < 3; round += 1) {
      expect(await moveExecution(workspace, id, 'pause')).toMatchObject({ status: 200 });
      expect(await moveExecution(workspace, id, 'resume')).toMatchObject({ status: 200 });
    }
    expect(await moveExecution(workspace, id, 'pause')).toMatchObject({ status: 200 });
    release();
    await eventually(async () =>
      expect((await workspace.api.get(`/execute_flow/${id}/monitoring`)).body.steps[0].status).toBe('completed'),
    );
    await untilExecution(workspace, id, { status: 'paused', conclusion: null });
    await moveExecution(workspace, id, 'resume');
    await untilExecution(workspace, id, 'completed');
  });

  test('is refused when the record shows the end of the run, even before the run has closed', async () => {
    const { workspace, id, release } = await heldExecution(deps, sink);
    await untilListed(workspace, id, 'running');
    await deps.mongo.collections.executions.updateOne({ _id: id }, { $set: { status: 'completed' } });
    for (const move of ['pause', 'cancel'] as const)
      expect(await moveExecution(workspace, id, move)).toMatchObject(refusal('completed'));
    release();
    await untilExecution(workspace, id, { status: 'completed', agents_output: [{}] });
  });

  test('succeeds once for many concurrent calls', async () => {
    const { workspace, id, release } = await heldExecution(deps, sink);
    const answers = await Promise.all(Array.from({ length: 8 }, () => moveExecution(workspace, id, 'pause')));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409, 409, 409]);
    await moveExecution(workspace, id, 'resume');
    release();
    await untilExecution(workspace, id, 'completed');
  });
});

describe('transitions that the state does not allow', () => {
  test('are answered 409 with the current status', async () => {
    verifies('execution.pause.refused', 'execution.resume.refused', 'execution.cancel.refused');
    const workspace = await createWorkspace(deps);
    const { _id } = await prepareExecution(workspace, flowThatCalls([`${sink.url}/${workspace.projectID}`]));
    const release = sink.hold(`/${workspace.projectID}`);
    expect(await moveExecution(workspace, _id, 'pause')).toMatchObject(refusal('ready'));
    expect(await moveExecution(workspace, _id, 'resume')).toMatchObject(refusal('ready'));
    await moveExecution(workspace, _id, 'execute');
    await untilExecution(workspace, _id, 'running');
    expect(await moveExecution(workspace, _id, 'resume')).toMatchObject(refusal('running'));
    await moveExecution(workspace, _id, 'pause');
    expect(await moveExecution(workspace, _id, 'pause')).toMatchObject(refusal('paused'));
    await moveExecution(workspace, _id, 'resume');
    release();
    await untilExecution(workspace, _id, 'completed');
    for (const move of ['pause', 'resume', 'cancel'])
      expect(await moveExecution(workspace, _id, move)).toMatchObject(refusal('completed'));
    const { _id: other } = await prepareExecution(workspace, flowThatCalls([]));
    await moveExecution(workspace, other, 'cancel');
    for (const move of ['pause', 'resume', 'cancel', 'execute'])
      expect(await moveExecution(workspace, other, move)).toMatchObject(refusal('failed'));
  });
});

describe('POST /execute_flow/{execution_id}/cancel', () => {
  test('ends an execution that was never executed, without a step', async () => {
    verifies('platform.executions.cancel', 'execution.cancel.ends-failed', 'execution.cancel.temporal-canceled');
    const workspace = await createWorkspace(deps);
    const { _id } = await prepareExecution(workspace, flowThatCalls([`${sink.url}/${workspace.projectID}`]));
    const answer = await moveExecution(workspace, _id, 'cancel', { reason: 'not needed' });
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.body).toEqual({ execution_id: _id, status: 'failed' });
    const ended = await untilListed(workspace, _id, 'failed');
    expect(ended.execution_context.failure).toMatchObject({
      reason: 'cancelled',
      by: workspace.userId,
      message: 'not needed',
      at: ended.end_time,
    });
    expect(await closedAs(deps, _id)).toBe('CANCELLED');
    expect(calls(workspace)).toEqual([]);
  });

  test('ends a running execution immediately and aborts its step', async () => {
    verifies('execution.cancel.ends-failed', 'execution.cancel.temporal-canceled');
    const { workspace, id, release } = await heldExecution(deps, sink);
    expect(await moveExecution(workspace, id, 'cancel', { reason: 'too slow' })).toMatchObject({
      status: 200,
      body: { status: 'failed' },
    });
    await untilExecution(workspace, id, 'failed');
    expect(await closedAs(deps, id)).toBe('CANCELLED');
    const ended = await untilListed(workspace, id, 'failed');
    expect(ended.execution_context.failure).toEqual({
      reason: 'cancelled',
      code: 'cancelled',
      message: 'too slow',
      by: workspace.userId,
      at: ended.end_time,
      step_id: null,
    });
    const { body } = await workspace.api.get(`/execute_flow/${id}/monitoring`);
    expect(body).toMatchObject({ status: 'failed', steps: [{ status: 'cancelled', error: 'cancelled' }] });
    release();
    expect(calls(workspace)).toEqual(['one']);
  });

  test('ends a paused execution', async () => {
    verifies('execution.cancel.ends-failed', 'execution.cancel.temporal-canceled');
    const { workspace, id, release } = await heldExecution(deps, sink);
    await moveExecution(workspace, id, 'pause');
    release();
    await eventually(async () =>
      expect((await workspace.api.get(`/execute_flow/${id}/monitoring`)).body.steps[0].status).toBe('completed'),
    );
    expect(await moveExecution(workspace, id, 'cancel')).toMatchObject({ status: 200, body: { status: 'failed' } });
    expect(await closedAs(deps, id)).toBe('CANCELLED');
    expect(await untilListed(workspace, id, 'failed')).toMatchObject({
      execution_context: { failure: { reason: 'cancelled', by: workspace.userId } },
    });
    expect(calls(workspace)).toEqual(['one']);
  });

  test('remains in effect if the step fails for another reason afterwards', async () => {
    const { workspace, id, release } = await heldExecution(deps, sink);
    sink.answer(`/${workspace.projectID}/one`, (_request, res) => res.writeHead(400).end());
    const cancelled = moveExecution(workspace, id, 'cancel', { reason: 'first' });
    release();
    const [answer] = await Promise.all([cancelled, closedAs(deps, id)]);
    const ended = await untilListed(workspace, id, 'failed');
    const expected = answer.status === 200 ? { reason: 'cancelled', message: 'first' } : { reason: 'step_failed' };
    expect(ended.execution_context.failure).toMatchObject(expected);
  });
});

describe('the end of an execution whose step cannot succeed', () => {
  test('is failed with the cause, and its workflow fails', async () => {
    verifies('execution.fails', 'execution.steps.not-retried');
    const workspace = await createWorkspace(deps);
    sink.answer(`/${workspace.projectID}`, (_request, res) => res.writeHead(403).end());
    const id = await startExecution(workspace, flowThatCalls([`${sink.url}/${workspace.projectID}`], []));
    const ended = await untilListed(workspace, id, 'failed');
    expect(ended).toMatchObject({ conclusion: null, end_time: expect.any(Number), agents_output: [] });
    expect(ended.execution_context.failure).toMatchObject({
      reason: 'step_failed',
      code: 'action_refused',
      message: expect.stringContaining('403'),
      step_id: 'agent_1/skill_1/action_1',
      at: ended.end_time,
    });
    expect(await closedAs(deps, id)).toBe('FAILED');
    expect(calls(workspace)).toHaveLength(1);
    await expect(runOf(deps, id).result()).rejects.toMatchObject({
      cause: { type: 'action_refused', message: expect.stringContaining('403') },
    });
  });
});
