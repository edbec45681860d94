import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
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
/** The worker that is running. */
let worker: Promise<ProductProcess>;

const requestsOf = ({ projectID }: Workspace) => sink.seen(`/${projectID}`);

describe('SIGTERM to the API', () => {
  test('finishes a request in progress, accepts no new ones and exits with 0', async () => {
    verifies('service.shutdown.api-drains');
    const api = await product.api();
    const workspace = product.through(api, await createWorkspace(deps));
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
    await eventually(() => expect(fetch(`${api.url}/healthz`, { headers: { connection: 'close' } })).rejects.toThrow());
    // The request ends only now, even on a slow machine.
    sending.end(body);
    const [answer] = await answered;
    expect(answer.resume().statusCode).toBe(201);
    expect(await ended).toEqual({ code: 0, signal: null });
  });
});

describe('SIGTERM to the worker', () => {
  let api: Promise<Api>;
  beforeAll(() => {
    worker = product.worker();
    api = product.api();
  });

  test('finishes a step that ends in time, once', async () => {
    verifies('service.shutdown.worker');
    const [first, workspace] = [await worker, product.through(await api, await createWorkspace(deps))];
    const release = sink.hold(`/${workspace.projectID}`);
    const id = await startExecution(workspace, flowThatCalls([`${sink.url}/${workspace.projectID}`]));
    await eventually(() => expect(requestsOf(workspace)).toHaveLength(1));
    const ended = first.end('SIGTERM');
    release();
    expect(await ended).toEqual({ code: 0, signal: null });
    worker = product.worker();
    await worker;
    await untilExecution(workspace, id, 'completed');
    expect(requestsOf(workspace)).toHaveLength(1);
    expect((await workspace.api.get(`/execute_flow/${id}/monitoring`)).body.steps[0]).toMatchObject({
      status: 'completed',
      attempts: 1,
    });
  });

  test('returns a longer step, and another worker continues it', async () => {
    verifies('service.shutdown.worker');
    const [first, workspace] = [await worker, product.through(await api, await createWorkspace(deps))];
    const release = sink.hold(`/${workspace.projectID}`);
    const id = await startExecution(workspace, flowThatCalls([`${sink.url}/${workspace.projectID}`]));
    await eventually(() => expect(requestsOf(workspace)).toHaveLength(1));
    worker = product.worker();
    const [ended] = await Promise.all([first.end('SIGTERM'), worker]);
    expect(ended).toEqual({ code: 0, signal: null });
    await eventually(() => expect(requestsOf(workspace)).toHaveLength(2));
    release();
    await untilExecution(workspace, id, 'completed');
    expect(new Set(requestsOf(workspace).map(({ key }) => key)).size).toBe(1);
  });
});
