import { describe, expect, test } from '@jest/globals';
import { epochSeconds } from '../../src/time.js';
import { newId } from '../../src/ids.js';
import {
  callbackSignal,
  connectorEventsType,
  connectorWorkflowId,
  type ConnectorCallback,
  type ConnectorEventsInput,
} from '../../workflows/connector-events/messages.js';
import { eventually } from '../support/eventually.js';
import { createWorkspace, useDeps } from '../support/fixture.js';
import { flowThatCalls } from '../support/flows.js';
import { useHttpSink } from '../support/use-http-sink.js';

const deps = useDeps();
const sink = await useHttpSink();

describe('connectorEvents', () => {
  test('continues as new when its history is full and starts each coworker once', async () => {
    const workspace = await createWorkspace(deps);
    const { organizationId, projectID, userId } = workspace;
    const agentflow = await workspace.api.post(`/agentflow?projectID=${projectID}`, flowThatCalls([`${sink.url}/${projectID}`]));
    const connector_id = newId();
    const handle = deps.temporal.client.workflow.getHandle(connectorWorkflowId(connector_id));
    const callback = (event_id: string): ConnectorCallback => ({
      callback_id: newId(),
      event_id,
      kind: 'voice',
      event: 'call_ended',
      received_at: epochSeconds(),
      payload: { encoding: 'json', value: { event_id } },
      account_id: null,
      starts: [{ execution_id: newId(), agentflow_id: agentflow.body._id, goal: event_id, organization_id: organizationId, project_id: projectID, user_id: userId }],
    });
    const send = (event_id: string) => {
      const args: [ConnectorEventsInput] = [{ connector_id, max_history_events: 30 }];
      const options = { taskQueue: deps.temporal.taskQueue, workflowId: connectorWorkflowId(connector_id), args };
      return deps.temporal.client.workflow.signalWithStart(connectorEventsType, { ...options, signal: callbackSignal, signalArgs: [callback(event_id)] });
    };
    const events = Array.from({ length: 40 }, (_, at) => `event ${at}`);
    const started = await Promise.all(events.map(send));
    await handle.result();
    const goals = async () => (await deps.mongo.collections.executions.find({ projectID }).toArray()).map(({ goal }) => goal).sort();
    expect(await goals()).toEqual([...events].sort());
    expect((await handle.describe()).runId).not.toBe(started[0]?.signaledRunId);
    await eventually(() => expect(sink.requests.length).toBe(events.length));
  }, 120_000);
});
