import { describe, expect, test } from '@jest/globals';
import { WorkflowFailedError } from '@temporalio/client';
import { defaultPayloadConverter, type ApplicationFailure, type Payload } from '@temporalio/common';
import { decryptPayload, encryptPayload } from '../../../src/temporal/payload-codec.js';
import * as messages from '../../../workflows/agentflow-execution/messages.js';
import * as workflows from '../../../workflows/index.js';
import { seal, type Sealed } from '../../../workflows/trust/sealed.js';
import { newId } from '../../../src/base/ids.js';
import { heldExecution, moveExecution, runOf, startExecution, untilExecution } from '../../support/executions.js';
import { createWorkspace, useDeps } from '../../support/fixture.js';
import { flowThatCalls } from '../../support/flows.js';
import { clientSending, forgeries, plainPayload } from '../../support/forged-messages.js';
import { temporalCli } from '../../support/temporal-cli.js';
import { useHttpSink } from '../../support/use-http-sink.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();
const sink = await useHttpSink();
const cli = temporalCli();

describe('a workflow that the product did not start', () => {
  test.each(Object.keys(workflows))('of the type %s fails without an effect', async (workflowType) => {
    verifies('trust.inputs');
    const organizationId = newId();
    const input = { organization_id: organizationId, project_id: newId(), execution_id: newId() };
    const outcomeOf = async (workflowId: string, payload: Payload) => {
      const options = { taskQueue: deps.temporal.taskQueue, workflowId, args: [input] };
      const handle = await clientSending(deps, payload).workflow.start(workflowType, options);
      const error = await handle.result().then(
        () => undefined,
        (cause: unknown) => cause,
      );
      expect(error).toBeInstanceOf(WorkflowFailedError);
      const { events } = await handle.fetchHistory();
      expect(events?.filter(({ activityTaskScheduledEventAttributes: each }) => each)).toEqual([]);
      return ((error as WorkflowFailedError).cause as ApplicationFailure).type;
    };
    const workflowId = `${workflowType}/${newId()}`;
    const forged = forgeries(deps, { message: ['start', workflowType, workflowId], organizationId, input });
    for (const [what, payload] of Object.entries(forged))
      expect([what, await outcomeOf(workflowId, payload)]).toEqual([what, 'untrusted_input']);
    // The input of a run that was sent long ago cannot start the run again.
    const [old] = seal(['start', workflowType, workflowId], [input]);
    const payload = plainPayload({ ...old, sent_at: old.sent_at - 3600 });
    const late = encryptPayload(deps.auth.box, payload, organizationId, [workflowId]);
    expect(await outcomeOf(workflowId, late)).toBe('untrusted_input');
  });
});

describe('a signal that the product did not send to a run', () => {
  test('pauses, resumes and cancels a run as an operator, whomever it names', async () => {
    verifies('trust.operator-signals');
    const { workspace, id, release } = await heldExecution(deps, sink);
    const workflowId = messages.executionWorkflowId(id);
    const { organizationId } = workspace;
    const input = { by: 'mallory', reason: 'a reason' };
    for (const payload of Object.values(
      forgeries(deps, { message: ['signal', 'pause', workflowId], organizationId, input }),
    )) {
      await clientSending(deps, payload).workflow.getHandle(workflowId).signal('pause', input);
      await untilExecution(workspace, id, 'paused');
      expect((await runOf(deps, id).query(messages.stateQuery)).pause?.by).toBe('operator');
      expect(await moveExecution(workspace, id, 'resume')).toMatchObject({ status: 200 });
    }
    const reason = JSON.stringify(input);
    if (cli) await cli('workflow', 'signal', '--workflow-id', workflowId, '--name', 'cancel', '--input', reason);
    else await clientSending(deps, plainPayload(input)).workflow.getHandle(workflowId).signal('cancel', input);
    const ended = await untilExecution(workspace, id, 'failed');
    expect(ended.execution_context.failure).toMatchObject({ reason: 'cancelled', by: 'operator' });
    release();
  });
});

test('what the codec endpoint encodes for a person starts nothing', async () => {
  verifies('trust.codec-endpoint');
  const { organizationId } = await createWorkspace(deps);
  const workflowId = `approval/${newId()}`;
  const sealed = plainPayload(seal(['start', 'approval', workflowId], [{ organization_id: organizationId }])[0]);
  const encoded = encryptPayload(deps.auth.box, sealed, organizationId, ['codec endpoint']);
  const options = { taskQueue: deps.temporal.taskQueue, workflowId, args: [1] };
  const handle = await clientSending(deps, encoded).workflow.start('approval', options);
  await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'untrusted_input' } });
});

describe('the input of a run', () => {
  test('starts no second run, whoever copies it', async () => {
    verifies('trust.copied-inputs');
    const workspace = await createWorkspace(deps);
    const path = `/${workspace.projectID}`;
    const id = await startExecution(workspace, flowThatCalls([`${sink.url}${path}`]));
    await untilExecution(workspace, id, 'completed');
    expect(sink.seen(path)).toHaveLength(1);
    const workflowId = messages.executionWorkflowId(id);
    const { events } = await runOf(deps, id).fetchHistory();
    const [sealed] = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
    if (!sealed) throw new Error('the run has no input');
    const plain = decryptPayload(deps.auth.box, sealed);
    const again = { execution_id: newId(), executed_by: newId() };
    const { args } = defaultPayloadConverter.fromPayload<Sealed>(plain);
    const [input] = args as [object];
    for (const [at, payload] of [
      ['execution/copy', sealed],
      ['execution/copy', plain],
      ['execution/copy', plainPayload({ ...input, ...again })],
      [`${workflowId}-2030-01-01T00:00:00Z`, sealed],
    ] as const) {
      const options = { taskQueue: deps.temporal.taskQueue, workflowId: at, args: [1] };
      const handle = await clientSending(deps, payload).workflow.start(messages.agentflowExecutionType, options);
      await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'untrusted_input' } });
    }
    expect(sink.seen(path)).toHaveLength(1);
  });

  test('stays valid when an operator resets the run', async () => {
    verifies('trust.reset');
    const { workspace, id, release } = await heldExecution(deps, sink);
    await deps.temporal.client.workflowService.resetWorkflowExecution({
      namespace: deps.config.temporal.namespace,
      workflowExecution: { workflowId: messages.executionWorkflowId(id) },
      // The generated type is a Long. The client also encodes a number.
      workflowTaskFinishEventId: 4 as never,
      requestId: newId(),
      reason: 'test',
    });
    release();
    await untilExecution(workspace, id, 'completed');
  });
});
