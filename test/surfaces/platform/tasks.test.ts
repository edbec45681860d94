import { describe, expect, test } from '@jest/globals';
import { newId } from '../../../src/base/ids.js';
import { apiClient } from '../../support/client.js';
import { eventually } from '../../support/eventually.js';
import {
  moveExecution,
  prepareExecution,
  startExecution,
  untilExecution,
  untilListed,
} from '../../support/executions.js';
import { createKey, createWorkspace, useDeps, type Workspace } from '../../support/fixture.js';
import { flowThatCalls } from '../../support/flows.js';
import { refusal } from '../../support/refusal.js';
import { seedExecution } from '../../support/seeded-executions.js';
import { useHttpSink } from '../../support/use-http-sink.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();
const sink = await useHttpSink();

/** A task that stays in its first step until `release`. */
async function heldTask(workspace: Workspace) {
  const place = `/${newId()}`;
  const release = sink.hold(place);
  const id = await startExecution(workspace, flowThatCalls([`${sink.url}${place}`], []));
  const { task_id } = await untilExecution(workspace, id, 'running');
  await eventually(() => expect(sink.requests.map(({ path }) => path)).toContain(place));
  return { id, path: `/task/${task_id}`, task_id: task_id as string, release };
}

/** The live view, or the record if the workflow does not answer in time. */
const untilTask = ({ api }: Workspace, path: string, status: string) =>
  eventually(async () => expect((await api.get(path)).body.status).toBe(status));

describe('GET /task', () => {
  test('lists only the tasks of the project, newest first, by status and by page', async () => {
    verifies('platform.tasks.list');
    const [mine, stranger] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
    await seedExecution(deps, stranger);
    const statuses = ['completed', 'failed', 'ready', 'completed'] as const;
    const made: string[] = [];
    for (const status of statuses) made.unshift((await seedExecution(deps, mine, { status })).task_id);
    const { body: first } = await mine.api.get(`/task?projectID=${mine.projectID}&limit=3`);
    expect(first).toMatchObject({ total_count: 4, data: made.slice(0, 3).map((_id) => ({ _id })) });
    const { body: second } = await mine.api.get(`/task?limit=3&cursor=${first.next_cursor}`);
    expect(second).toMatchObject({ data: [{ _id: made[3], status: 'completed' }], next_cursor: null });
    expect((await mine.api.get('/task?status=failed')).body).toMatchObject({
      total_count: 1,
      data: [{ _id: made[2], status: 'failed' }],
    });
    expect(await mine.api.get('/task?status=stopped')).toMatchObject(refusal(400, 'invalid_request', 'status'));
    for (const [query, name] of [
      ['to=', 'to: must be a number'],
      ['from=0x10', 'from'],
      ['limit=%201', 'limit'],
    ])
      expect(await mine.api.get(`/task?${query}`)).toMatchObject(refusal(400, 'invalid_request', name));
    expect(await mine.api.get(`/task?projectID=${stranger.projectID}`)).toMatchObject(refusal(403, 'access_denied'));
  });
});

describe('GET /task/{id}', () => {
  test('returns the task of an execution, named by agentflow and goal', async () => {
    verifies('platform.tasks.get');
    const workspace = await createWorkspace(deps);
    const goal = `${'😀'.repeat(300)}`;
    const execution = await prepareExecution(workspace, flowThatCalls([`${sink.url}/x`]), { goal });
    const { body } = await workspace.api.get(`/task/${execution.task_id}`);
    const { projectID, execution_id, agentflow_id, parent_execution_id, schedule, created_at, end_time, executed_by } =
      execution;
    expect(body).toEqual({
      ...{
        _id: execution.task_id,
        projectID,
        execution_id,
        agentflow_id,
        parent_execution_id,
        goal,
        schedule,
        created_at,
        end_time,
        executed_by,
      },
      name: `Test flow: ${'😀'.repeat(189)}`,
      status: 'ready',
      waiting_for: null,
      failure: null,
    });
    expect((await workspace.api.get('/task')).body.data).toEqual([body]);
  });

  test('answers 404 to an unknown, a malformed and another project’s task on every route', async () => {
    verifies('platform.tasks.get');
    const [mine, stranger] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
    const theirs = await prepareExecution(stranger, flowThatCalls([`${sink.url}/x`]));
    for (const id of [theirs.task_id, theirs.execution_id, newId(), 'x', '%00']) {
      expect(await mine.api.get(`/task/${id}`)).toMatchObject(refusal(404, 'not_found'));
      for (const move of ['pause', 'resume', 'stop'])
        expect(await mine.api.post(`/task/${id}/${move}`, {})).toMatchObject(refusal(404, 'not_found'));
    }
    expect((await stranger.api.get(`/task/${theirs.task_id}`)).body).toMatchObject({ status: 'ready' });
  });
});

