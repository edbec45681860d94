import { describe, expect, test } from '@jest/globals';
import { epochSeconds } from '../../src/base/time.js';
import { newId } from '../../src/base/ids.js';
import {
  callbackSignal,
  connectorEventsType,
  connectorWorkflowId,
  stateQuery,
  type ConnectorCallback,
  type ConnectorEventsInput,
} from '../../workflows/connector-events/messages.js';
import { eventually } from '../support/eventually.js';
import { createWorkspace, useDeps, type Workspace } from '../support/fixture.js';
import { flowThatCalls } from '../support/flows.js';
import { released } from '../support/releases.js';
import { useHttpSink } from '../support/use-http-sink.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const sink = await useHttpSink();

async function releasedFlow({ api, projectID }: Workspace, urls: string[]): Promise<string> {
  const { body } = await api.post(`/agentflow?projectID=${projectID}`, flowThatCalls(urls));
  return released(api, body._id as string);
}

describe('connectorEvents', () => {
  test.concurrent('continues as new during a transient failure of a callback, and processes it later', async () => {
    verifies('connector-events.continues-as-new');
    const workspace = await createWorkspace(deps);
    const { organizationId, projectID, userId } = workspace;
    const { agentflow_versions, executions } = deps.mongo.collections;
    const [healthy = '', broken = ''] = await Promise.all([1, 2].map(() => releasedFlow(workspace, [])));
    const release = { _id: `${broken}:1` };
    const { agents } = (await agentflow_versions.findOne(release))!.agentflow;
    // A record that causes an internal error.
    await agentflow_versions.updateOne(release, { $set: { 'agentflow.agents': [null] as never } });
    const connector_id = newId();
    const workflowId = connectorWorkflowId(connector_id);
    const handle = deps.temporal.client.workflow.getHandle(workflowId);
    const send = (goal: string, agentflow_id = '') => {
      const callback_id = newId();
      const start = {
        execution_id: newId(),
        agentflow_id,
        goal,
        organization_id: organizationId,
        project_id: projectID,
        user_id: userId,
      };
      const payload = { encoding: 'json' as const, value: {} };
      const callback: ConnectorCallback = {
        callback_id,
        event_id: null,
        kind: 'voice',
        event: 'x',
        received_at: epochSeconds(),
        payload,
        account_id: null,
        starts: [start],
      };
      const args: [ConnectorEventsInput] = [{ connector_id, max_history_events: 30 }];
      return deps.temporal.client.workflow.signalWithStart(connectorEventsType, {
        taskQueue: deps.temporal.taskQueue,
        workflowId,
        args,
        signal: callbackSignal,
        signalArgs: [callback],
      });
    };
    const { signaledRunId } = await send('broken', broken);
    for (let at = 0; at < 12; at += 1) await send(`healthy ${at}`, healthy);
    await eventually(
      async () => {
        const { runId, status, historyLength } = await handle.describe();
        expect([runId === signaledRunId, status.name]).toEqual([false, 'RUNNING']);
        expect(historyLength).toBeLessThan(60);
        expect((await handle.query(stateQuery)).pending).toMatchObject([
          { attempts: expect.any(Number), starts: [{ goal: 'broken' }] },
        ]);
      },
      { timeoutMs: 120_000 },
    );
    await agentflow_versions.updateOne(release, { $set: { 'agentflow.agents': agents } });
    expect(await handle.result()).toMatchObject({ handled: 13, failures: [] });
    await eventually(async () => expect(await executions.countDocuments({ projectID, status: 'completed' })).toBe(13));
  });

  test.concurrent('continues as new when its history is full and starts each coworker once', async () => {
    const workspace = await createWorkspace(deps);
    const { organizationId, projectID, userId } = workspace;
    const agentflow_id = await releasedFlow(workspace, [`${sink.url}/${projectID}`]);
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
      starts: [
        {
          execution_id: newId(),
          agentflow_id,
          goal: event_id,
          organization_id: organizationId,
          project_id: projectID,
          user_id: userId,
        },
      ],
    });
    const send = (event_id: string) => {
      const args: [ConnectorEventsInput] = [{ connector_id, max_history_events: 30 }];
      const options = { taskQueue: deps.temporal.taskQueue, workflowId: connectorWorkflowId(connector_id), args };
      return deps.temporal.client.workflow.signalWithStart(connectorEventsType, {
        ...options,
        signal: callbackSignal,
        signalArgs: [callback(event_id)],
      });
    };
    const events = Array.from({ length: 40 }, (_, at) => `event ${at}`);
    const started = await Promise.all(events.map(send));
    await handle.result();
    const goals = async () =>
      (await deps.mongo.collections.executions.find({ projectID }).toArray()).map(({ goal }) => goal).sort();
    expect(await goals()).toEqual([...events].sort());
    expect((await handle.describe()).runId).not.toBe(started[0]?.signaledRunId);
    await eventually(() => expect(sink.requests.length).toBe(events.length));
  });
});
