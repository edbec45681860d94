import { describe, expect, test } from '@jest/globals';
import { executionWorkflowId } from '../../../../workflows/agentflow-execution/messages.js';
import { decoded } from '../../../support/decoded.js';
import { eventually } from '../../../support/eventually.js';
import { prepareExecution, runOf, startExecution, untilExecution, untilListed } from '../../../support/executions.js';
import { createWorkspace, useDeps } from '../../../support/fixture.js';
import { flowThatCalls } from '../../../support/flows.js';
import { executionPlan } from '../../../support/plans.js';
import { useHttpSink } from '../../../support/use-http-sink.js';
import { verifies } from '../../../support/verifies.js';

interface Handler {
  name: string;
  description?: string;
}

interface WorkflowMetadata {
  currentDetails?: string;
  definition: Record<'queryDefinitions' | 'signalDefinitions' | 'updateDefinitions', Handler[]>;
}

const deps = useDeps();
const sink = await useHttpSink();

describe('GET /execute_flow/{execution_id}/monitoring', () => {
  test('returns the steps of a run and its location in Temporal', async () => {
    verifies('platform.executions.monitoring');
    const workspace = await createWorkspace(deps);
    const url = `${sink.url}/${workspace.projectID}`;
    const { _id } = await prepareExecution(workspace, flowThatCalls([url]), {
      files: [{ name: 'a.txt', content: 'text' }],
    });
    const path = `/execute_flow/${_id}/monitoring?projectID=${workspace.projectID}`;
    const workflowId = executionWorkflowId(_id);
    expect((await workspace.api.get(path)).body).toEqual({
      ...{ draft: true, release: null },
      execution_id: _id,
      status: 'ready',
      workflow_id: workflowId,
      run_id: null,
      temporal_ui_url: null,
      credits: null,
      waiting_for: null,
      steps: [],
    });
    await workspace.api.post(`/execute_flow/${_id}/execute`);
    await untilExecution(workspace, _id, 'completed');
    const { status, body } = await workspace.api.get(path);
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { status: 'completed', workflow_id: workflowId, credits: 1 },
    });
    const { runId } = await deps.temporal.client.workflow.getHandle(workflowId).describe();
    expect(body.run_id).toBe(runId);
    expect(body.temporal_ui_url).toBe(
      `${deps.config.temporal.uiUrl}/namespaces/default/workflows/${encodeURIComponent(workflowId)}/${runId}`,
    );
    const done = {
      status: 'completed',
      attempts: 1,
      started_at: expect.any(Number),
      ended_at: expect.any(Number),
      error: null,
    };
    expect(body.steps).toEqual([
      {
        step_id: 'documents',
        kind: 'documents',
        agent_id: '',
        skill_id: null,
        action_id: null,
        name: 'read documents',
        ...done,
      },
      {
        step_id: 'agent_1/skill_1/action_1',
        kind: 'action',
        agent_id: 'agent_1',
        skill_id: 'skill_1',
        action_id: 'action_1',
        name: 'Call action_1',
        ...done,
      },
      {
        step_id: 'agent_1/model',
        kind: 'model',
        agent_id: 'agent_1',
        skill_id: null,
        action_id: null,
        name: 'Agent agent_1: model turn',
        ...done,
      },
    ]);
  });

  test('counts the attempts of a step while it is retried and afterwards', async () => {
    verifies('execution.steps.retried', 'execution.actions.idempotency-key');
    const workspace = await createWorkspace(deps);
    const path = `/${workspace.projectID}`;
    const times: number[] = [];
    let failing = true;
    sink.answer(path, (_request, res) => {
      times.push(Date.now());
      if (failing) res.writeHead(503).end();
      else res.setHeader('content-type', 'application/json').end('{"ok":true}');
    });
    const id = await startExecution(workspace, flowThatCalls([sink.url + path]));
    const inFlight = await eventually(async () => {
      const { body } = await workspace.api.get(`/execute_flow/${id}/monitoring`);
      expect(body.steps[0]?.attempts).toBeGreaterThanOrEqual(3);
      return body.steps[0];
    });
    expect(inFlight).toMatchObject({ status: 'running', ended_at: null, error: expect.stringContaining('503') });
    failing = false;
    await untilExecution(workspace, id, 'completed');
    const { body } = await workspace.api.get(`/execute_flow/${id}/monitoring`);
    expect(body.steps[0]).toMatchObject({ status: 'completed', attempts: times.length, error: null });
    const waits = times.slice(1).map((time, at) => time - (times[at] ?? 0));
    expect(waits[0]).toBeGreaterThan(700);
    expect(waits[1]).toBeGreaterThan(1400);
    const calls = sink.seen(path);
    expect(new Set(calls.map(({ key }) => key))).toEqual(new Set([`${id}/agent_1/skill_1/action_1`]));
  });

  test('reports why and at which attempt a step failed', async () => {
    verifies('platform.executions.monitoring', 'execution.steps.not-retried');
    const workspace = await createWorkspace(deps);
    const path = `/${workspace.projectID}`;
    sink.answer(path, (_request, res) => res.writeHead(404).end());
    const id = await startExecution(workspace, flowThatCalls([sink.url + path]));
    await untilExecution(workspace, id, 'failed');
    const { body } = await workspace.api.get(`/execute_flow/${id}/monitoring`);
    expect(body.steps).toMatchObject([
      { status: 'failed', attempts: 1, error: expect.stringContaining('404'), ended_at: expect.any(Number) },
    ]);
    expect(sink.seen(path)).toHaveLength(1);
  });
});