describe('POST /task/{id}/pause, /resume and /stop', () => {
  test('pause and resume the task with its execution, and refuse other states', async () => {
    verifies('platform.tasks.pause', 'platform.tasks.resume', 'task.states');
    const workspace = await createWorkspace(deps);
    const { api } = workspace;
    const { id, path, task_id, release } = await heldTask(workspace);
    await untilTask(workspace, path, 'running');
    expect(await api.post(`${path}/resume`)).toMatchObject(refusal(409, 'conflict', 'running'));
    expect(await api.post(`${path}/pause`, { reason: 'lunch' })).toMatchObject({
      status: 200,
      body: { task_id, execution_id: id, status: 'paused' },
    });
    expect(await api.post(`${path}/pause`)).toMatchObject(refusal(409, 'conflict', 'paused'));
    await untilTask(workspace, path, 'paused');
    await untilExecution(workspace, id, 'paused');
    await untilListed(workspace, id, 'paused');
    expect((await api.get('/task?status=paused')).body).toMatchObject({ data: [{ _id: task_id, status: 'paused' }] });
    release();
    expect(await api.post(`${path}/resume`, {})).toMatchObject({
      status: 200,
      body: { task_id, execution_id: id, status: 'running' },
    });
    await untilExecution(workspace, id, 'completed');
    expect((await api.get(path)).body).toMatchObject({ status: 'completed', end_time: expect.any(Number) });
    for (const move of ['pause', 'resume', 'stop'])
      expect(await api.post(`${path}/${move}`)).toMatchObject(refusal(409, 'conflict', 'completed'));
  });

  test('show a transition of the execution immediately', async () => {
    verifies('task.states');
    const workspace = await createWorkspace(deps);
    const { id, path, release } = await heldTask(workspace);
    expect(await moveExecution(workspace, id, 'pause')).toMatchObject({ status: 200 });
    await untilTask(workspace, path, 'paused');
    release();
    expect(await moveExecution(workspace, id, 'cancel')).toMatchObject({ status: 200 });
    await untilTask(workspace, path, 'failed');
  });

  test('stop a running task and one that never started, with the reason', async () => {
    verifies('platform.tasks.stop');
    const workspace = await createWorkspace(deps);
    const { api } = workspace;
    const running = await heldTask(workspace);
    const ready = await prepareExecution(workspace, flowThatCalls([`${sink.url}/x`]));
    expect(await api.post(`${running.path}/stop`, { reason: 'no longer needed' })).toMatchObject({
      status: 200,
      body: { task_id: running.task_id, execution_id: running.id, status: 'failed' },
    });
    expect(await api.post(`/task/${ready.task_id}/stop`)).toMatchObject({ status: 200, body: { status: 'failed' } });
    running.release();
    for (const id of [running.id, ready.execution_id]) {
      const { execution_context } = await untilExecution(workspace, id, 'failed');
      expect(execution_context.failure).toMatchObject({ reason: 'cancelled', by: workspace.userId });
    }
    expect(await api.post(`${running.path}/stop`)).toMatchObject(refusal(409, 'conflict', 'failed'));
  });

  test('refuse unknown fields and a key without svc:orchestrate.write, and change nothing', async () => {
    const workspace = await createWorkspace(deps);
    const { task_id } = await prepareExecution(workspace, flowThatCalls([`${sink.url}/x`]));
    expect(await workspace.api.post(`/task/${task_id}/stop`, { force: true })).toMatchObject(
      refusal(400, 'invalid_request', 'force'),
    );
    const reader = apiClient(workspace.api.url, {
      'x-api-key': await createKey(deps, workspace, { grants: ['svc:orchestrate.read'] }),
    });
    for (const move of ['pause', 'resume', 'stop'])
      expect(await reader.post(`/task/${task_id}/${move}`)).toMatchObject(refusal(403, 'access_denied'));
    expect((await reader.get(`/task/${task_id}`)).body.status).toBe('ready');
  });
});
