import { status } from '@grpc/grpc-js';
import { afterAll, expect, test } from '@jest/globals';
import { newId } from '../../src/base/ids.js';
import { moveExecution, startExecution, untilExecution } from '../support/executions.js';
import { createWorkspace, useDeps } from '../support/fixture.js';
import { useOwnApp } from '../support/own-app.js';
import { refusal } from '../support/refusal.js';
import { testRun } from '../support/run.js';
import { startTemporalProxy } from '../support/temporal-proxy.js';
import { verifies } from '../support/verifies.js';

const proxy = await startTemporalProxy(testRun().env.TEMPORAL_ADDRESS ?? '');
const deps = useDeps();
const app = useOwnApp({ TEMPORAL_ADDRESS: proxy.address });
afterAll(() => proxy.close());

const waiting = {
  name: 'Event',
  initialAgent: 'paid',
  steps: [{ _id: 'paid', type: 'wait', event: { name: 'paid' } }],
};

test('an event and a move that Temporal drops with a workflow task are sent again and count once', async () => {
  verifies('execution.dropped-updates');
  const workspace = await createWorkspace(deps);
  const through = app.through(workspace);
  const id = await startExecution(workspace, waiting);
  await untilExecution(workspace, id, 'running');
  proxy.refuse('UpdateWorkflowExecution', status.FAILED_PRECONDITION, 2);
  expect(await moveExecution(through, id, 'pause')).toMatchObject({ status: 200, body: { status: 'paused' } });
  expect(proxy.calls('UpdateWorkflowExecution')).toBe(3);
  expect(await moveExecution(through, id, 'resume')).toMatchObject({ status: 200 });
  proxy.refuse('UpdateWorkflowExecution', status.FAILED_PRECONDITION, 2);
  const event = { name: 'paid', data: { amount: 7 } };
  expect(await through.api.post(`/execute_flow/${id}/events`, event)).toMatchObject({ status: 200 });
  expect((await untilExecution(workspace, id, 'completed')).conclusion.output).toEqual({ amount: 7 });
});

test('an event that Temporal drops again and again is refused as unavailable, and its repeat counts', async () => {
  verifies('execution.dropped-updates');
  const workspace = await createWorkspace(deps);
  const id = await startExecution(workspace, waiting);
  await untilExecution(workspace, id, 'running');
  const send = () =>
    app
      .through(workspace)
      .api.post(`/execute_flow/${id}/events`, { name: 'paid', data: { amount: 7 } }, { 'idempotency-key': key });
  const key = newId();
  proxy.refuse('UpdateWorkflowExecution', status.FAILED_PRECONDITION, 5);
  expect(await send()).toMatchObject(refusal(503, 'unavailable', ''));
  proxy.refuse('UpdateWorkflowExecution', status.FAILED_PRECONDITION, 0);
  expect(await send()).toMatchObject({ status: 200 });
  expect((await untilExecution(workspace, id, 'completed')).conclusion.output).toEqual({ amount: 7 });
});
