import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { lifecycleRoutes } from '../../src/surfaces/gateway/routes/lifecycles.js';
import type { LifecycleStatus } from '../../src/governance/lifecycles/record.js';
import { createRecorder } from '../../src/governance/recorder.js';
import { newId } from '../../src/base/ids.js';
import { useDeps } from '../support/fixture.js';
import { createTestChain } from '../support/governance/chains.js';
import { serveRoutes, type RouteServer } from '../support/governance/gateway-server.js';
import { recordsOf } from '../support/governance/records.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const { collections } = deps.mongo;
let server: RouteServer;

beforeAll(async () => {
  server = await serveRoutes(deps, lifecycleRoutes);
});
afterAll(() => server.close());

async function project() {
  const { audit, organizationId } = await createTestChain(deps);
  const scope = { organizationId, projectId: newId() };
  const recorder = createRecorder({ collections, audit });
  return {
    scope,
    api: server.as({ ...scope, role: 'VIEWER' }),
    stranger: server.as({ organizationId, projectId: newId() }),
    async record(lifecycle: Parameters<typeof recordsOf>[1] = {}) {
      const records = recordsOf(scope, lifecycle);
      await recorder.record(records);
      return records;
    },
  };
}
const ids = (body: { data: { lifecycle_id: string }[] }) => body.data.map(({ lifecycle_id }) => lifecycle_id);

describe('GET /v1/lifecycles/{id}', () => {
  test('returns tool, status and every stage in order, with the refusing stage marked failed', async () => {
    verifies('gateway.lifecycles.get');
    const { api, record, scope } = await project();
    const stages = [
      { stage: 'S1:authenticate', status: 'ok' as const, detail: '' },
      { stage: 'S3:rate-quota', status: 'failed' as const, detail: 'the quota is used up' },
    ];
    const { lifecycle } = await record({ status: 'denied', stages, payload_digest: null });
    const { status, body } = await api.get(`/v1/lifecycles/${lifecycle._id}`);
    expect(status).toBe(200);
    expect(body).toEqual({
      lifecycle_id: lifecycle._id,
      tool: 'query-context',
      status: 'denied',
      stages,
      principal: lifecycle.principal,
      project_id: scope.projectId,
      organization_id: scope.organizationId,
      trace_id: lifecycle.trace_id,
      created_at: lifecycle.created_at,
      ended_at: lifecycle.ended_at,
      payload_digest: null,
      consumed: [],
      approval_id: null,
      decision_id: lifecycle._id,
      decision: {
        decision_id: lifecycle._id,
        lifecycle_id: lifecycle._id,
        decision: 'permit',
        policy_ids: ['default'],
        policy_version: 1,
        at: expect.any(Number),
      },
    });
  });

  test('answers 404 for an unknown, a malformed and a foreign id', async () => {
    const { api, stranger, record } = await project();
    const { lifecycle } = await record();
    for (const answer of [
      await api.get(`/v1/lifecycles/${newId()}`),
      await api.get('/v1/lifecycles/not-an-id'),
      await stranger.get(`/v1/lifecycles/${lifecycle._id}`),
    ]) {
      expect(answer.status).toBe(404);
      expect(answer.body).toEqual({ error: 'not_found', error_description: 'lifecycle was not found' });
    }
  });
});

describe('GET /v1/lifecycles', () => {
  test('lists the lifecycles of the project, newest first, page by page', async () => {
    verifies('gateway.lifecycles.list');
    const { api, stranger, record } = await project();
    const made: string[] = [];
    for (let count = 0; count < 5; count += 1) made.unshift((await record()).lifecycle._id);
    const first = await api.get('/v1/lifecycles?limit=3');
    expect(first.body.total_count).toBe(5);
    const second = await api.get(`/v1/lifecycles?limit=3&cursor=${first.body.next_cursor}`);
    expect([...ids(first.body), ...ids(second.body)]).toEqual(made);
    expect(second.body.next_cursor).toBeNull();
    expect((await stranger.get('/v1/lifecycles')).body).toEqual({ data: [], total_count: 0, next_cursor: null });
  });

  test('filters by tool, status, from and to', async () => {
    verifies('gateway.lifecycles.list', 'gateway.lifecycles.statuses');
    const { api, record } = await project();
    const statuses: LifecycleStatus[] = ['completed', 'denied', 'pending_approval', 'failed', 'dry_run'];
    const made = new Map<string, string>();
    for (const [at, status] of statuses.entries())
      made.set(status, (await record({ status, tool: `tool-${at}`, created_at: 1000 + at })).lifecycle._id);
    for (const status of statuses)
      expect(ids((await api.get(`/v1/lifecycles?status=${status}`)).body)).toEqual([made.get(status)]);
    expect(ids((await api.get('/v1/lifecycles?tool=tool-3')).body)).toEqual([made.get('failed')]);
    expect(ids((await api.get('/v1/lifecycles?from=1001&to=1003')).body)).toEqual([
      made.get('pending_approval'),
      made.get('denied'),
    ]);
    expect(ids((await api.get('/v1/lifecycles?tool=none')).body)).toEqual([]);
    expect((await api.get('/v1/lifecycles?status=other')).status).toBe(400);
    expect((await api.get('/v1/lifecycles?from=yesterday')).status).toBe(400);
  });
});

describe('GET /v1/policy-decisions', () => {
  test('lists the decisions of the project, newest first, with lifecycle, rules and version', async () => {
    verifies('gateway.policy-decisions');
    const { api, stranger, record } = await project();
    await record();
    const { lifecycle } = await record();
    const { status, body } = await api.get('/v1/policy-decisions?limit=1');
    expect(status).toBe(200);
    expect(body.total_count).toBe(2);
    expect(body.data).toEqual([
      {
        decision_id: lifecycle._id,
        lifecycle_id: lifecycle._id,
        decision: 'permit',
        policy_ids: ['default'],
        policy_version: 1,
        at: lifecycle.ended_at,
      },
    ]);
    expect((await stranger.get('/v1/policy-decisions')).body.data).toEqual([]);
  });
});
