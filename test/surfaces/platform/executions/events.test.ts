import { describe, expect, test } from '@jest/globals';
import { eventually } from '../../../support/eventually.js';
import { openEventStream } from '../../../support/event-stream.js';
import { moveExecution, prepareExecution, startExecution, untilListed } from '../../../support/executions.js';
import { createKey, createWorkspace, useDeps, type Workspace } from '../../../support/fixture.js';
import { flowThatCalls } from '../../../support/flows.js';
import { agent, hold } from '../../../support/governance/approvals.js';
import { useHttpSink } from '../../../support/use-http-sink.js';
import { verifies } from '../../../support/verifies.js';
import { seedExecution } from '../../../support/seeded-executions.js';
import { createTable } from '../../../support/tables.js';
import { coworker, scheduled } from '../schedules/schedules.js';

const deps = useDeps();
const sink = await useHttpSink();

function open({ api, apiKey }: Workspace, id: string, lastEventId?: number) {
  const resume: Record<string, string> = lastEventId === undefined ? {} : { 'last-event-id': String(lastEventId) };
  return openEventStream(`${api.url}/execute_flow/${id}/events`, { 'x-api-key': apiKey, ...resume });
}

const openProject = ({ api, apiKey, projectID }: Workspace, lastEventId?: string | number) =>
  openEventStream(`${api.url}/${projectID}/events`, {
    'x-api-key': apiKey,
    ...(lastEventId !== undefined && { 'last-event-id': String(lastEventId) }),
  });

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);

describe('GET /execute_flow/{execution_id}/events', () => {
  test('streams every change as it happens, from ready to the end, and then closes', async () => {
    verifies('platform.executions.events');
    const workspace = await createWorkspace(deps);
    const url = `${sink.url}/${workspace.projectID}`;
    const release = sink.hold(`/${workspace.projectID}`);
    const { _id } = await prepareExecution(workspace, flowThatCalls([url], [url]));
    const stream = await open(workspace, _id);
    expect(stream.status).toBe(200);
    expect(stream.headers.get('content-type')).toMatch(/^text\/event-stream\b/);
    await moveExecution(workspace, _id, 'execute');
    const types = () => stream.events.map(({ event }) => event);
    await eventually(() => expect(types()).toEqual(['started', 'agent_started', 'step_started']));
    await moveExecution(workspace, _id, 'pause');
    await eventually(() => expect(types().at(-1)).toBe('paused'));
    release();
    await eventually(() => expect(types().at(-1)).toBe('step_completed'));
    await moveExecution(workspace, _id, 'resume');
    await stream.ended;
    const agent = [
      'agent_started',
      'step_started',
      'step_completed',
      'step_started',
      'step_completed',
      'agent_completed',
    ];
    expect(types()).toEqual([
      'started',
      ...agent.slice(0, 2),
      'paused',
      'step_completed',
      'resumed',
      ...agent.slice(3),
      ...agent,
      'completed',
    ]);
    expect(stream.events.map(({ id }) => id)).toEqual(numbers(1, stream.events.length));
    for (const { id, event, data } of stream.events)
      expect(data).toMatchObject({ seq: id, type: event, at: expect.any(Number), data: expect.any(Object) });
    const ended = await workspace.api.get(`/execute_flow/${_id}`);
    expect(stream.events.at(-1)?.data.data).toEqual({ conclusion: ended.body.conclusion.conclusion });
  });

  test('continues after Last-Event-ID at any position without loss or repeat', async () => {
    verifies('platform.executions.events.resume');
    const workspace = await createWorkspace(deps);
    const url = `${sink.url}/${workspace.projectID}`;
    const id = await startExecution(workspace, flowThatCalls([url, url], [url, url], [url]));
    const seen: number[] = [];
    for (let take = 1; ; take = (take % 3) + 1) {
      const stream = await open(workspace, id, seen.at(-1));
      if (stream.status === 204) break;
      await Promise.race([
        stream.ended,
        eventually(() => expect(stream.events.length).toBeGreaterThanOrEqual(take), { everyMs: 5 }),
      ]);
      seen.push(...stream.events.slice(0, take).map((event) => event.id));
      stream.leave();
    }
    await untilListed(workspace, id, 'completed');
    const stored = await deps.mongo.collections.executions.findOne({ _id: id });
    expect(seen).toEqual(numbers(1, stored?.last_event_seq ?? 0));
  });

  test('returns all events after the end, and 204 to a reader that has them all', async () => {
    verifies('platform.executions.events.resume');
    const workspace = await createWorkspace(deps);
    const id = await startExecution(workspace, flowThatCalls([]));
    await untilListed(workspace, id, 'completed');
    const stream = await open(workspace, id);
    await stream.ended;
    expect(stream.events.at(-1)).toMatchObject({ event: 'completed' });
    const rest = await open(workspace, id, 2);
    await rest.ended;
    expect(rest.events).toEqual(stream.events.slice(2));
    expect(await open(workspace, id, stream.events.length)).toMatchObject({ status: 204 });
    expect(await open(workspace, id, 999_999)).toMatchObject({ status: 204 });
  });

  test.each(['-1', 'x', '1.5', '9'.repeat(30)])('refuses the Last-Event-ID %j', async (lastEventId) => {
    const workspace = await createWorkspace(deps);
    const { _id } = await prepareExecution(workspace, flowThatCalls([]));
    const answer = await workspace.api.get(`/execute_flow/${_id}/events`, { 'last-event-id': lastEventId });
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  });
});

