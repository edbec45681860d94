/* eslint-disable @typescript-eslint/no-unnecessary-type-assertion */
import { describe, expect, test } from '@jest/globals';
import { Client, WorkflowFailedError, WorkflowUpdateFailedError } from '@temporalio/client';
import { defaultPayloadConverter, type ApplicationFailure, type Payload } from '@temporalio/common';
import { encryptPayload } from '../../../src/temporal/payload-codec.js';
import * as children from '../../../workflows/agentflow-execution/child-messages.js';
import * as elicitations from '../../../workflows/agentflow-execution/elicitations.js';
import * as messages from '../../../workflows/agentflow-execution/messages.js';
import * as previews from '../../../workflows/agentflow-execution/preview-messages.js';
import * as workflows from '../../../workflows/index.js';
import { seal, type Message } from '../../../workflows/trust/sealed.js';
import { newId } from '../../../src/ids.js';
import { heldExecution, moveExecution, runOf, untilExecution } from '../../support/executions.js';
import { createWorkspace, useDeps } from '../../support/fixture.js';
import { temporalCli } from '../../support/temporal-cli.js';
import { useHttpSink } from '../../support/use-http-sink.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();
const sink = await useHttpSink();
const cli = temporalCli();

const definitions = Object.values({ ...children, ...elicitations, ...messages, ...previews } as Record<
  string,
  unknown
>);
/** The names of the messages of this kind that a run of an agentflow handles. */
const namesOf = (kind: 'signal' | 'update') =>
  definitions.flatMap((each) => {
    const { type, name } = (each ?? {}) as { type?: string; name?: string };
    return type === kind && name !== undefined ? [name] : [];
  });

/** Sends the payload as it is, whatever the arguments are. */
function clientSending(payload: Payload): Client {
  const { connection, options } = deps.temporal.client;
  const [codec] = deps.temporal.dataConverter.payloadCodecs ?? [];
  if (!codec) throw new Error('there is no codec');
  const encode = (payloads: Payload[]) => Promise.resolve(payloads.map(() => payload));
  const dataConverter = { ...deps.temporal.dataConverter, payloadCodecs: [{ ...codec, encode }] };
  return new Client({ connection, namespace: options.namespace, dataConverter });
}

const payloadOf = (value: unknown): Payload => defaultPayloadConverter.toPayload(value);

interface Target {
  message: Message;
  organizationId: string;
  input: unknown;
}

/** Payloads that the product did not make for the message. */
function forgeries({ message, organizationId, input }: Target): Record<string, Payload> {
  const [kind, name, workflowId, ...rest] = message;
  const sealedAs = (other: Message) => payloadOf(seal(other, [input])[0]);
  const own = (payload: Payload, organization = organizationId, owner = [workflowId] as const) =>
    encryptPayload(deps.auth.box, payload, organization, owner as readonly [string]);
  const genuine = own(sealedAs(message));
  const data = Buffer.from(genuine.data ?? []);
  data.writeUInt8(data.readUInt8(20) ^ 1, 20);
  return {
    'a plain payload': payloadOf(input),
    'a plain sealed payload': sealedAs(message),
    'no data': { metadata: {}, data: Buffer.alloc(0) },
    'not sealed for a message': own(payloadOf(input)),
    'bound to no workflow': encryptPayload(deps.auth.box, sealedAs(message), organizationId),
    'made for another workflow': own(sealedAs([kind, name, 'execution/other', ...rest] as Message), organizationId, [
      'execution/other',
    ] as never),
    'made for another organization': own(payloadOf(seal(message, [{ organization_id: 'another' }])[0])),
    'made for another name': own(sealedAs([kind, 'other', workflowId, ...rest] as Message)),
    'made for another kind': own(sealedAs(['schedule', name, workflowId])),
    'the result of an activity': encryptPayload(deps.auth.box, sealedAs(message), organizationId, [workflowId, '1']),
    'a changed byte': { ...genuine, data },
    'another organization in the metadata': {
      ...genuine,
      metadata: { ...genuine.metadata, 'organization-id': Buffer.from('another') },
    },
    'an unknown key': { ...genuine, metadata: { ...genuine.metadata, 'encryption-key-id': Buffer.from('00000000') } },
    'marks of the sender': {
      ...payloadOf(input),
      metadata: { ...payloadOf(input).metadata, untrusted: Buffer.from('no'), 'accepted-until': Buffer.from('9e99') },
    },
  };
}

