import { describe, expect, test } from '@jest/globals';
import { newId } from '../../../../src/base/ids.js';
import { connectorWorkflowId } from '../../../../workflows/connector-events/messages.js';
import { apiClient } from '../../../support/client.js';
import { eventually } from '../../../support/eventually.js';
import { moveExecution, untilExecution } from '../../../support/executions.js';
import { createWorkspace, personOf, useDeps, type Workspace } from '../../../support/fixture.js';
import { bearerClient } from '../../../support/gateway.js';
import { refusal } from '../../../support/refusal.js';
import { testRun } from '../../../support/run.js';
import { useHttpSink } from '../../../support/use-http-sink.js';
import { verifies } from '../../../support/verifies.js';
import { flowThatCalls } from '../../../support/flows.js';
import { fired, runsOf, scheduled, soon } from '../schedules/schedules.js';
import { create, edit, pointed, publish, publishEach, returning } from './releases.js';

const deps = useDeps();
const sink = await useHttpSink();

const later = { type: 'once', schedule: soon(10_000) };

async function prepared({ api }: Workspace, agentflow_id: string, choice: object = {}): Promise<any> {
  const answer = await api.post('/execute_flow', { agentflow_id, goal: 'go', ...choice });
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
}

/** What a run has returned, which shows the release that it has taken. */
async function outputOf(workspace: Workspace, id: string): Promise<unknown> {
  const { conclusion } = await untilExecution(workspace, id, 'completed');
  return conclusion.output.v;
}

async function startedBy({ projectID }: Workspace, filter: object): Promise<string> {
  return eventually(async () => {
    const found = await deps.mongo.collections.executions.findOne({ projectID, ...filter });
    if (!found) throw new Error('no run yet');
    return found._id;
  });
}

async function triggerOf({ api, projectID }: Workspace, agentflow_id: string) {
  const triggers = [{ event: '*', agentflow_id }];
  const config = { name: 'Register', config: { base_url: 'http://127.0.0.1:9' }, triggers };
  const { body } = await api.post(`/actions/restful/config?projectID=${projectID}`, config);
  const event = () =>
    apiClient(testRun().url).post(`/account-provider-webhook/${projectID}/${body._id}`, { event: newId() });
  return { connectorId: body._id as string, event };
}

test('after the first release every start runs it, whatever is edited', async () => {
  verifies('release.starts', 'release.choice');
  const workspace = await createWorkspace(deps);
  const id = await create(workspace, returning('released'));
  expect(await workspace.api.post(`/agentflow/${id}/promote`, {})).toMatchObject({ status: 200 });
  await edit(workspace, id, { steps: returning('unfinished').steps });
  const run = await prepared(workspace, id);
  expect(run).toMatchObject({ draft: false, agentflow_version: 1, release: { version: 1, channel: 'production' } });
  await moveExecution(workspace, run.execution_id, 'execute');
  const started = await bearerClient(workspace.apiKey).post('/v1/run-agent', { agentflow_id: id, goal: 'go' });
  expect(started).toMatchObject({ status: 200, body: { version: 1, draft: false } });
  const { _id: scheduleId } = await scheduled(workspace, { coworker_id: id, ...later, schedule: soon(2) });
  const { connectorId, event } = await triggerOf(workspace, id);
  expect(await event()).toMatchObject({ status: 200 });
  const runs = [
    run.execution_id,
    started.body.execution_id,
    await startedBy(workspace, { schedule: scheduleId }),
    await startedBy(workspace, { 'input_variables.trigger.connector_id': connectorId }),
  ];
  for (const each of runs) expect(await outputOf(workspace, each)).toBe('released');
  const draft = await prepared(workspace, id, { draft: true });
  expect(draft).toMatchObject({ draft: true, agentflow_version: null, release: null });
  await moveExecution(workspace, draft.execution_id, 'execute');
  expect(await outputOf(workspace, draft.execution_id)).toBe('unfinished');
  const both = { agentflow_id: id, goal: 'go', draft: true, version: 1 };
  expect(await workspace.api.post('/execute_flow', both)).toMatchObject(refusal(400, 'invalid_request', 'draft'));
});

