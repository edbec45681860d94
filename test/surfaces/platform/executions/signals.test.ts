import { describe, expect, test } from '@jest/globals';
import { WorkflowUpdateFailedError } from '@temporalio/client';
import {
  cancelUpdate,
  executionWorkflowId,
  pauseUpdate,
  resumeUpdate,
  stateQuery,
  type MoveRequest,
} from '../../../../workflows/agentflow-execution/messages.js';
import { eventually } from '../../../support/eventually.js';
import { closedAs, heldExecution, runOf, untilExecution, untilListed } from '../../../support/executions.js';
import { useDeps } from '../../../support/fixture.js';
import { temporalCli } from '../../../support/temporal-cli.js';
import { useHttpSink } from '../../../support/use-http-sink.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const sink = await useHttpSink();

const handleOf = (id: string) => runOf(deps, id);
const cli = temporalCli();

/** The ways in which an operator can send a signal. */
const senders = [
  {
    by: 'a client',
    send: (id: string, name: string, request?: MoveRequest) => handleOf(id).signal(name, ...(request ? [request] : [])),
  },
  ...(cli
    ? [
        {
          by: 'the Temporal command line',
          send: (id: string, name: string, request?: MoveRequest) =>
            cli(
              'workflow',
              'signal',
              '--workflow-id',
              executionWorkflowId(id),
              '--name',
              name,
              ...(request ? ['--input', JSON.stringify(request)] : []),
            ),
        },
      ]
    : []),
];

describe('a signal to agentflowExecution', () => {
  test.each(senders)('from $by pauses, resumes and cancels', async ({ by, send }) => {
    verifies('execution.signals');
    const { workspace, id, release } = await heldExecution(deps, sink);
    await send(id, 'pause');
    await untilExecution(workspace, id, 'paused');
    await untilListed(workspace, id, 'paused');
    release();
    await eventually(async () =>
      expect((await handleOf(id).query(stateQuery)).steps[0]).toMatchObject({ status: 'completed' }),
    );
    await send(id, 'resume', { by: 'ops' });
    await untilExecution(workspace, id, 'completed');

    const other = await heldExecution(deps, sink);
    await send(other.id, 'cancel', { by: 'ops', reason: 'by hand' });
    const ended = await untilListed(other.workspace, other.id, 'failed');
    // Only what the service itself sends names a person.
    expect(ended.execution_context.failure).toMatchObject(
      by === 'a client'
        ? { reason: 'cancelled', by: 'ops', message: 'by hand' }
        : { reason: 'cancelled', by: 'operator' },
    );
    expect(await closedAs(deps, other.id)).toBe('CANCELLED');
    other.release();
  });

  test('changes nothing and is recorded if the state does not allow it', async () => {
    verifies('execution.signals.wrong-state');
    const { workspace, id, release } = await heldExecution(deps, sink);
    await handleOf(id).signal('resume');
    const ignored = await eventually(async () => {
      const stored = await deps.mongo.collections.execution_events.find({ execution_id: id }).toArray();
      expect(stored.at(-1)).toMatchObject({ type: 'signal_ignored' });
      return stored.at(-1);
    });
    expect(ignored?.data).toEqual({ signal: 'resume', status: 'running' });
    await eventually(async () =>
      expect(await handleOf(id).query(stateQuery)).toMatchObject({ status: 'running', unpublished: [] }),
    );
    await handleOf(id).signal('pause');
    await handleOf(id).signal('pause');
    await untilExecution(workspace, id, 'paused');
    await handleOf(id).signal('resume');
    release();
    await untilExecution(workspace, id, 'completed');
    expect((await handleOf(id).describe()).status.name).toMatch(/RUNNING|COMPLETED/);
  });

  test.each([[null], [7], ['text'], [[]], [{ by: { deep: 1 }, reason: 5 }], [{ by: 'x'.repeat(10_000) }]])(
    'with the payload %j does not fail the run',
    async (payload) => {
      const { workspace, id, release } = await heldExecution(deps, sink);
      await handleOf(id).signal('pause', payload);
      await untilExecution(workspace, id, 'paused');
      const { pause } = await handleOf(id).query(stateQuery);
      expect(typeof pause?.by).toBe('string');
      expect(pause?.by.length).toBeLessThanOrEqual(500);
      await handleOf(id).signal('resume', payload);
      release();
      await untilExecution(workspace, id, 'completed');
    },
  );
});

describe('an update of agentflowExecution', () => {
  test('returns the new status, and its validator refuses a transition that is not allowed', async () => {
    verifies('execution.updates');
    const { workspace, id, release } = await heldExecution(deps, sink);
    const handle = handleOf(id);
    await expect(handle.executeUpdate(resumeUpdate, { args: [{}] })).rejects.toBeInstanceOf(WorkflowUpdateFailedError);
    expect(await handle.executeUpdate(pauseUpdate, { args: [{ by: 'me' }] })).toEqual({
      execution_id: id,
      status: 'paused',
    });
    await expect(handle.executeUpdate(pauseUpdate, { args: [{}] })).rejects.toMatchObject({
      cause: { type: 'conflict', details: [{ status: 'paused' }] },
    });
    expect(await handle.executeUpdate(resumeUpdate, { args: [{}] })).toEqual({ execution_id: id, status: 'running' });
    expect(await handle.executeUpdate(cancelUpdate, { args: [{ reason: 'enough' }] })).toEqual({
      execution_id: id,
      status: 'failed',
    });
    await untilListed(workspace, id, 'failed');
    await expect(handle.executeUpdate(pauseUpdate, { args: [{}] })).rejects.toThrow();
    release();
  });

  test.each([[null], [7], ['text']])('with the payload %j does not fail the run', async (payload) => {
    const { workspace, id, release } = await heldExecution(deps, sink);
    expect(await handleOf(id).executeUpdate('pause', { args: [payload] })).toMatchObject({ status: 'paused' });
    expect(await handleOf(id).executeUpdate('resume', { args: [] })).toMatchObject({ status: 'running' });
    release();
    await untilExecution(workspace, id, 'completed');
  });
});

describe("Temporal's own cancel request", () => {
  test.each(['running', 'paused'])('ends a %s execution as cancelled by the operator', async (status) => {
    const { workspace, id, release } = await heldExecution(deps, sink);
    if (status === 'paused') await handleOf(id).executeUpdate(pauseUpdate, { args: [{}] });
    if (cli) await cli('workflow', 'cancel', '--workflow-id', executionWorkflowId(id));
    else await handleOf(id).cancel();
    const ended = await untilListed(workspace, id, 'failed');
    expect(ended.execution_context.failure).toMatchObject({ reason: 'cancelled', by: 'operator' });
    expect(await closedAs(deps, id)).toBe('CANCELLED');
    release();
  });
});
