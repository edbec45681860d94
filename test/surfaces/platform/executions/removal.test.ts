import { describe, expect, test } from '@jest/globals';
import { createRetentionSweep } from '../../../../src/domain/executions/retention.js';
import { epochSeconds } from '../../../../src/base/time.js';
import { executionWorkflowId } from '../../../../workflows/agentflow-execution/messages.js';
import { eventually } from '../../../support/eventually.js';
import {
  heldExecution,
  moveExecution,
  prepareExecution,
  startExecution,
  untilListed,
} from '../../../support/executions.js';
import { createKey, createWorkspace, personOf, useDeps, type Workspace } from '../../../support/fixture.js';
import { flowThatCalls } from '../../../support/flows.js';
import { apiClient } from '../../../support/client.js';
import { refusal } from '../../../support/refusal.js';
import { testRun } from '../../../support/run.js';
import { useHttpSink } from '../../../support/use-http-sink.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const sink = await useHttpSink();
const day = 24 * 3600;
const document = { name: 'claim.md', content: 'The claim.' };

async function endedExecution(workspace: Workspace, request: object = {}): Promise<any> {
  const flow = flowThatCalls([`${sink.url}/${workspace.projectID}`]);
  const id = await startExecution(workspace, flow, request);
  return untilListed(workspace, id, 'completed');
}

const remove = ({ api }: Pick<Workspace, 'api'>, id: string) => api.delete(`/execute_flow/${id}`);

/** What is stored about an execution, apart from what governance has recorded. */
async function storedAbout(id: string): Promise<number[]> {
  const { executions, execution_events, execution_exchanges } = deps.mongo.collections;
  return Promise.all([
    executions.countDocuments({ _id: id }),
    execution_events.countDocuments({ execution_id: id }),
    execution_exchanges.countDocuments({ _id: { $gt: `${id}/`, $lt: `${id}0` } }),
  ]);
}

/** The number of runs of the execution that Temporal still has. */
async function historiesOf(id: string): Promise<number> {
  let count = 0;
  for await (const _run of deps.temporal.client.workflow.list({ query: `WorkflowId = '${executionWorkflowId(id)}'` }))
    count += 1;
  return count;
}

describe('DELETE /execute_flow/{execution_id}', () => {
  test('deletes an execution with all that only it stores, and keeps what governance recorded', async () => {
    verifies('execution.delete');
    const workspace = await createWorkspace(deps);
    const { _id: id, files } = await endedExecution(workspace, { files: [document] });
    const { _id: other } = await endedExecution(workspace);
    await eventually(async () => expect(await historiesOf(id)).toBe(1));
    const lifecycles = () =>
      deps.mongo.collections.lifecycles.countDocuments({ 'act.idempotency_key': { $gt: `${id}/`, $lt: `${id}0` } });
    const recorded = await lifecycles();
    expect(recorded).toBeGreaterThan(0);
    expect(await remove(workspace, id)).toMatchObject({ status: 200, body: { execution_id: id, deleted: true } });
    expect(await workspace.api.get(`/execute_flow/${id}`)).toMatchObject(refusal(404, 'not_found'));
    expect(await storedAbout(id)).toEqual([0, 0, 0]);
    await eventually(async () => expect(await historiesOf(id)).toBe(0));
    await expect(deps.blobs.get(files[0].location)).rejects.toMatchObject({ code: 'not_found' });
    expect(await lifecycles()).toBe(recorded);
    const entries = await (await personOf(deps, workspace)).get('/v1/audit?action=execution.delete');
    expect(entries.body.data).toMatchObject([{ resource: `execution:${id}` }]);
    expect(await remove(workspace, id)).toMatchObject(refusal(404, 'not_found'));
    expect((await workspace.api.get(`/execute_flow/${other}`)).status).toBe(200);
    expect((await storedAbout(other))[1]).toBeGreaterThan(0);
  });

  test('keeps documents that a rerun refers to', async () => {
    verifies('execution.delete');
    const workspace = await createWorkspace(deps);
    const { _id: id, files } = await endedExecution(workspace, { files: [document] });
    const rerun = await workspace.api.post(`/execute_flow/${id}/rerun`, {});
    expect(rerun.status).toBe(201);
    expect((await remove(workspace, id)).status).toBe(200);
    expect((await deps.blobs.get(files[0].location)).toString()).toBe(document.content);
    await moveExecution(workspace, rerun.body._id, 'execute');
    await untilListed(workspace, rerun.body._id, 'completed');
    expect((await remove(workspace, rerun.body._id)).status).toBe(200);
    await expect(deps.blobs.get(files[0].location)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('refuses open executions, those of other projects, and callers who may not manage the project', async () => {
    verifies('execution.delete');
    const { workspace, id, release } = await heldExecution(deps, sink);
    expect(await remove(workspace, id)).toMatchObject(refusal(409, 'conflict', 'cancel it before you delete it'));
    release();
    await untilListed(workspace, id, 'completed');
    expect(await remove(await createWorkspace(deps), id)).toMatchObject(refusal(404, 'not_found'));
    const reader = await createKey(deps, workspace, { grants: ['svc:orchestrate.read'] });
    expect(await remove({ api: apiClient(testRun().url, { 'x-api-key': reader }) }, id)).toMatchObject(
      refusal(403, 'access_denied'),
    );
    const editor = await personOf(deps, workspace, { roles: ['EDITOR'] });
    expect((await remove({ api: editor }, id)).status).toBe(403);
    expect((await storedAbout(id))[0]).toBe(1);
  });
});

describe('the retention of executions', () => {
  const sweepAt = createRetentionSweep({ ...deps, ...deps.governance });

  test('deletes executions of a state some days after their end, with one audit entry', async () => {
    verifies('execution.retention');
    const workspace = await createWorkspace(deps);
    const { api, projectID } = workspace;
    const { _id: completed } = await endedExecution(workspace);
    const { _id: cancelled } = await prepareExecution(workspace, flowThatCalls([]));
    await moveExecution(workspace, cancelled, 'cancel');
    await untilListed(workspace, cancelled, 'failed');
    const execution_retention = { completed_days: 7, failed_days: 1 };
    expect(await api.patch(`/settings/${projectID}`, { execution_retention })).toMatchObject({
      status: 200,
      body: { execution_retention: { completed_days: 7, failed_days: 1, cancelled_days: null } },
    });
    await sweepAt(epochSeconds() + 6 * day);
    expect((await storedAbout(completed))[0]).toBe(1);
    await sweepAt(epochSeconds() + 8 * day);
    expect(await storedAbout(completed)).toEqual([0, 0, 0]);
    // A cancelled run is not a failed one.
    expect((await storedAbout(cancelled))[0]).toBe(1);
    const { body } = await (await personOf(deps, workspace)).get('/v1/audit?action=execution.expire');
    expect(body.data).toMatchObject([
      { resource: `project:${projectID}`, outcome: expect.stringMatching(/^completed: deleted 1 completed execution/) },
    ]);
  });

  test('is a number of days for each state, or null', async () => {
    verifies('execution.retention');
    const { api, projectID } = await createWorkspace(deps);
    for (const execution_retention of [{ completed_days: 0 }, { failed_days: 1.5 }, { all: 3 }, 30, null])
      expect(await api.patch(`/settings/${projectID}`, { execution_retention })).toMatchObject(
        refusal(400, 'invalid_request', 'execution_retention'),
      );
    expect((await api.get(`/settings/${projectID}`)).body).not.toHaveProperty('retention_due_at');
  });
});
