import { describe, expect, jest, test } from '@jest/globals';
import { sizeOf } from '../../../requirements/full-forms.js';
import { openEventStream, type EventStream } from '../../../support/event-stream.js';
import { eventually } from '../../../support/eventually.js';
import {
  moveExecution,
  prepareExecution,
  runOf,
  startExecution,
  untilExecution,
  untilListed,
} from '../../../support/executions.js';
import { createWorkspace, type Workspace } from '../../../support/fixture.js';
import { flowThatCalls } from '../../../support/flows.js';
import { newId } from '../../../../src/base/ids.js';
import { useOwnApp } from '../../../support/own-app.js';
import { ownProduct } from '../../../support/own-product.js';
import { useHttpSink } from '../../../support/use-http-sink.js';
import { verifies } from '../../../support/verifies.js';
import { executionWorkflowId } from '../../../../workflows/agentflow-execution/messages.js';

jest.setTimeout(300_000);
const viewers = sizeOf('VIEWERS');
const app = useOwnApp({ STREAMS_PER_ORGANIZATION: '0' });
const { deps } = app;
const sink = await useHttpSink();
const queue = { TEMPORAL_TASK_QUEUE: `own-${newId()}` };
const unserved = useOwnApp(queue);
const product = ownProduct(queue);

/** Counts the requests of this process to Temporal and to the store, by run. */
function useCounts() {
  const service: any = deps.temporal.client.workflowService;
  const queries: Record<string, number> = {};
  const waits: Record<string, number> = {};
  const query = service.queryWorkflow.bind(service);
  const history = service.getWorkflowExecutionHistory.bind(service);
  service.queryWorkflow = async (request: any) => {
    const answer = await query(request);
    const { workflowId } = request.execution;
    // A query that the workflow does not answer does not count.
    queries[workflowId] = (queries[workflowId] ?? 0) + 1;
    return answer;
  };
  service.getWorkflowExecutionHistory = async (request: any) => {
    const { workflowId } = request.execution;
    waits[workflowId] = (waits[workflowId] ?? 0) + 1;
    return history(request).finally(() => void (waits[workflowId] = (waits[workflowId] ?? 0) - 1));
  };
  const reads = jest.spyOn(deps.mongo.collections.execution_events, 'find');
  return {
    queriesOf: (id: string) => queries[executionWorkflowId(id)] ?? 0,
    waitsFor: (id: string) => waits[executionWorkflowId(id)] ?? 0,
    eventReadsOf: (id: string) => reads.mock.calls.filter(([filter]) => filter?.execution_id === id).length,
  };
}
const counts = useCounts();

const workspaceHere = () => createWorkspace(deps, { url: app.url() });

function open({ api, apiKey }: Workspace, id: string, lastEventId?: number): Promise<EventStream> {
  const resume: Record<string, string> = lastEventId === undefined ? {} : { 'last-event-id': String(lastEventId) };
  return openEventStream(`${api.url}/execute_flow/${id}/events`, { 'x-api-key': apiKey, ...resume });
}

const openMany = (workspace: Workspace, id: string, count: number) =>
  Promise.all(Array.from({ length: count }, () => open(workspace, id)));

const types = ({ events }: EventStream) => events.map(({ event }) => event);
const ids = ({ events }: EventStream) => events.map(({ id }) => id);
const numbersTo = (last: number) => Array.from({ length: last }, (_, at) => at + 1);

/** How many workflow tasks a run has completed: each can change its state. */
async function changesOf(id: string): Promise<number> {
  const { events } = await runOf(deps, id).fetchHistory();
  return events?.filter(({ workflowTaskCompletedEventAttributes: done }) => done).length ?? 0;
}

/** Waits until nothing happens in the run except the steps that a test holds. */
async function untilQuiet(id: string, held: number): Promise<void> {
  await eventually(async () => {
    const { raw } = await runOf(deps, id).describe();
    expect(raw.pendingActivities ?? []).toHaveLength(held);
    expect(raw.pendingWorkflowTask ?? null).toBeNull();
  });
}

