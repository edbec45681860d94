import { describe, expect, test } from '@jest/globals';
import { addToCounter, currentWindow } from '../../../src/auth/window-counter.js';
import { lengthCounter, maxProjectLength, taskSeconds } from '../../../src/surfaces/mcp/task-record.js';
import { createKey, useDeps } from '../../support/fixture.js';
import { eventually } from '../../support/eventually.js';
import { flowThatCalls } from '../../support/flows.js';
import { createGatewayWorkspace, type GatewayWorkspace } from '../../support/gateway.js';
import { startHttpSink } from '../../support/http-sink.js';
import { modernRequest, modernTasks, type TaskClient } from '../../support/mcp-tasks.js';
import { verifies } from '../../support/verifies.js';
import { connectModern, textOf, useClients } from './clients.js';
import { governedWorkspace, onlyApproval } from './governed.js';
import { generations } from './task-clients.js';

const deps = useDeps();
useClients();

const saved = { entities: [{ id: 'one', type: 'Thing', name: 'one' }] };

async function promotedFlow({ api, projectID }: GatewayWorkspace, ...agents: string[][]): Promise<string> {
  const { body } = await api.post(`/agentflow?projectID=${projectID}`, flowThatCalls(...agents));
  await api.post(`/agentflow/${body._id}/promote`);
  return body._id;
}

async function ended(tasks: TaskClient, taskId: string, status = 'completed'): Promise<any> {
  return eventually(async () => {
    const task = await tasks.get(taskId);
    expect(task).toMatchObject({ taskId, status });
    return task;
  });
}

