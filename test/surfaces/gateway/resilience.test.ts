import { describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { useDeps } from '../../support/fixture.js';
import { bearerClient, createGatewayWorkspace, stagesOf } from '../../support/gateway.js';
import { useOwnApp } from '../../support/own-app.js';
import { ownProduct } from '../../support/own-product.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();
const list = { operation: 'list' };

describe('kill -9 of the API in a burst', () => {
  const product = ownProduct({ QUOTA_PROJECT_MAX: '0', QUOTA_ORG_MAX: '0' });

  test('loses no lifecycle and no audit entry of an answered call', async () => {
    verifies('pipeline.stored-before-answer');
    const workspace = await createGatewayWorkspace(deps);
    const api = await product.api();
    const client = bearerClient(workspace.apiKey, api.url);
    const answered: string[] = [];
    const callers = Array.from({ length: 20 }, async () => {
      for (;;) {
        try {
          const answer = await client.post('/v1/orchestrate', list);
          answered.push(answer.body.lifecycle_id);
        } catch {
          return;
        }
      }
    });
    await eventually(() => expect(answered.length).toBeGreaterThan(150));
    await api.end('SIGKILL');
    await Promise.all(callers);
    const { lifecycles, audit_entries } = deps.mongo.collections;
    const stored = await lifecycles.find({ project_id: workspace.projectID }).toArray();
    const audited = await audit_entries
      .find({ _id: { $gte: `${workspace.organizationId}:`, $lt: `${workspace.organizationId};` } })
      .toArray();
    expect(stored.map(({ _id }) => _id)).toEqual(expect.arrayContaining(answered));
    expect(audited.map(({ lifecycle_id }) => lifecycle_id)).toEqual(expect.arrayContaining(answered));
    const other = bearerClient(workspace.apiKey);
    expect((await other.get('/v1/audit/verify')).body).toMatchObject({ valid: true, first_broken_seq: null });
  });
});

describe('while Temporal is down', () => {
  // Nothing listens there.
  const app = useOwnApp({ TEMPORAL_ADDRESS: '127.0.0.1:1' });

  test('run-agent, orchestrate and a call that needs an approval are answered 502 harness_unreachable', async () => {
    verifies('downstream.harness-down', 'errors.code.harness_unreachable');
    const workspace = await createGatewayWorkspace(deps);
    const client = bearerClient(workspace.apiKey, app.url());
    const flow = await workspace.api.post('/agentflow', { name: 'Any', agents: [{ _id: 'one', title: 'One' }] });
    await workspace.api.post(`/agentflow/${flow.body._id}/promote`);
    const run = await client.post('/v1/run-agent', { agentflow_id: flow.body._id, goal: 'x' });
    expect(run).toMatchObject({
      status: 502,
      body: { error: 'harness_unreachable', lifecycle_id: expect.any(String) },
    });
    const { body } = await workspace.api.post('/execute_flow', { agentflow_id: flow.body._id, goal: 'x' });
    const cancel = await client.post('/v1/orchestrate', { operation: 'cancel', execution_id: body.execution_id });
    expect(cancel).toMatchObject({ status: 502, body: { error: 'harness_unreachable' } });
    const policies = [
      { policy_id: 'all', effect: 'permit' },
      { policy_id: 'ask', effect: 'require_approval', tools: ['save-model'] },
    ];
    expect((await client.put('/v1/policies', { policies })).status).toBe(200);
    const held = await client.post('/v1/save-model', { model: 'offline' });
    expect(held).toMatchObject({ status: 502, body: { error: 'harness_unreachable' } });
    expect((await stagesOf(client, held.body.lifecycle_id)).at(-1)).toBe('S6:approval!');
  });
});
