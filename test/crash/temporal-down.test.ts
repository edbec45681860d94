import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startTemporal, type StartedTemporal } from '../../stack/temporal.js';
import { eventually } from '../support/eventually.js';
import { moveExecution, prepareExecution, startExecution, untilExecution } from '../support/executions.js';
import { createWorkspace, useDeps, type Workspace } from '../support/fixture.js';
import { flowThatCalls } from '../support/flows.js';
import { ownProduct } from '../support/own-product.js';
import type { Api, ProductProcess } from '../support/processes.js';
import { useHttpSink } from '../support/use-http-sink.js';
import { verifies } from '../support/verifies.js';

jest.setTimeout(180_000);
const deps = useDeps();
const dataDir = mkdtempSync(path.join(tmpdir(), 'own-temporal-'));
const servers: Record<string, string> = {};
const product = ownProduct(servers);
let temporal: StartedTemporal;
const sink = await useHttpSink();
let api: Api;
let worker: ProductProcess;

beforeAll(async () => {
  const env = { ...process.env, TEMPORAL_ADDRESS: '', TEMPORAL_NAMESPACE: '' };
  temporal = await startTemporal({ dataDir, env });
  Object.assign(servers, temporal.environment);
  [api, worker] = await Promise.all([product.api(), product.worker()]);
});
afterAll(async () => {
  await temporal.service.stop();
  rmSync(dataDir, { recursive: true });
});

const requestsOf = ({ projectID }: Workspace) => sink.seen(`/${projectID}`);

/** Calls and tells how long the answer took. */
async function timed<T>(call: () => Promise<T>): Promise<{ answer: T; ms: number }> {
  const begun = performance.now();
  return { answer: await call(), ms: performance.now() - begun };
}

describe('with Temporal down', () => {
  test('calls that need it are 503 within two seconds, the others answer, and all recovers by itself', async () => {
    verifies('platform.errors.unavailable', 'platform.errors.recovers', 'service.readyz', 'service.healthz');
    const workspace = product.through(api, await createWorkspace(deps));
    const url = `${sink.url}/${workspace.projectID}`;
    const release = sink.hold(`/${workspace.projectID}`);
    const { _id: ready } = await prepareExecution(workspace, flowThatCalls([]));
    const running = await startExecution(workspace, flowThatCalls([url]));
    await eventually(() => expect(requestsOf(workspace)).toHaveLength(1));
    await temporal.service.kill('SIGKILL');
    for (const round of ['first', 'second']) {
      const needing = [
        () => moveExecution(workspace, ready, 'execute'),
        () => moveExecution(workspace, ready, 'execute', {}, { 'idempotency-key': round }),
        () => moveExecution(workspace, ready, 'cancel'),
        () => moveExecution(workspace, running, 'pause'),
        () => moveExecution(workspace, running, 'cancel'),
        () => workspace.api.get(`/execute_flow/${running}/monitoring`),
      ];
      for (const call of needing) {
        const { answer, ms } = await timed(call);
        expect(answer).toMatchObject({ status: 503, body: { error: 'unavailable', error_description: expect.any(String) } });
        expect(ms).toBeLessThan(2000);
      }
    }
    const read = await timed(() => workspace.api.get(`/execute_flow/${running}`));
    expect(read).toMatchObject({ answer: { status: 200, body: { _id: running } } });
    expect(await workspace.api.get(`/${workspace.projectID}/execution_flows`)).toMatchObject({ status: 200, body: { total_count: 2 } });
    expect(await workspace.api.get('/healthz')).toMatchObject({ status: 200 });
    expect(await workspace.api.get('/readyz')).toMatchObject({ status: 503, body: { dependencies: { temporal: 'down', mongodb: 'up' } } });
    await temporal.service.restart();
    await eventually(async () => expect(await workspace.api.get('/readyz')).toMatchObject({ status: 200, body: { dependencies: { temporal: 'up' } } }));
    release();
    await eventually(async () => {
      const answer = await moveExecution(workspace, ready, 'execute', {}, { 'idempotency-key': 'first' });
      expect(answer).toMatchObject({ status: 200, body: { status: 'ready' } });
    });
    await untilExecution(workspace, ready, 'completed');
    await untilExecution(workspace, running, 'completed');
  });

  test('a paused execution is still paused after worker, API and Temporal were killed, and resumes', async () => {
    verifies('durability.paused-over-restart');
    const direct = await createWorkspace(deps);
    const url = (name: string) => `${sink.url}/${direct.projectID}/${name}`;
    const release = sink.hold(`/${direct.projectID}/one`);
    const before = product.through(api, direct);
    const id = await startExecution(before, flowThatCalls([url('one'), url('two')]));
    await eventually(() => expect(requestsOf(direct)).toHaveLength(1));
    expect(await moveExecution(before, id, 'pause')).toMatchObject({ status: 200 });
    release();
    await eventually(async () => expect((await before.api.get(`/execute_flow/${id}/monitoring`)).body.steps[0].status).toBe('completed'));
    await Promise.all([api.end('SIGKILL'), worker.end('SIGKILL'), temporal.service.kill('SIGKILL')]);
    await temporal.service.restart();
    [api, worker] = await Promise.all([product.api(), product.worker()]);
    const after = product.through(api, direct);
    await untilExecution(after, id, 'paused');
    const { body } = await after.api.get(`/execute_flow/${id}/monitoring`);
    expect(body).toMatchObject({ status: 'paused', steps: [{ status: 'completed', attempts: 1 }] });
    expect(requestsOf(direct)).toHaveLength(1);
    expect(await moveExecution(after, id, 'resume')).toMatchObject({ status: 200, body: { status: 'running' } });
    await untilExecution(after, id, 'completed');
    expect(requestsOf(direct).map((request) => request.path.split('/').at(-1))).toEqual(['one', 'two']);
  });
});