describe('GET /{projectID}/events', () => {
  test('reports runs, approvals, schedules and other records of the project, and nothing of others', async () => {
    verifies('project.events');
    const [workspace, other] = [await createWorkspace(deps), await createWorkspace(deps)];
    const [stream, ofOther] = [await openProject(workspace), await openProject(other)];
    expect(stream.headers.get('content-type')).toMatch(/^text\/event-stream\b/);
    const of = (key: string, id: string) =>
      stream.events.filter(({ data }) => data.data[key] === id).map(({ event }) => event);
    await eventually(() => expect(stream.events).toMatchObject([{ event: 'opened', data: { data: {} } }]));
    const release = sink.hold(`/${workspace.projectID}`);
    const { _id } = await prepareExecution(workspace, flowThatCalls([`${sink.url}/${workspace.projectID}`]));
    await eventually(() => expect(of('execution_id', _id)).toEqual(['execution_created']));
    await moveExecution(workspace, _id, 'execute');
    await eventually(() => expect(of('execution_id', _id)).toContain('execution_changed'));
    release();
    await eventually(() => expect(of('execution_id', _id).at(-1)).toBe('execution_ended'));
    const ended = stream.events.filter(({ data }) => data.data.execution_id === _id).at(-1);
    expect(ended?.data).toMatchObject({
      data: { execution_id: _id, status: 'completed', waiting_for: null, failure_reason: null },
    });
    const { projectID: projectId, organizationId, departmentId } = workspace;
    const asking = agent({ organizationId, departmentId, projectId });
    const { approval_id } = await hold(deps.governance.approvals, asking);
    await eventually(() => expect(of('item_id', `approval:${approval_id}`)).toEqual(['inbox_changed']));
    const waiting_for = { kind: 'preview', agent_id: 'a' };
    const held = await seedExecution(deps, workspace, { status: 'running', execution_context: { waiting_for } });
    await eventually(() => expect(of('execution_id', held._id)).toEqual(['execution_waiting']));
    const at = stream.events.at(-1)?.id ?? 0;
    const made = await scheduled(workspace, {
      coworker_id: await coworker(workspace),
      type: 'once',
      schedule: Math.ceil(Date.now() / 1000) + 3600,
    });
    await eventually(() => expect(of('schedule_id', made._id)).toContain('schedule_changed'));
    const { insert } = await createTable(workspace);
    await eventually(() => expect(of('kind', 'table')).toEqual(['records_changed']));
    await insert([{}]);
    await eventually(() => expect(of('kind', 'table')).toEqual(['records_changed', 'records_changed']));
    // The store deletes a note by itself, even one that was stored after its project was deleted.
    const note = await deps.mongo.collections.project_news.findOne({ _id: `${workspace.projectID}/table` });
    expect(note?.expires_at.getTime()).toBeGreaterThan(Date.now());
    for (const { id, event, data } of stream.events)
      expect(data).toMatchObject({ seq: id, type: event, at: id / 1000 });
    const missed = await openProject(workspace, at);
    await eventually(() => expect(missed.events.map(({ event }) => event)).toContain('schedule_changed'));
    expect(missed.events.map(({ event }) => event)).not.toContain('opened');
    expect(ofOther.events.map(({ event }) => event)).toEqual(['opened']);
    const late = await openProject(workspace, 1_700_000_000_000);
    await eventually(() => expect(late.events).toMatchObject([{ event: 'opened' }]));
    for (const each of [stream, ofOther, missed, late]) each.leave();
  });

  test('hides nothing when the clock of another process is ahead', async () => {
    verifies('project.events');
    const [workspace, other] = [await createWorkspace(deps), await createWorkspace(deps)];
    const [stream, ofOther] = [await openProject(workspace), await openProject(other)];
    const kinds = ({ events }: typeof stream) => events.map(({ event, data }) => data.data.kind ?? event);
    await eventually(() => expect([kinds(stream), kinds(ofOther)]).toEqual([['opened'], ['opened']]));
    const note = async ({ projectID: project_id }: Workspace, kind: string, changed_at: number) => {
      const fields = { project_id, kind, changed_at, expires_at: new Date(Date.now() + 3_600_000) };
      await deps.mongo.collections.project_news.updateOne(
        { _id: `${project_id}/${kind}` },
        { $set: fields },
        { upsert: true },
      );
    };
    await note(other, 'table', Date.now() + 1_800_000);
    await eventually(() => expect(kinds(ofOther)).toEqual(['opened', 'table']));
    await note(workspace, 'skill', Date.now());
    await eventually(() => expect(kinds(stream)).toEqual(['opened', 'skill']));
    const ahead = ofOther.events.at(-1)?.id;
    await note(other, 'table', Date.now());
    await eventually(() => expect(kinds(ofOther)).toEqual(['opened', 'table', 'table']));
    // The server cannot know what the viewer missed.
    const resumed = await openProject(other, ahead);
    await eventually(() => expect(kinds(resumed).at(0)).toBe('opened'));
    for (const each of [stream, ofOther, resumed]) each.leave();
  });

  test('is refused to others, and ends when its credential is revoked', async () => {
    verifies('project.events', 'http.streams.recheck');
    const workspace = await createWorkspace(deps);
    const { api, projectID } = workspace;
    expect(await api.get(`/${projectID}/events`, { 'last-event-id': 'x' })).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    });
    const stranger = await createWorkspace(deps);
    expect(await openProject({ ...stranger, projectID })).toMatchObject({ status: 403 });
    const weak = await createKey(deps, workspace, { grants: ['svc:query.read'] });
    expect(await openProject({ ...workspace, apiKey: weak })).toMatchObject({ status: 403 });
    const stream = await openProject(workspace);
    await deps.mongo.collections.api_keys.updateMany({ 'scope.project_id': projectID }, { $set: { revoked_at: 1 } });
    await stream.ended;
  });
});
