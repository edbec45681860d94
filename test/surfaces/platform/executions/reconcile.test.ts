import { describe, expect, test } from '@jest/globals';
import type { ExecutionDocument } from '../../../../src/domain/executions/record.js';
import { createReconciler } from '../../../../src/domain/executions/reconcile.js';
import { executionWorkflowId } from '../../../../workflows/agentflow-execution/messages.js';
import { openEventStream } from '../../../support/event-stream.js';
import { eventually } from '../../../support/eventually.js';
import { closedAs, heldExecution, moveExecution, startExecution, untilExecution } from '../../../support/executions.js';
import { createWorkspace, personOf, useDeps } from '../../../support/fixture.js';
import { flowThatCalls } from '../../../support/flows.js';
import { seedExecution } from '../../../support/seeded-executions.js';
import { temporalCli } from '../../../support/temporal-cli.js';
import { useHttpSink } from '../../../support/use-http-sink.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const sink = await useHttpSink();

async function terminate(id: string): Promise<void> {
  const cli = temporalCli();
  if (cli) await cli('workflow', 'terminate', '--workflow-id', executionWorkflowId(id), '--reason', 'by hand');
  else await deps.temporal.client.workflow.getHandle(executionWorkflowId(id)).terminate('by hand');
}

const terminated = { reason: 'terminated', message: expect.stringContaining('by hand'), by: null };

describe('a run that Temporal terminated', () => {
  test('is failed with the reason on the next read, and refuses later transitions', async () => {
    verifies('execution.reconciled');
    const { workspace, id, release } = await heldExecution(deps, sink);
    await untilExecution(workspace, id, 'running');
    await terminate(id);
    const { task_id, execution_context } = await untilExecution(workspace, id, 'failed');
    expect(execution_context.failure).toMatchObject(terminated);
    expect(await moveExecution(workspace, id, 'cancel')).toMatchObject({
      status: 409,
      body: { error_description: expect.stringContaining('failed') },
    });
    expect(await workspace.api.get(`/task/${task_id}`)).toMatchObject({
      body: { status: 'failed', failure: { reason: 'terminated' } },
    });
    expect(await workspace.api.get(`/execute_flow/${id}/monitoring`)).toMatchObject({
      status: 200,
      body: { status: 'failed' },
    });
    const stream = await openEventStream(`${workspace.api.url}/execute_flow/${id}/events`, {
      'x-api-key': workspace.apiKey,
    });
    await stream.ended;
    expect(stream.events.at(-1)).toMatchObject({ event: 'failed', data: { data: { reason: 'terminated' } } });
    release();
    // The step that was running ends and has no further effect.
    await eventually(async () =>
      expect((await deps.mongo.collections.executions.findOne({ _id: id }))?.status).toBe('failed'),
    );
  });

  test('is failed by a regular sweep without a read, and a cancel before that answers the correct status', async () => {
    verifies('execution.reconciled');
    const [first, second] = [await heldExecution(deps, sink), await heldExecution(deps, sink)];
    await terminate(first.id);
    await terminate(second.id);
    expect(await moveExecution(first.workspace, first.id, 'cancel')).toMatchObject({
      status: 409,
      body: { error_description: expect.stringContaining('failed') },
    });
    const pass = createReconciler(deps);
    await eventually(async () => {
      // The pass also finds the incomplete records of other tests, and reports them after the other records.
      await pass().catch(() => undefined);
      const record = await deps.mongo.collections.executions.findOne({ _id: second.id });
      expect(record).toMatchObject({ status: 'failed', execution_context: { failure: terminated } });
    });
    first.release();
    second.release();
  });

  test('ends what it waited for: the step of its act, and the preview of an agent with a dot in its id', async () => {
    verifies('execution.reconciled');
    const workspace = await createWorkspace(deps);
    const preview: ExecutionDocument['previews'][string] = {
      ...{ preview_id: 'a.b/preview', agent_id: 'a.b', title: 'A', proposed: {}, edits: null },
      ...{ requested_at: 1, expires_at: 2, decided_by: null, decided_at: null },
      status: 'waiting',
      kind: 'output',
    };
    const step: ExecutionDocument['steps'][number] = {
      ...{ step_id: 'a.b/call', kind: 'action', agent_id: 'a.b', skill_id: null, action_id: null, name: 'Call' },
      ...{ attempts: 0, started_at: 1, ended_at: null, error: null },
      status: 'waiting',
    };
    const { _id: id } = await seedExecution(deps, workspace, {
      ...{ status: 'running', started_at: 1, steps: [step], previews: { 'a.b': preview } },
      execution_context: { waiting_for: { kind: 'approval', step_id: step.step_id } },
    });
    const { body } = await workspace.api.get(`/execute_flow/${id}`);
    expect(body.previews).toEqual({ 'a.b': { ...preview, status: 'expired' } });
    expect(body.execution_context).toMatchObject({ waiting_for: null, failure: { step_id: step.step_id } });
    expect((await workspace.api.get(`/execute_flow/${id}/monitoring`)).body.steps).toMatchObject([
      { status: 'cancelled', ended_at: expect.any(Number), error: expect.stringContaining('no longer has this run') },
    ]);
  });

  test('has the reason that its workflow gave, if a restored database lost the end', async () => {
    verifies('execution.reconciled');
    const workspace = await createWorkspace(deps);
    const flow = flowThatCalls([]);
    const agents = flow.agents.map((agent) => ({ ...agent, is_preview_mode_enabled: true }));
    const id = await startExecution(workspace, { ...flow, agents });
    await untilExecution(workspace, id, { execution_context: { waiting_for: { kind: 'preview' } } });
    const decision = {
      agent_id: 'agent_1',
      preview_id: 'agent_1/output/preview',
      decision: 'reject',
      reason: 'Too long',
    };
    expect(await (await personOf(deps, workspace)).post(`/execute_flow/${id}/preview`, decision)).toMatchObject({
      status: 200,
    });
    await untilExecution(workspace, id, 'failed');
    await closedAs(deps, id);
    const unwritten = { $set: { status: 'running' }, $unset: { 'execution_context.failure': '' } } as const;
    await deps.mongo.collections.executions.updateOne({ _id: id }, unwritten);
    expect((await workspace.api.get(`/execute_flow/${id}`)).body).toMatchObject({
      status: 'failed',
      execution_context: { failure: { reason: 'preview_rejected', code: 'preview_rejected', message: 'Too long' } },
    });
  });

  test('is lost if a restored server no longer knows it', async () => {
    verifies('execution.reconciled');
    const workspace = await createWorkspace(deps);
    const { _id: id } = await seedExecution(deps, workspace, { status: 'paused', started_at: 1 });
    await seedExecution(deps, workspace, { status: 'ready' });
    expect(await moveExecution(workspace, id, 'cancel')).toMatchObject({
      status: 409,
      body: { error_description: expect.stringContaining('failed') },
    });
    const { body } = await workspace.api.get(`/${workspace.projectID}/execution_flows?failure_reason=lost`);
    expect(body.data).toMatchObject([
      { _id: id, status: 'failed', execution_context: { failure: { reason: 'lost' } } },
    ]);
    expect((await workspace.api.get(`/${workspace.projectID}/execution_flows?status=ready`)).body.total_count).toBe(1);
  });
});