describe('until the first release', () => {
  test('a person runs the draft, and every record says so', async () => {
    verifies('release.unreleased');
    const workspace = await createWorkspace(deps);
    const { api, organizationId } = workspace;
    const id = await create(workspace, returning('draft'));
    const { execution_id, draft, release } = await prepared(workspace, id);
    expect({ draft, release }).toEqual({ draft: true, release: null });
    await moveExecution(workspace, execution_id, 'execute');
    expect(await outputOf(workspace, execution_id)).toBe('draft');
    expect((await api.get(`/execute_flow/${execution_id}/monitoring`)).body).toMatchObject({
      draft: true,
      release: null,
    });
    const entries = await deps.mongo.collections.audit_entries
      .find({ _id: { $gt: `${organizationId}:`, $lt: `${organizationId};` }, action: 'execution.start' })
      .toArray();
    expect(entries.map(({ outcome }) => outcome)).toEqual(['completed: draft', 'completed: draft']);
    const { _id } = await scheduled(workspace, { coworker_id: id, ...later });
    expect(await api.post(`/schedule/coworker/${_id}/trigger`, {})).toMatchObject({ status: 200 });
    expect(await outputOf(workspace, await startedBy(workspace, { schedule: _id }))).toBe('draft');
  });

  test('a schedule and a trigger start nothing and say how to publish', async () => {
    verifies('release.unreleased');
    const workspace = await createWorkspace(deps);
    const { projectID } = workspace;
    const id = await create(workspace, returning('draft'));
    const { _id } = await scheduled(workspace, { coworker_id: id, type: 'once', schedule: soon(2) });
    const how = `has no release: publish it with POST /agentflow/${id}/promote`;
    await eventually(async () =>
      expect((await runsOf(workspace, _id)).data).toMatchObject([
        { status: 'failed', error: expect.stringContaining(how) },
      ]),
    );
    const { connectorId, event } = await triggerOf(workspace, id);
    expect(await event()).toMatchObject({ status: 200 });
    const result = await deps.temporal.client.workflow.getHandle(connectorWorkflowId(connectorId)).result();
    expect(result).toMatchObject({ failures: [{ type: 'conflict', message: expect.stringContaining(how) }] });
    expect(await deps.mongo.collections.executions.countDocuments({ projectID })).toBe(0);
  });
});

test('a start may name a release or a channel, and a channel without a release is refused', async () => {
  verifies('release.choice');
  const workspace = await createWorkspace(deps);
  const { api } = workspace;
  const id = await create(workspace, returning(0));
  const [, second] = await publishEach(workspace, id, [1, 2]);
  const start = (choice: object) => api.post('/execute_flow', { agentflow_id: id, goal: 'go', ...choice });
  expect(await start({})).toMatchObject(refusal(409, 'conflict', 'points to no release'));
  expect(await start({ version: 3 })).toMatchObject(refusal(404, 'not_found'));
  await pointed(workspace, id, 'staging', { version: 2, expected: null });
  expect((await start({ channel: 'staging' })).body).toMatchObject({
    release: { version: 2, digest: second.digest, channel: 'staging' },
  });
  expect((await start({ version: 1 })).body).toMatchObject({ agentflow_version: 1 });
  const agent = (choice: object) =>
    bearerClient(workspace.apiKey).post('/v1/run-agent', { agentflow_id: id, goal: 'go', ...choice });
  expect(await agent({})).toMatchObject({ status: 409 });
  expect(await agent({ channel: 'staging' })).toMatchObject({ status: 200, body: { version: 2 } });
  expect(await agent({ draft: true })).toMatchObject({ status: 200, body: { version: null, draft: true } });
  const { _id } = await scheduled(workspace, { coworker_id: id, ...later, channel: 'staging' });
  expect(await api.get(`/schedule/coworker/${_id}`)).toMatchObject({ body: { channel: 'staging' } });
  await api.post(`/schedule/coworker/${_id}/trigger`, {});
  expect(await outputOf(workspace, await startedBy(workspace, { schedule: _id }))).toBe(2);
});

test('a backfill may name a release, and other runs of its schedule take the one in production', async () => {
  verifies('release.choice');
  const workspace = await createWorkspace(deps);
  const { api } = workspace;
  const id = await create(workspace, returning(0));
  await publishEach(workspace, id, [1, 2]);
  await pointed(workspace, id, 'production', { version: 2, expected: null });
  const hourly = { type: 'interval', frequency: 3600, schedule: soon(-2 * 3600 - 1800) };
  const { _id, schedule } = await scheduled(workspace, { coworker_id: id, ...hourly });
  const backfill = (at: number, choice: object) =>
    api.post(`/schedule/coworker/${_id}/backfill`, { from: at - 1, to: at + 1, ...choice });
  expect(await backfill(schedule + 3600, { version: 9 })).toMatchObject(refusal(404, 'not_found'));
  expect((await backfill(schedule + 3600, { version: 1 })).body).toMatchObject({ planned: [schedule + 3600] });
  expect((await backfill(schedule + 7200, {})).body).toMatchObject({ planned: [schedule + 7200] });
  const taken = await eventually(async () => {
    const runs = fired(await runsOf(workspace, _id));
    expect(runs.map(({ status }: any) => status)).toEqual(['completed', 'completed']);
    return runs.map(({ scheduled_for, executions }: any) => [scheduled_for, executions[0].execution_id]);
  });
  const outputs = [];
  for (const [at, run] of taken) outputs.push([at, await outputOf(workspace, run)]);
  expect(outputs).toEqual([
    [schedule + 7200, 2],
    [schedule + 3600, 1],
  ]);
});

