import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { openEventStream } from '../support/event-stream.js';
import { startExecution, untilExecution } from '../support/executions.js';
import { createWorkspace, useDeps, type Workspace } from '../support/fixture.js';
import { flowThatCalls } from '../support/flows.js';
import { ownProduct } from '../support/own-product.js';
import type { Api, ProductProcess } from '../support/processes.js';
import { useHttpSink } from '../support/use-http-sink.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const product = ownProduct();
const sink = await useHttpSink();
let api: Api;
/** The worker that is running. */
let worker: ProductProcess;
beforeAll(async () => {
  [api, worker] = await Promise.all([product.api(), product.worker()]);
});

const requestsOf = ({ projectID }: Workspace) => sink.seen(`/${projectID}`);

describe('SIGTERM to the worker', () => {
  test('finishes a step that ends in time, once', async () => {
    verifies('service.shutdown.worker');
    const workspace = product.through(api, await createWorkspace(deps));
    const release = sink.hold(`/${workspace.projectID}`);
    const id = await startExecution(workspace, flowThatCalls([`${sink.url}/${workspace.projectID}`]));
    await eventually(() => expect(requestsOf(workspace)).toHaveLength(1));
    const ended = worker.end('SIGTERM');
    release();
    expect(await ended).toEqual({ code: 0, signal: null });
    worker = await product.worker();
    await untilExecution(workspace, id, 'completed');
    expect(requestsOf(workspace)).toHaveLength(1);
    expect((await workspace.api.get(`/execute_flow/${id}/monitoring`)).body.steps[0]).toMatchObject({
      status: 'completed',
      attempts: 1,
    });
  });

  test('returns a longer step, and another worker continues it', async () => {
    verifies('service.shutdown.worker');
    const workspace = product.through(api, await createWorkspace(deps));
    const release = sink.hold(`/${workspace.projectID}`);
    const id = await startExecution(workspace, flowThatCalls([`${sink.url}/${workspace.projectID}`]));
    await eventually(() => expect(requestsOf(workspace)).toHaveLength(1));
    const [ended] = await Promise.all([worker.end('SIGTERM'), product.worker()]);
    expect(ended).toEqual({ code: 0, signal: null });
    await eventually(() => expect(requestsOf(workspace)).toHaveLength(2));
    release();
    await untilExecution(workspace, id, 'completed');
    expect(new Set(requestsOf(workspace).map(({ key }) => key)).size).toBe(1);
  });
});

describe('SIGTERM to the API', () => {
  test('ends event streams, finishes a request in progress, accepts no new ones and exits with 0', async () => {
    verifies('service.shutdown.api-drains');
    const direct = await createWorkspace(deps);
    const workspace = product.through(api, direct);
    const release = sink.hold(`/${workspace.projectID}`);
    const id = await startExecution(workspace, flowThatCalls([`${sink.url}/${workspace.projectID}`]));
    const open = (path: string, from: Workspace, headers: Record<string, string> = {}) =>
      openEventStream(from.api.url + path, { 'x-api-key': from.apiKey, ...headers });
    const events = `/execute_flow/${id}/events`;
    const stream = await open(events, workspace);
    const ofProject = await open(`/${workspace.projectID}/events`, workspace);
    await eventually(() => expect(ofProject.events.at(0)).toMatchObject({ event: 'opened' }));
    await eventually(() => expect(stream.events.length).toBeGreaterThanOrEqual(3));
    const body = JSON.stringify(flowThatCalls([]));
    const sending = request(`${api.url}/agentflow?projectID=${workspace.projectID}`, {
      method: 'POST',
      headers: {
        'x-api-key': workspace.apiKey,
        'content-type': 'application/json',
        'content-length': body.length,
        expect: '100-continue',
      },
    });
    const answered = once(sending, 'response') as Promise<[IncomingMessage]>;
    sending.flushHeaders();
    await once(sending, 'continue');
    const ended = api.end('SIGTERM');
    await Promise.all([stream.ended, ofProject.ended]);
    await eventually(() => expect(fetch(`${api.url}/healthz`, { headers: { connection: 'close' } })).rejects.toThrow());
    // The request ends only now, even on a slow machine.
    sending.end(body);
    const [answer] = await answered;
    expect(answer.resume().statusCode).toBe(201);
    expect(await ended).toEqual({ code: 0, signal: null });
    // Another process continues the stream.
    const next = await open(events, direct, { 'last-event-id': String(stream.events.at(-1)?.id) });
    release();
    await next.ended;
    const seen = [...stream.events, ...next.events];
    expect(seen.map((event) => event.id)).toEqual(seen.map((_, at) => at + 1));
    expect(next.events.at(-1)).toMatchObject({ event: 'completed' });
  });
});