describe('a run in Temporal', () => {
  test('can be found by its search attributes with a current status', async () => {
    verifies('execution.search-attributes');
    const workspace = await createWorkspace(deps);
    const release = sink.hold(`/${workspace.projectID}`);
    const id = await startExecution(workspace, flowThatCalls([`${sink.url}/${workspace.projectID}`]));
    const { agentflow_id } = await untilExecution(workspace, id, 'running');
    const found = async (query: string) => {
      const ids: string[] = [];
      for await (const run of deps.temporal.client.workflow.list({ query })) ids.push(run.workflowId);
      return ids;
    };
    const mine = `ProjectId = '${workspace.projectID}' AND OrganizationId = '${workspace.organizationId}'`;
    const query = `${mine} AND AgentflowId = '${agentflow_id}' AND ExecutedBy = '${workspace.userId}'`;
    await eventually(async () =>
      expect(await found(`${query} AND AgentflowStatus = 'running'`)).toEqual([executionWorkflowId(id)]),
    );
    await workspace.api.post(`/execute_flow/${id}/pause`);
    await eventually(async () =>
      expect(await found(`${query} AND AgentflowStatus = 'paused'`)).toEqual([executionWorkflowId(id)]),
    );
    await workspace.api.post(`/execute_flow/${id}/resume`);
    release();
    await eventually(async () =>
      expect(await found(`AgentflowStatus = 'completed' AND ProjectId = '${workspace.projectID}'`)).toEqual([
        executionWorkflowId(id),
      ]),
    );
    expect(await found(`${query} AND AgentflowStatus = 'running'`)).toEqual([]);
  });

  test('that waits for a person, or that was cancelled, can be recognised in Temporal and in lists', async () => {
    verifies('execution.waiting-shown');
    const workspace = await createWorkspace(deps);
    const flow = flowThatCalls([]);
    const id = await startExecution(workspace, {
      ...flow,
      agents: flow.agents.map((agent) => ({ ...agent, is_preview_mode_enabled: true })),
    });
    const other = await startExecution(workspace, flowThatCalls([]));
    await untilListed(workspace, other, 'completed');
    const { previews } = await untilListed(workspace, id, {
      status: 'running',
      execution_context: { waiting_for: { kind: 'preview' } },
    });
    const inTemporal = async (status: string) => {
      const ids: string[] = [];
      for await (const run of deps.temporal.client.workflow.list({
        query: `ProjectId = '${workspace.projectID}' AND AgentflowStatus = '${status}'`,
      }))
        ids.push(run.workflowId);
      return ids;
    };
    await eventually(async () => expect(await inTemporal('waiting')).toEqual([executionWorkflowId(id)]));
    const listed = async (query: string) => {
      const [executions, tasks] = await Promise.all([
        workspace.api.get(`/${workspace.projectID}/execution_flows?${query}`),
        workspace.api.get(`/task?projectID=${workspace.projectID}&${query}`),
      ]);
      const ids = executions.body.data.map(({ _id }: { _id: string }) => _id);
      expect(tasks.body.data.map(({ execution_id }: { execution_id: string }) => execution_id)).toEqual(ids);
      return { ids, task: tasks.body.data[0] };
    };
    expect(await listed('waiting_for=preview')).toMatchObject({
      ids: [id],
      task: { waiting_for: { kind: 'preview', preview_id: previews.agent_1.preview_id } },
    });
    expect((await listed('failure_reason=cancelled')).ids).toEqual([]);
    await workspace.api.post(`/execute_flow/${id}/cancel`);
    await untilListed(workspace, id, 'failed');
    expect((await listed('waiting_for=preview')).ids).toEqual([]);
    expect(await listed('failure_reason=cancelled')).toMatchObject({
      ids: [id],
      task: { waiting_for: null, failure: { reason: 'cancelled' } },
    });
    expect((await workspace.api.get(`/task?projectID=${workspace.projectID}&failure_reason=nonsense`)).status).toBe(
      400,
    );
    await eventually(async () => expect(await inTemporal('waiting')).toEqual([]));
  });

  test('is readable in Temporal: summary, current details, a summary of each activity', async () => {
    verifies('execution.readable-in-temporal');
    const workspace = await createWorkspace(deps);
    const release = sink.hold(`/${workspace.projectID}`);
    const id = await startExecution(workspace, flowThatCalls([`${sink.url}/${workspace.projectID}`]), {
      goal: 'read me',
    });
    const handle = runOf(deps, id);
    await untilExecution(workspace, id, 'running');
    expect(await (await handle.describe()).staticSummary()).toBe('Test flow: read me');
    expect(await (await handle.describe()).staticDetails()).toContain(
      `/console/projects/${workspace.projectID}/runs/${id})`,
    );
    const metadata = () => handle.query<WorkflowMetadata, []>('__temporal_workflow_metadata');
    const details = async () => (await metadata()).currentDetails;
    const { queryDefinitions, signalDefinitions, updateDefinitions } = (await metadata()).definition;
    const own = [...queryDefinitions, ...signalDefinitions, ...updateDefinitions].filter(
      ({ name }) => !name.startsWith('__'),
    );
    expect(own.map(({ name }) => name)).toEqual(expect.arrayContaining(['state', 'pause', 'decidePreview']));
    expect(own.filter(({ description }) => !description)).toEqual([]);
    expect(await details()).toContain('**running**: Test flow');
    await workspace.api.post(`/execute_flow/${id}/pause`);
    expect(await details()).toContain(`Paused by ${workspace.userId}`);
    await workspace.api.post(`/execute_flow/${id}/resume`);
    release();
    await untilExecution(workspace, id, 'completed');
    const { events } = await handle.fetchHistory();
    const scheduled = (events ?? []).filter(
      ({ activityTaskScheduledEventAttributes: activity, markerRecordedEventAttributes: marker }) =>
        activity ?? marker?.markerName === 'core_local_activity',
    );
    const summaries = await Promise.all(scheduled.map((event) => decoded(deps, event.userMetadata?.summary)));
    expect(summaries).toEqual(
      expect.arrayContaining(['Call action_1', 'Agent agent_1: model turn', 'write the execution record']),
    );
    expect(summaries).toHaveLength(scheduled.length);
  });

  test('does not depend on changes of its agentflow or record', async () => {
    const workspace = await createWorkspace(deps);
    const release = sink.hold(`/${workspace.projectID}`);
    const id = await startExecution(workspace, flowThatCalls([`${sink.url}/${workspace.projectID}`], []));
    const { agentflow_id } = await untilExecution(workspace, id, 'running');
    expect(await workspace.api.delete(`/agentflow/${agentflow_id}`)).toMatchObject({ status: 200 });
    release();
    expect(await untilListed(workspace, id, 'completed')).toMatchObject({ agents_output: [{}, {}] });
  });

  test('completes even if a Temporal client started it without a record', async () => {
    const input = executionPlan([], { execution_id: 'no-record', first_agent_id: 'nobody', max_history_events: 100 });
    const options = {
      taskQueue: deps.temporal.taskQueue,
      workflowId: `execution/${Date.now()}-${process.pid}`,
      args: [input],
    };
    await expect(deps.temporal.client.workflow.execute('agentflowExecution', options)).rejects.toMatchObject({
      cause: { message: 'the agentflow has no agent nobody' },
    });
  });
});