async function pausedRun(workspace: Workspace): Promise<string> {
  const release = sink.hold(`/${workspace.projectID}`);
  const url = `${sink.url}/${workspace.projectID}`;
  const id = await startExecution(workspace, flowThatCalls([url, url]));
  await eventually(() => expect(sink.seen(`/${workspace.projectID}`)).toHaveLength(1));
  expect(await moveExecution(workspace, id, 'pause')).toMatchObject({ status: 200 });
  release();
  await eventually(async () => {
    const { body } = await workspace.api.get(`/execute_flow/${id}/monitoring`);
    expect(body).toMatchObject({ status: 'paused', steps: [{ status: 'completed' }] });
  });
  await untilQuiet(id, 0);
  return id;
}

describe(`${viewers} viewers of a run`, () => {
  test('see all its events, and cost its workflow and the store no more than one', async () => {
    verifies('execution.one-look');
    const workspace = await workspaceHere();
    const url = `${sink.url}/${workspace.projectID}`;
    const release = sink.hold(`/${workspace.projectID}`);
    const { _id: id } = await prepareExecution(workspace, flowThatCalls([url, url], [url]));
    const streams = await openMany(workspace, id, viewers);
    await moveExecution(workspace, id, 'execute');
    await eventually(() => {
      for (const stream of streams) expect(types(stream)).toEqual(['started', 'agent_started', 'step_started']);
    });
    expect(counts.waitsFor(id)).toBeLessThanOrEqual(1);
    const reads = counts.eventReadsOf(id);
    release();
    await Promise.all(streams.map(({ ended }) => ended));
    const record = await deps.mongo.collections.executions.findOne({ _id: id });
    const all = numbersTo(record?.last_event_seq ?? 0);
    for (const stream of streams) expect(ids(stream)).toEqual(all);
    expect(types(streams[0] as EventStream).at(-1)).toBe('completed');
    const changes = await changesOf(id);
    expect(counts.queriesOf(id)).toBeGreaterThan(0);
    // One query for each change, one at the start, and one after a lost connection.
    expect(counts.queriesOf(id)).toBeLessThanOrEqual(changes + 3);
    expect(counts.eventReadsOf(id) - reads).toBeLessThanOrEqual(changes + 3);
  });

  test('cost a paused run no query, and see its next change', async () => {
    verifies('execution.one-look');
    const [workspace, other] = [await workspaceHere(), await workspaceHere()];
    const id = await pausedRun(workspace);
    const streams = await openMany(workspace, id, viewers);
    await eventually(() => {
      for (const stream of streams) expect(types(stream)).toContain('step_completed');
    });
    // Meanwhile, the same process shows other runs from start to end, each with several pauses between its queries.
    const runs = async (count: number) => {
      for (let run = 0; run < count; run += 1) {
        const { _id } = await prepareExecution(other, flowThatCalls([`${sink.url}/other`]));
        const stream = await open(other, _id);
        await moveExecution(other, _id, 'execute');
        await stream.ended;
      }
    };
    await runs(2);
    const before = counts.queriesOf(id);
    await runs(2);
    expect(counts.queriesOf(id)).toBe(before);
    expect(counts.waitsFor(id)).toBe(1);
    await moveExecution(workspace, id, 'resume');
    await Promise.all(streams.map(({ ended }) => ended));
    for (const stream of streams) expect(ids(stream)).toEqual(numbersTo(stream.events.length));
    expect(types(streams[0] as EventStream).at(-1)).toBe('completed');
  });

  test('stop waiting for its changes when all of them have left', async () => {
    verifies('execution.one-look');
    const workspace = await workspaceHere();
    const id = await pausedRun(workspace);
    const streams = await openMany(workspace, id, 3);
    await eventually(() => expect(counts.waitsFor(id)).toBe(1));
    for (const stream of streams) stream.leave();
    await eventually(() => expect(counts.waitsFor(id)).toBe(0));
    // A viewer that comes later starts it again.
    const stream = await open(workspace, id, 2);
    await eventually(() => expect(counts.waitsFor(id)).toBe(1));
    await moveExecution(workspace, id, 'cancel');
    await stream.ended;
    expect(ids(stream)).toEqual(numbersTo(stream.events.length + 2).slice(2));
    // The event of the cancelled step can follow the end.
    expect(types(stream)).toContain('failed');
    await eventually(() => expect(counts.waitsFor(id)).toBe(0));
  });

  test('read the live view and the monitoring with one query for each change', async () => {
    verifies('execution.one-look');
    const workspace = await workspaceHere();
    const id = await pausedRun(workspace);
    const before = counts.queriesOf(id);
    const readAll = (expected: object) =>
      Promise.all(
        Array.from({ length: viewers }, async () => {
          expect(await workspace.api.get(`/execute_flow/${id}`)).toMatchObject({ status: 200, body: expected });
          expect(await workspace.api.get(`/execute_flow/${id}/monitoring`)).toMatchObject({ status: 200 });
        }),
      );
    await readAll({ status: 'paused' });
    // The pause itself may still add to the history. Afterwards nothing changes, so nothing is queried.
    await eventually(async () => {
      const asked = counts.queriesOf(id);
      await readAll({ status: 'paused' });
      expect(counts.queriesOf(id)).toBe(asked);
    });
    // A workflow task adds up to three positions to the history: scheduled, started, completed.
    expect(counts.queriesOf(id) - before).toBeLessThanOrEqual(3 * (await changesOf(id)));
    await moveExecution(workspace, id, 'cancel');
    await untilExecution(workspace, id, 'failed');
  });

  test('see the end of a run that Temporal terminates while they watch', async () => {
    verifies('execution.reconciled');
    const workspace = await workspaceHere();
    const id = await pausedRun(workspace);
    const streams = await openMany(workspace, id, 3);
    await eventually(() => expect(counts.waitsFor(id)).toBe(1));
    await runOf(deps, id).terminate('by hand');
    await Promise.all(streams.map(({ ended }) => ended));
    for (const stream of streams) {
      expect(ids(stream)).toEqual(numbersTo(stream.events.length));
      expect(stream.events.at(-1)).toMatchObject({ event: 'failed', data: { data: { reason: 'terminated' } } });
    }
  });

  test('get older events from the store, at any position', async () => {
    verifies('platform.executions.events.resume');
    const workspace = await workspaceHere();
    const id = await pausedRun(workspace);
    const early = await open(workspace, id);
    for (let turn = 0; turn < 60; turn += 1) await runOf(deps, id).signal('pause');
    await eventually(() => expect(early.events.length).toBeGreaterThan(60));
    early.leave();
    await eventually(() => expect(counts.waitsFor(id)).toBe(0));
    for (let turn = 0; turn < 60; turn += 1) await runOf(deps, id).signal('pause');
    const lasts = [0, 1, 30, 100, 110, 999_999];
    const streams = await Promise.all(lasts.map((last) => open(workspace, id, last)));
    await eventually(() => expect(ids(streams[0] as EventStream).length).toBeGreaterThan(120));
    await moveExecution(workspace, id, 'resume');
    await Promise.all(streams.map(({ ended }) => ended));
    const record = await untilListed(workspace, id, 'completed').then(() =>
      deps.mongo.collections.executions.findOne({ _id: id }),
    );
    const all = numbersTo(record?.last_event_seq ?? 0);
    for (const [at, stream] of streams.entries()) expect(ids(stream)).toEqual(all.slice(lasts[at]));
  });

  test('wait for a worker, and then see all events', async () => {
    verifies('platform.executions.events');
    const workspace = await createWorkspace(deps, { url: unserved.url() });
    const id = await startExecution(workspace, flowThatCalls([`${sink.url}/${workspace.projectID}`]));
    const streams = await openMany(workspace, id, 3);
    expect(await workspace.api.get(`/execute_flow/${id}`)).toMatchObject({ status: 200, body: { status: 'ready' } });
    expect(streams.map(({ events }) => events)).toEqual([[], [], []]);
    await product.worker();
    await Promise.all(streams.map(({ ended }) => ended));
    for (const stream of streams) expect(ids(stream)).toEqual(numbersTo(stream.events.length));
    expect(types(streams[0] as EventStream).at(-1)).toBe('completed');
  });
});
