import { describe, expect, test } from '@jest/globals';
import { createReconciler } from '../../../../src/domain/executions/reconcile.js';
import { executionWorkflowId } from '../../../../workflows/agentflow-execution/messages.js';
import { openEventStream } from '../../../support/event-stream.js';
import { eventually } from '../../../support/eventually.js';
import { heldExecution, moveExecution, untilExecution } from '../../../support/executions.js';
import { createWorkspace, useDeps } from '../../../support/fixture.js';
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
