import { describe, expect, test } from '@jest/globals';
import { newId } from '../../../../src/base/ids.js';
import { eventually } from '../../../support/eventually.js';
import { moveExecution, startExecution, untilExecution } from '../../../support/executions.js';
import { createWorkspace, personOf, useDeps, type Workspace } from '../../../support/fixture.js';
import { refusal } from '../../../support/refusal.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();

const waiting = (event: object, change: object = {}) => ({
  name: 'Event',
  initialAgent: 'paid',
  steps: [{ _id: 'paid', type: 'wait', event: { name: 'paid', ...event }, ...change }],
});
const send = ({ api }: Pick<Workspace, 'api'>, id: string, body: object, key: string = newId()) =>
  api.post(`/execute_flow/${id}/events`, body, { 'idempotency-key': key });

describe('an event', () => {
  test('ends the wait for its name, and its data is the output', async () => {
    verifies('flow.events');
    const workspace = await createWorkspace(deps);
    const id = await startExecution(workspace, waiting({}));
    await untilExecution(workspace, id, 'running');
    expect(await send(workspace, id, { name: 'lost' })).toMatchObject(refusal(409, 'conflict', 'no step waits'));
    const sent = await send(workspace, id, { name: 'paid', data: { amount: 7 } });
    expect(sent).toMatchObject({ status: 200, body: { execution_id: id, event_id: expect.any(String) } });
    expect((await untilExecution(workspace, id, 'completed')).conclusion.output).toEqual({ amount: 7 });
    expect(await send(workspace, id, { name: 'paid' })).toMatchObject(refusal(409, 'conflict', 'completed'));
  });

  test('that is sent again counts once, and one that does not match stays for another step', async () => {
    verifies('flow.events');
    const workspace = await createWorkspace(deps);
    const flow = {
      name: 'Events',
      initialAgent: 'each',
      steps: [
        { _id: 'each', type: 'map', items: '["a", "b", "c"]', first: 'paid' },
        { _id: 'paid', type: 'wait', event: { name: 'paid', match: 'event.order == item' } },
      ],
    };
    const id = await startExecution(workspace, flow);
    await untilExecution(workspace, id, 'running');
    const key = newId();
    const first = await send(workspace, id, { name: 'paid', data: { order: 'b', n: 1 } }, key);
    expect(await send(workspace, id, { name: 'paid', data: { order: 'b', n: 1 } }, key)).toMatchObject({
      status: 200,
      body: first.body,
    });
    expect(await moveExecution(workspace, id, 'pause')).toMatchObject({ status: 200 });
    for (const order of ['c', 'a']) {
      const sent = await send(workspace, id, { name: 'paid', data: { order, n: 2 } });
      expect(sent).toMatchObject({ status: 200, body: { status: 'paused' } });
    }
    expect((await untilExecution(workspace, id, 'paused')).conclusion).toBeNull();
    expect(await moveExecution(workspace, id, 'resume')).toMatchObject({ status: 200 });
    expect((await untilExecution(workspace, id, 'completed')).conclusion.output).toEqual([
      { order: 'a', n: 2 },
      { order: 'b', n: 1 },
      { order: 'c', n: 2 },
    ]);
  });

  test('that does not come before the deadline fails the step', async () => {
    verifies('flow.events');
    const workspace = await createWorkspace(deps);
    const id = await startExecution(workspace, waiting({ deadline_seconds: 1 }));
    const { execution_context } = await untilExecution(workspace, id, 'failed');
    expect(execution_context.failure).toMatchObject({ code: 'timeout', step_id: 'paid' });
  });

  test('needs the right to steer runs, and rules can forbid it', async () => {
    verifies('flow.events');
    const [workspace, stranger] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
    const admin = await personOf(deps, workspace, { userId: newId(), role: 'ORG_ADMIN' });
    const id = await startExecution(workspace, waiting({}));
    await untilExecution(workspace, id, 'running');
    const viewer = await personOf(deps, workspace, { userId: newId(), role: 'VIEWER' });
    expect(await send({ api: viewer }, id, { name: 'paid' })).toMatchObject({ status: 403 });
    expect(await send(stranger, id, { name: 'paid' })).toMatchObject({ status: 404 });
    const policies = [
      { policy_id: 'permit', effect: 'permit' },
      { policy_id: 'no-events', effect: 'forbid', tools: ['execution.event'], description: 'No events.' },
    ];
    expect(await admin.put('/v1/policies', { policies })).toMatchObject({ status: 200 });
    await eventually(async () =>
      expect(await send(workspace, id, { name: 'paid' })).toMatchObject(refusal(403, 'S5:policy', 'No events')),
    );
  });
});