describe.each(generations)('tasks of %s', (generation, tasksOf) => {
  test('execute a held call once when its client returns after the approval, even for many concurrent requests', async () => {
    verifies('mcp.tasks.held');
    const workspace = await governedWorkspace(deps);
    const tasks = await tasksOf(workspace.apiKey);
    const { taskId, status, statusMessage, pollInterval, pollIntervalMs } = await tasks.begin('save_context', saved);
    const approvalId = await onlyApproval(workspace);
    expect(status).toBe('working');
    expect(statusMessage).toContain(`/console/projects/${workspace.projectID}/approvals/${approvalId}`);
    expect(pollInterval ?? pollIntervalMs).toBe(5000);
    expect(await tasks.get(taskId)).toMatchObject({
      taskId,
      status: 'working',
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    await workspace.decide(approvalId, 'approve');
    const asking = await Promise.all(
      [tasks, await tasksOf(workspace.apiKey), tasks, tasks].map((each) => each.get(taskId)),
    );
    expect(asking.map((task) => task.status).every((each) => ['working', 'completed'].includes(each))).toBe(true);
    await ended(tasks, taskId);
    expect(await tasks.result(taskId)).toMatchObject({
      structuredContent: { saved: { entities: 1 }, lifecycle_id: expect.any(String) },
    });
    const { body } = await workspace.gateway.get('/v1/lifecycles?tool=save-context');
    const made = body.data.filter(({ stages }: any) => stages.some(({ stage }: any) => stage === 'S8:execute'));
    expect(made).toMatchObject([{ status: 'completed' }]);
  });

  test('report a rejected call as a refusal', async () => {
    verifies('mcp.tasks.held');
    const workspace = await governedWorkspace(deps);
    const tasks = await tasksOf(workspace.apiKey);
    const { taskId } = await tasks.begin('save_context', saved);
    await workspace.decide(await onlyApproval(workspace), 'reject');
    await ended(tasks, taskId, generation === '2025-11-25' ? 'failed' : 'completed');
    const result = await tasks.result(taskId);
    expect(result).toMatchObject({ isError: true });
    expect(textOf(result)).toMatchObject({
      error: 'S6:approval',
      approval_status: 'rejected',
      lifecycle_id: expect.any(String),
    });
  });

  test('follow a run to its end, from its start and by a wait', async () => {
    verifies('mcp.tasks.run');
    const workspace = await createGatewayWorkspace(deps);
    const sink = await startHttpSink();
    const release = sink.hold('/');
    const agentflow_id = await promotedFlow(workspace, [], [`${sink.url}/held`]);
    const tasks = await tasksOf(workspace.apiKey);
    const run = await tasks.begin('run_agent', { agentflow_id, goal: 'x' });
    expect(run).toMatchObject({ status: 'working' });
    const execution_id = await eventually(async () => {
      const { statusMessage } = await tasks.get(run.taskId);
      expect(statusMessage).toMatch(/^execution .*: running, 1 of 2 agents done$/);
      return /^execution ([^:]+):/.exec(statusMessage)?.[1] ?? '';
    });
    const wait = await tasks.begin('wait_for_execution', { execution_id });
    release();
    await ended(tasks, run.taskId);
    await ended(tasks, wait.taskId);
    expect(await tasks.result(run.taskId)).toMatchObject({
      structuredContent: { execution_id, status: 'completed', lifecycle_id: expect.any(String) },
    });
    expect(await tasks.result(wait.taskId)).toMatchObject({
      structuredContent: {
        ended: true,
        execution: { execution_id, status: 'completed', conclusion: expect.anything() },
      },
    });
    await sink.close();
  });

  test('are visible only to their caller', async () => {
    verifies('mcp.tasks.owner');
    const workspace = await governedWorkspace(deps);
    const { taskId } = await (await tasksOf(workspace.apiKey)).begin('save_context', saved);
    const strangers = [await createKey(deps, workspace), (await createGatewayWorkspace(deps)).apiKey];
    for (const stranger of await Promise.all(strangers.map((key) => tasksOf(key)))) {
      for (const ask of [stranger.get, stranger.result, stranger.cancel])
        await expect(ask(taskId)).rejects.toMatchObject({ code: -32602 });
    }
    for (const id of ['nothing', 'x'.repeat(10_000), ''])
      await expect((await tasksOf(workspace.apiKey)).get(id)).rejects.toMatchObject({ code: -32602 });
  });

  test('execute nothing after a cancellation, and cancel the run that they started', async () => {
    verifies('mcp.tasks.cancel');
    const workspace = await governedWorkspace(deps);
    const sink = await startHttpSink();
    sink.hold('/');
    const tasks = await tasksOf(workspace.apiKey);
    const held = await tasks.begin('save_context', saved);
    await tasks.cancel(held.taskId);
    await workspace.decide(await onlyApproval(workspace), 'approve');
    expect(await tasks.get(held.taskId)).toMatchObject({ status: 'cancelled' });
    const { body } = await workspace.gateway.get('/v1/lifecycles?tool=save-context&status=completed');
    expect(body.data).toEqual([]);

    const agentflow_id = await promotedFlow(workspace, [`${sink.url}/held`]);
    const run = await tasks.begin('run_agent', { agentflow_id, goal: 'x' });
    await eventually(() => expect(sink.requests.length).toBeGreaterThan(0));
    const { statusMessage } = await tasks.get(run.taskId);
    await tasks.cancel(run.taskId);
    expect(await tasks.get(run.taskId)).toMatchObject({ status: 'cancelled' });
    const executionId = /^execution ([^:]+):/.exec(statusMessage)?.[1] ?? '';
    await eventually(async () =>
      expect((await workspace.api.get(`/execute_flow/${executionId}`)).body.status).toBe('failed'),
    );
    await sink.close();
  });

  test('are completed by another process if one dies during the call', async () => {
    verifies('mcp.tasks.held');
    const workspace = await governedWorkspace(deps);
    const tasks = await tasksOf(workspace.apiKey);
    const { taskId } = await tasks.begin('save_context', saved);
    await workspace.decide(await onlyApproval(workspace), 'approve');
    const { mcp_tasks } = deps.mongo.collections;
    await mcp_tasks.updateOne({ _id: taskId }, { $set: { claimed_until: Date.now() / 1000 + 3600 } });
    expect(await tasks.get(taskId)).toMatchObject({ status: 'working' });
    await mcp_tasks.updateOne({ _id: taskId }, { $set: { claimed_until: Date.now() / 1000 - 1 } });
    await ended(tasks, taskId);
    expect(await tasks.result(taskId)).toMatchObject({ structuredContent: { saved: { entities: 1 } } });
  });

  test('store requests and answers sealed', async () => {
    verifies('mcp.tasks.held');
    const workspace = await governedWorkspace(deps);
    const { taskId } = await (
      await tasksOf(workspace.apiKey)
    ).begin('save_context', { entities: [{ type: 'Thing', name: 'a canary value' }] });
    const task = await deps.mongo.collections.mcp_tasks.findOne({ _id: taskId });
    expect(JSON.stringify(task)).not.toContain('canary');
  });
});

describe('tasks of 2025-11-25', () => {
  test('any call can be one and ends immediately; its cancellation is then refused', async () => {
    verifies('mcp.tasks.run', 'mcp.tasks.cancel');
    const [[, tasksOf]] = generations;
    const tasks = await tasksOf((await createGatewayWorkspace(deps)).apiKey);
    const { taskId, status, ttl } = await tasks.begin('docs', { topic: 'errors' });
    expect([status, ttl]).toEqual(['completed', 7 * 24 * 3600 * 1000]);
    expect(await tasks.result(taskId)).toMatchObject({
      structuredContent: { topic: 'errors' },
      _meta: { 'io.modelcontextprotocol/related-task': { taskId } },
    });
    await expect(tasks.cancel(taskId)).rejects.toMatchObject({ code: -32602 });
    const failed = await tasks.begin('query_context', { query: 'CREATE (n) RETURN n' });
    expect(failed).toMatchObject({ status: 'failed' });
  });

  test('keep no answer once the tasks of the project keep 1 GiB', async () => {
    const [[, tasksOf]] = generations;
    const { apiKey, projectID } = await createGatewayWorkspace(deps);
    const tasks = await tasksOf(apiKey);
    const { window, endsAt } = currentWindow(taskSeconds);
    await addToCounter(
      deps.mongo.collections.request_counters,
      lengthCounter(projectID, window),
      maxProjectLength - 100,
      endsAt,
    );
    const { taskId } = await tasks.begin('docs', { topic: 'errors' });
    expect(await tasks.get(taskId)).toMatchObject({ status: 'failed' });
    expect(textOf(await tasks.result(taskId))).toMatchObject({
      error: 'payload_too_large',
      error_description: expect.stringContaining('at most 1 GiB'),
      lifecycle_id: expect.any(String),
    });
    const other = await tasksOf((await createGatewayWorkspace(deps)).apiKey);
    expect(await other.begin('docs', { topic: 'errors' })).toMatchObject({ status: 'completed' });
  });
});

describe('tasks of 2026-07-28', () => {
  test('are for clients that declare the extension, and for calls that continue', async () => {
    verifies('mcp.tasks.held');
    const workspace = await governedWorkspace(deps);
    const held = await modernRequest(workspace.apiKey, 'tools/call', { name: 'save_context', arguments: saved }, {});
    expect(held).toMatchObject({ resultType: 'complete', structuredContent: { status: 'pending_approval' } });
    const tasks = await modernTasks(workspace.apiKey);
    expect(await tasks.begin('docs', { topic: 'errors' })).toMatchObject({
      resultType: 'complete',
      structuredContent: { topic: 'errors' },
    });
    const { taskId, resultType, ttlMs } = await tasks.begin('save_context', saved);
    expect([resultType, ttlMs]).toEqual(['task', 7 * 24 * 3600 * 1000]);
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const params = { taskId, ...(method === 'tasks/update' && { inputResponses: {} }) };
      await expect(modernRequest(workspace.apiKey, method, params, {})).rejects.toMatchObject({
        code: -32021,
        data: { requiredCapabilities: { extensions: expect.anything() } },
      });
    }
    expect(await modernRequest(workspace.apiKey, 'tasks/update', { taskId, inputResponses: {} })).toMatchObject({
      resultType: 'complete',
    });
    expect((await connectModern(workspace.apiKey)).getServerCapabilities()).toMatchObject({
      extensions: { 'io.modelcontextprotocol/tasks': {} },
    });
  });

  test('first direct a client that opens addresses to the page', async () => {
    verifies('mcp.approval.page', 'mcp.tasks.held');
    const workspace = await governedWorkspace(deps);
    const capabilities = { elicitation: { url: {} }, extensions: { 'io.modelcontextprotocol/tasks': {} } };
    const asked = await modernRequest(
      workspace.apiKey,
      'tools/call',
      { name: 'save_context', arguments: saved },
      capabilities,
    );
    expect(asked).toMatchObject({
      resultType: 'input_required',
      inputRequests: { approval: { params: { mode: 'url', url: expect.stringContaining('/approvals/') } } },
    });
    const { requestState } = asked;
    const answered = {
      name: 'save_context',
      arguments: saved,
      requestState,
      inputResponses: { approval: { action: 'accept' } },
    };
    expect(await modernRequest(workspace.apiKey, 'tools/call', answered, capabilities)).toMatchObject({
      resultType: 'task',
      status: 'working',
    });
  });
});