test('rules forbid drafts, and a project can require releases', async () => {
  verifies('release.no-drafts');
  const workspace = await createWorkspace(deps);
  const { api, projectID } = workspace;
  const person = await personOf(deps, workspace);
  const id = await create(workspace, returning(1));
  const start = (choice: object = {}) => api.post('/execute_flow', { agentflow_id: id, goal: 'go', ...choice });
  const { execution_id } = await prepared(workspace, id);
  const rule = { policy_id: 'no-drafts', effect: 'forbid', tools: ['execution.start'], when: 'context.input.draft' };
  const rules = { policies: [{ policy_id: 'permit', effect: 'permit' }, rule] };
  expect(await person.put('/v1/policies', rules)).toMatchObject({ status: 200 });
  expect(await start()).toMatchObject({ status: 403 });
  expect(await moveExecution(workspace, execution_id, 'execute')).toMatchObject({ status: 403 });
  await api.post(`/agentflow/${id}/promote`, {});
  expect(await start()).toMatchObject({ status: 201 });
  expect(await start({ draft: true })).toMatchObject({ status: 403 });
  expect(await person.put('/v1/policies', { policies: [{ policy_id: 'permit', effect: 'permit' }] })).toMatchObject({
    status: 200,
  });
  const requires = (require_release: boolean | null) => person.patch(`/settings/${projectID}`, { require_release });
  expect(await requires(true)).toMatchObject({ status: 200, body: { require_release: true } });
  expect(await start({ draft: true })).toMatchObject(refusal(409, 'conflict', 'runs only releases'));
  expect(await moveExecution(workspace, execution_id, 'execute')).toMatchObject(refusal(409, 'conflict'));
  expect(await start()).toMatchObject({ status: 201 });
  await requires(null);
  expect(await start({ draft: true })).toMatchObject({ status: 201 });
  expect(await person.put(`/v1/projects/${projectID}/mode`, { mode: 'governed' })).toMatchObject({ status: 200 });
  expect(await start({ draft: true })).toMatchObject(refusal(409, 'conflict', 'runs only releases'));
  await requires(false);
  expect(await start({ draft: true })).toMatchObject({ status: 201 });
});

test('a run keeps its release while the agentflow is edited and promoted, and so do its reruns unless they name another', async () => {
  verifies('release.kept', 'release.choice');
  const workspace = await createWorkspace(deps);
  const { api, projectID } = workspace;
  const path = (name: string) => `${sink.url}/${projectID}/${name}`;
  const release = sink.hold(`/${projectID}/one`);
  const id = await create(workspace, flowThatCalls([path('one')], [path('two')]));
  await publish(workspace, id);
  await pointed(workspace, id, 'production', { version: 1, expected: null });
  const { execution_id } = await prepared(workspace, id);
  await moveExecution(workspace, execution_id, 'execute');
  await eventually(() => expect(sink.seen(`/${projectID}/one`)).toHaveLength(1));
  await edit(workspace, id, flowThatCalls([path('three')]));
  expect(await api.post(`/agentflow/${id}/promote`, {})).toMatchObject({ body: { version: 2 } });
  release();
  expect(await untilExecution(workspace, execution_id, 'completed')).toMatchObject({ agentflow_version: 1 });
  expect([sink.seen(`/${projectID}/two`).length, sink.seen(`/${projectID}/three`).length]).toEqual([1, 0]);
  const rerun = (choice: object) => api.post(`/execute_flow/${execution_id}/rerun`, choice);
  expect((await rerun({})).body).toMatchObject({ release: { version: 1 }, agentflow: { agents: [{}, {}] } });
  const other = await rerun({ version: 2 });
  expect(other.body).toMatchObject({ release: { version: 2 }, agentflow_version: 2, goal: 'go' });
  expect(other.body.agentflow.agents).toHaveLength(1);
  await moveExecution(workspace, other.body.execution_id, 'execute');
  await untilExecution(workspace, other.body.execution_id, 'completed');
  expect(sink.seen(`/${projectID}/three`)).toHaveLength(1);
});

test('a release starts the releases of other agentflows with which it was published', async () => {
  verifies('release.kept', 'release.starts');
  const workspace = await createWorkspace(deps);
  const { api } = workspace;
  const part = await create(workspace, returning('old'));
  await api.post(`/agentflow/${part}/promote`, {});
  const whole = await create(workspace, {
    name: 'Whole',
    initialAgent: 'call',
    steps: [
      { _id: 'call', type: 'flow', agentflow_id: part, next: 'end' },
      { _id: 'end', type: 'set', values: { v: 'outputs.call.v' } },
    ],
  });
  await api.post(`/agentflow/${whole}/promote`, {});
  await edit(workspace, part, { steps: returning('new').steps });
  await api.post(`/agentflow/${part}/promote`, {});
  const outputs = [];
  for (const choice of [{}, { draft: true }]) {
    const { execution_id } = await prepared(workspace, whole, choice);
    await moveExecution(workspace, execution_id, 'execute');
    outputs.push(await outputOf(workspace, execution_id));
  }
  expect(outputs).toEqual(['old', 'new']);
});
