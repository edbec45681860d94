import { beforeAll, describe, expect, test } from '@jest/globals';
import path from 'node:path';
import { newId } from '../../../src/base/ids.js';
import { useDeps } from '../../support/fixture.js';
import { eventually } from '../../support/eventually.js';
import { flowThatCalls } from '../../support/flows.js';
import { createGatewayWorkspace } from '../../support/gateway.js';
import { startHttpSink } from '../../support/http-sink.js';
import { ownProduct } from '../../support/own-product.js';
import { startScript } from '../../support/processes.js';
import { testRun } from '../../support/run.js';
import { verifies } from '../../support/verifies.js';
import { useClients } from './clients.js';
import { governedWorkspace, onlyApproval } from './governed.js';
import { generations } from './task-clients.js';

const deps = useDeps();
useClients();
/** API processes that use the worker of the run. */
const product = ownProduct({ TEMPORAL_TASK_QUEUE: testRun().env.TEMPORAL_TASK_QUEUE ?? '' });

/** Begins a task in a client process, kills the process while it waits for the result, and returns the task's id. */
async function beginAndDie(
  generation: string,
  apiKey: string,
  tool: string,
  input: Record<string, unknown>,
  midway: () => Promise<unknown>,
): Promise<string> {
  const { url, logs } = testRun();
  const env = { MCP_URL: url, API_KEY: apiKey, GENERATION: generation, TOOL: tool, INPUT: JSON.stringify(input) };
  const client = await startScript(
    'test/support/mcp-task-process.js',
    env,
    path.join(logs, `task-client-${newId()}.log`),
    'begun',
  );
  await midway().finally(() => client.end('SIGKILL'));
  expect(client.child.signalCode).toBe('SIGKILL');
  return String(client.up.taskId);
}

describe.each(generations)('a task of %s whose client process is killed', (generation, tasksOf) => {
  test('continues, and another client fetches the result of the run', async () => {
    verifies('mcp.tasks.run');
    const workspace = await createGatewayWorkspace(deps);
    const sink = await startHttpSink();
    const release = sink.hold('/');
    const { body } = await workspace.api.post(
      `/agentflow?projectID=${workspace.projectID}`,
      flowThatCalls([`${sink.url}/held`]),
    );
    await workspace.api.post(`/agentflow/${body._id}/promote`);
    const isRunning = () => eventually(() => expect(sink.requests.length).toBeGreaterThan(0));
    const taskId = await beginAndDie(
      generation,
      workspace.apiKey,
      'run_agent',
      { agentflow_id: body._id, goal: 'x' },
      isRunning,
    );
    const tasks = await tasksOf(workspace.apiKey);
    expect(await tasks.get(taskId)).toMatchObject({ status: 'working' });
    release();
    await eventually(async () => expect(await tasks.get(taskId)).toMatchObject({ status: 'completed' }));
    expect(await tasks.result(taskId)).toMatchObject({ structuredContent: { status: 'completed' } });
    await sink.close();
  });

  test('continues, and another client fetches the result of the approved call', async () => {
    verifies('mcp.tasks.held');
    const workspace = await governedWorkspace(deps);
    const saved = { entities: [{ id: 'one', type: 'Thing', name: 'one' }] };
    const taskId = await beginAndDie(generation, workspace.apiKey, 'save_context', saved, () =>
      onlyApproval(workspace),
    );
    const tasks = await tasksOf(workspace.apiKey);
    expect(await tasks.get(taskId)).toMatchObject({ status: 'working' });
    await workspace.decide(await onlyApproval(workspace), 'approve');
    await eventually(async () => expect(await tasks.get(taskId)).toMatchObject({ status: 'completed' }));
    expect(await tasks.result(taskId)).toMatchObject({ structuredContent: { saved: { entities: 1 } } });
  });
});

describe('a task whose API process is killed', () => {
  type TasksOf = (typeof generations)[number][1];

  async function beginRun(url: string, tasksOf: TasksOf) {
    const workspace = await createGatewayWorkspace(deps);
    const sink = await startHttpSink();
    const release = sink.hold('/');
    const { body } = await workspace.api.post(
      `/agentflow?projectID=${workspace.projectID}`,
      flowThatCalls([`${sink.url}/held`]),
    );
    await workspace.api.post(`/agentflow/${body._id}/promote`);
    const tasks = await tasksOf(workspace.apiKey, url);
    const { taskId } = await tasks.begin('run_agent', { agentflow_id: body._id, goal: 'x' });
    await eventually(() => expect(sink.requests.length).toBeGreaterThan(0));
    return { workspace, sink, release, taskId };
  }

  async function beginHeld(url: string, tasksOf: TasksOf) {
    const workspace = await governedWorkspace(deps);
    const saved = { entities: [{ id: 'one', type: 'Thing', name: 'one' }] };
    const { taskId } = await (await tasksOf(workspace.apiKey, url)).begin('save_context', saved);
    return { workspace, taskId, approvalId: await onlyApproval(workspace) };
  }

  const runs = new Map<string, Awaited<ReturnType<typeof beginRun>>>();
  const held = new Map<string, Awaited<ReturnType<typeof beginHeld>>>();
  beforeAll(async () => {
    const one = await product.api();
    for (const [generation, tasksOf] of generations) {
      runs.set(generation, await beginRun(one.url, tasksOf));
      held.set(generation, await beginHeld(one.url, tasksOf));
    }
    await one.end('SIGKILL');
  });

  test.each(generations)('continues, and another process answers for the run: %s', async (generation, tasksOf) => {
    verifies('mcp.tasks.run');
    const { workspace, sink, release, taskId } = runs.get(generation)!;
    const tasks = await tasksOf(workspace.apiKey);
    expect(await tasks.get(taskId)).toMatchObject({ status: 'working' });
    release();
    await eventually(async () => expect(await tasks.get(taskId)).toMatchObject({ status: 'completed' }));
    expect(await tasks.result(taskId)).toMatchObject({ structuredContent: { status: 'completed' } });
    await sink.close();
  });

  test.each(generations)(
    'continues, and another process executes the approved call: %s',
    async (generation, tasksOf) => {
      verifies('mcp.tasks.held');
      const { workspace, taskId, approvalId } = held.get(generation)!;
      const tasks = await tasksOf(workspace.apiKey);
      expect(await tasks.get(taskId)).toMatchObject({ status: 'working' });
      const { approver } = workspace;
      expect(await approver.post(`/v1/approvals/${approvalId}/approve`, {})).toMatchObject({ status: 200 });
      await eventually(async () => expect(await tasks.get(taskId)).toMatchObject({ status: 'completed' }));
      expect(await tasks.result(taskId)).toMatchObject({ structuredContent: { saved: { entities: 1 } } });
    },
  );
});
