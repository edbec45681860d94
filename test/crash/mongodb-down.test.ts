import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { executionWorkflowId } from '../../workflows/agentflow-execution/messages.js';
import { startMongodb } from '../../stack/mongodb.js';
import type { StartedService } from '../../stack/service.js';
import { loadConfig } from '../../src/config.js';
import { createDeps } from '../../src/deps.js';
import { type Deps } from '../../src/domain/deps.js';
import { eventually } from '../support/eventually.js';
import { moveExecution, prepareExecution, startExecution, untilExecution, untilListed } from '../support/executions.js';
import { createWorkspace } from '../support/fixture.js';
import { flowThatCalls } from '../support/flows.js';
import { ownProduct } from '../support/own-product.js';
import { useHttpSink } from '../support/use-http-sink.js';
import { verifies } from '../support/verifies.js';

const dataDir = mkdtempSync(path.join(tmpdir(), 'own-mongodb-'));
const servers: Record<string, string> = {};
const product = ownProduct(servers);
let mongodb: StartedService;
let deps: Deps;
const sink = await useHttpSink();

beforeAll(async () => {
  const env = { ...process.env, MONGODB_URI: '' };
  mongodb = await startMongodb({ dataDir, env });
  Object.assign(servers, mongodb.environment);
  deps = createDeps(loadConfig({ ...product.env, LOG_LEVEL: 'silent' }), 'test');
});
afterAll(async () => {
  await deps.close();
  await mongodb.service.stop();
  rmSync(dataDir, { recursive: true });
});

describe('with MongoDB down', () => {
  test('calls are answered 503, runs wait before their next action, and continue when it is back', async () => {
    verifies('platform.errors.body', 'execution.projection', 'service.readyz');
    const [api] = await Promise.all([product.api(), product.worker()]);
    const workspace = product.through(api, await createWorkspace(deps));
    const url = (name: string) => `${sink.url}/${workspace.projectID}/${name}`;
    const release = sink.hold(`/${workspace.projectID}/one`);
    // Comes first, because the stand-in persists acknowledged writes only after its commit delay.
    const { _id: ready } = await prepareExecution(workspace, flowThatCalls([]));
    const id = await startExecution(workspace, flowThatCalls([url('one')], [url('two')]));
    await eventually(() => expect(sink.requests).toHaveLength(1));
    await mongodb.service.kill('SIGKILL');
    for (const answer of [
      await workspace.api.get(`/execute_flow/${id}`),
      await moveExecution(workspace, ready, 'execute'),
      await workspace.api.get(`/${workspace.projectID}/execution_flows`),
    ]) {
      expect(answer).toMatchObject({
        status: 503,
        body: { error: 'unavailable', error_description: expect.any(String) },
      });
    }
    expect(await workspace.api.get('/healthz')).toMatchObject({ status: 200 });
    expect(await workspace.api.get('/readyz')).toMatchObject({
      status: 503,
      body: { dependencies: { mongodb: 'down', temporal: 'up' } },
    });
    release();
    // The next action is governed, so it is not sent while neither its rules nor its record can be read or written.
    await eventually(async () => {
      const run = deps.temporal.client.workflow.getHandle(executionWorkflowId(id));
      const pending = (await run.describe()).raw.pendingActivities ?? [];
      const action = pending.find(({ activityType }) => activityType?.name === 'callAction');
      expect(action?.lastFailure).toBeTruthy();
    });
    expect(sink.requests).toHaveLength(1);
    await mongodb.service.restart();
    await eventually(async () => expect(await workspace.api.get('/readyz')).toMatchObject({ status: 200 }));
    expect(await untilExecution(workspace, id, 'completed')).toMatchObject({ agents_output: [{}, {}] });
    // The first action was sent again, because its answer could not be recorded.
    expect(sink.keys().size).toBe(2);
    await untilListed(workspace, id, 'completed');
    expect(await moveExecution(workspace, ready, 'execute')).toMatchObject({ status: 200 });
    await untilExecution(workspace, ready, 'completed');
  });
});