describe('a workflow that the product did not start', () => {
  test.each(Object.keys(workflows))('of the type %s fails without an effect', async (workflowType) => {
    verifies('trust.inputs');
    const organizationId = newId();
    const input = { organization_id: organizationId, project_id: newId(), execution_id: newId() };
    const outcomeOf = async (workflowId: string, payload: Payload) => {
      const options = { taskQueue: deps.temporal.taskQueue, workflowId, args: [input] };
      const handle = await clientSending(payload).workflow.start(workflowType, options);
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
    const forged = forgeries({ message: ['start', workflowType, workflowId], organizationId, input });
    for (const [what, payload] of Object.entries(forged))
      expect([what, await outcomeOf(workflowId, payload)]).toEqual([what, 'untrusted_input']);
    // The input of a run that was sent long ago cannot start the run again.
    const [old] = seal(['start', workflowType, workflowId], [input]);
    const payload = payloadOf({ ...old, sent_at: old.sent_at - 3600 });
    const late = encryptPayload(deps.auth.box, payload, organizationId, [workflowId]);
    expect(await outcomeOf(workflowId, late)).toBe('untrusted_input');
  });
});

describe('a message that the product did not send to a run', () => {
  test('has no effect', async () => {
    verifies('trust.messages');
    const { workspace, id, release } = await heldExecution(deps, sink);
    const { organizationId } = workspace;
    const workflowId = messages.executionWorkflowId(id);
    const before = await runOf(deps, id).query(messages.stateQuery);
    const input = { by: 'mallory', agent_id: 'caller', decision: 'approve', input: { execution_id: newId() } };
    for (const name of namesOf('update')) {
      const updateId = newId();
      const target: Target = { message: ['update', name, workflowId, updateId], organizationId, input };
      const earlier: Message = ['update', name, workflowId, newId()];
      const repeated = encryptPayload(deps.auth.box, payloadOf(seal(earlier, [input])[0]), organizationId, [
        workflowId,
      ]);
      for (const payload of [...Object.values(forgeries(target)), repeated]) {
        const handle = clientSending(payload).workflow.getHandle(workflowId);
        const error = await handle.executeUpdate(name, { args: [input], updateId }).catch((cause: unknown) => cause);
        expect(error).toBeInstanceOf(WorkflowUpdateFailedError);
        expect(((error as WorkflowUpdateFailedError).cause as ApplicationFailure).type).toBe('untrusted_input');
      }
    }
    const others = namesOf('signal').filter((name) => !messages.operatorSignals.includes(name));
    expect(others.length).toBeGreaterThan(0);
    for (const name of others) {
      const forged = forgeries({ message: ['signal', name, workflowId], organizationId, input: 'approval-1' });
      for (const payload of Object.values(forged))
        await clientSending(payload).workflow.getHandle(workflowId).signal(name, 'approval-1');
    }
    expect(await runOf(deps, id).query(messages.stateQuery)).toEqual(before);
    release();
    await untilExecution(workspace, id, 'completed');
  });

  test('pauses, resumes and cancels a run as an operator, whomever it names', async () => {
    verifies('trust.operator-signals');
    const { workspace, id, release } = await heldExecution(deps, sink);
    const workflowId = messages.executionWorkflowId(id);
    const { organizationId } = workspace;
    const input = { by: 'mallory', reason: 'a reason' };
    for (const payload of Object.values(
      forgeries({ message: ['signal', 'pause', workflowId], organizationId, input }),
    )) {
      await clientSending(payload).workflow.getHandle(workflowId).signal('pause', input);
      await untilExecution(workspace, id, 'paused');
      expect((await runOf(deps, id).query(messages.stateQuery)).pause?.by).toBe('operator');
      expect(await moveExecution(workspace, id, 'resume')).toMatchObject({ status: 200 });
    }
    const reason = JSON.stringify(input);
    if (cli) await cli('workflow', 'signal', '--workflow-id', workflowId, '--name', 'cancel', '--input', reason);
    else await clientSending(payloadOf(input)).workflow.getHandle(workflowId).signal('cancel', input);
    const ended = await untilExecution(workspace, id, 'failed');
    expect(ended.execution_context.failure).toMatchObject({ reason: 'cancelled', by: 'operator' });
    release();
  });
});

test('what the codec endpoint encodes for a person starts nothing', async () => {
  verifies('trust.codec-endpoint');
  const { organizationId } = await createWorkspace(deps);
  const workflowId = `approval/${newId()}`;
  const sealed = payloadOf(seal(['start', 'approval', workflowId], [{ organization_id: organizationId }])[0]);
  const encoded = encryptPayload(deps.auth.box, sealed, organizationId, ['codec endpoint']);
  const options = { taskQueue: deps.temporal.taskQueue, workflowId, args: [1] };
  const handle = await clientSending(encoded).workflow.start('approval', options);
  await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'untrusted_input' } });
});
