import { describe, expect, test } from '@jest/globals';
import { newId } from '../../../src/base/ids.js';
import { nearestRank } from '../../../src/domain/analytics/operations.js';
import { startExecution, untilExecution, untilListed } from '../../support/executions.js';
import { createWorkspace, useDeps, type Workspace } from '../../support/fixture.js';
import { flowThatCalls } from '../../support/flows.js';
import { refusal } from '../../support/refusal.js';
import { seedExecution } from '../../support/seeded-executions.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();
const day = 24 * 3600;
/** 2025-11-24T00:00:00Z. */
const monday = 1_763_942_400;
const noStatus = { ready: 0, running: 0, paused: 0, completed: 0, failed: 0 };

async function charge({ projectID, organizationId }: Workspace, credits: number, at: number, agentflowId = newId()) {
  const entry = {
    _id: newId(),
    organization_id: organizationId,
    project_id: projectID,
    execution_id: newId(),
    agentflow_id: agentflowId,
    credits,
    at,
  };
  await deps.mongo.db.collection<typeof entry>('credit_history').insertOne(entry);
}

describe('GET /analytics/{projectID}', () => {
  test('counts executions by status, agentflow and UTC day, durations and credits, only of the project and period', async () => {
    verifies('platform.analytics');
    const [mine, stranger] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
    const [one, two] = [
      { id: newId(), name: 'One' },
      { id: newId(), name: 'Two' },
    ];
    const ran = (created_at: number, seconds: number, fields: object = {}) =>
      seedExecution(deps, mine, {
        created_at,
        started_at: created_at + 5,
        end_time: created_at + 5 + seconds,
        coworker: one,
        ...fields,
      });
    await ran(monday, 1);
    await ran(monday + day - 0.001, 2, { status: 'failed' });
    await ran(monday + day, 4, { coworker: { ...one, name: 'One renamed' } });
    await ran(monday + 2 * day, 8, { coworker: two });
    await seedExecution(deps, mine, {
      created_at: monday + 3 * day - 1,
      status: 'running',
      started_at: monday + 3 * day,
      coworker: two,
    });
    await seedExecution(deps, mine, { created_at: monday + 1, status: 'ready', coworker: two });
    await seedExecution(deps, mine, {
      created_at: monday + 2,
      status: 'paused',
      started_at: monday + 3,
      coworker: two,
    });
    await seedExecution(deps, mine, {
      created_at: monday + 3,
      status: 'failed',
      started_at: null,
      end_time: monday + 4,
      coworker: two,
    });
    await ran(monday - 0.001, 1000);
    await ran(monday + 3 * day, 1000);
    await seedExecution(deps, stranger, { created_at: monday + 1 });
    for (const [credits, at] of [
      [1, monday],
      [2.5, monday + day],
      [4, monday + 3 * day - 0.001],
      [100, monday - 0.001],
      [100, monday + 3 * day],
    ] as const)
      await charge(mine, credits, at);
    await charge(stranger, 1000, monday + 1);
    // An agentflow whose executions were created earlier.
    const idle = (await mine.api.post('/agentflow', { name: 'Idle' })).body._id as string;
    await charge(mine, 0.25, monday + 2 * day, two.id);
    await charge(mine, 0.5, monday + 2 * day, idle);
    await charge(mine, 100, monday - 1, two.id);

    const { status, body } = await mine.api.get(`/analytics/${mine.projectID}?from=${monday}&to=${monday + 3 * day}`);
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        projectID: mine.projectID,
        from: monday,
        to: monday + 3 * day,
        total: 8,
        by_status: { ready: 1, running: 1, paused: 1, completed: 3, failed: 2 },
        by_agentflow: [
          { agentflow_id: two.id, name: 'Two', count: 5, credits: 0.25 },
          { agentflow_id: one.id, name: 'One renamed', count: 3, credits: 0 },
          { agentflow_id: idle, name: 'Idle', count: 0, credits: 0.5 },
        ],
        by_day: [
          { day: '2025-11-24', count: 5, completed: 1, failed: 2, p95: 2, credits: 1 },
          { day: '2025-11-25', count: 1, completed: 1, failed: 0, p95: 4, credits: 2.5 },
          { day: '2025-11-26', count: 2, completed: 1, failed: 0, p95: 8, credits: 4.75 },
        ],
        by_hour: [],
        duration: { count: 4, p50: 2, p95: 8 },
        credits: 8.25,
      },
    });
    const second = await mine.api.get(`/analytics/${mine.projectID}?from=${monday + day}&to=${monday + day + 0.5}`);
    expect(second.body).toMatchObject({
      total: 1,
      by_status: { ...noStatus, completed: 1 },
      by_day: [{ day: '2025-11-25', count: 1, completed: 1, failed: 0, p95: 4, credits: 2.5 }],
      by_hour: [{ at: monday + day, count: 1, completed: 1, failed: 0, p95: 4, credits: 2.5 }],
      duration: { count: 1, p50: 4, p95: 4 },
      credits: 2.5,
    });
  });

  test('counts only executed runs, by default of the last 30 days', async () => {
    verifies('platform.analytics');
    const workspace = await createWorkspace(deps);
    await seedExecution(deps, workspace, { created_at: Date.now() / 1000 - 31 * day });
    const ids = [];
    for (let count = 0; count < 2; count += 1) ids.push(await startExecution(workspace, flowThatCalls([])));
    for (const id of ids) {
      await untilExecution(workspace, id, 'completed');
      await untilListed(workspace, id, 'completed');
    }
    const { body } = await workspace.api.get(`/analytics/${workspace.projectID}`);
    expect(body).toMatchObject({
      total: 2,
      by_status: { ...noStatus, completed: 2 },
      duration: { count: 2, p50: expect.any(Number) },
    });
    expect(body.to - body.from).toBeCloseTo(30 * day, 3);
    expect(body.duration.p50).toBeGreaterThan(0);
    expect(body.duration.p50).toBeLessThanOrEqual(body.duration.p95);
    expect(body.by_day).toHaveLength(31);
    expect(body.by_hour).toEqual([]);
    expect(body.by_day.reduce((sum: number, { count }: any) => sum + count, 0)).toBe(2);
  });

  test('returns zeros for a period without executions', async () => {
    verifies('platform.analytics');
    const workspace = await createWorkspace(deps);
    await seedExecution(deps, workspace, { created_at: monday });
    const nothing = {
      total: 0,
      by_status: noStatus,
      by_agentflow: [],
      duration: { count: 0, p50: null, p95: null },
      credits: 0,
    };
    expect(
      (await workspace.api.get(`/analytics/${workspace.projectID}?from=${monday}&to=${monday}`)).body,
    ).toMatchObject({ ...nothing, by_day: [] });
    expect(
      (await workspace.api.get(`/analytics/${workspace.projectID}?from=${monday + 1}&to=${monday + 2}`)).body,
    ).toMatchObject({
      ...nothing,
      by_day: [{ day: '2025-11-24', count: 0, completed: 0, failed: 0, p95: null, credits: 0 }],
    });
  });

  test.each([
    ['from: must not be after to', `from=${monday + 1}&to=${monday}`],
    ['days apart', `from=${monday}&to=${monday + 367 * day}`],
    ['from', 'from=yesterday'],
    ['to', 'to=-1'],
    ['to', 'to=Infinity'],
    ['to', 'to=1e300'],
  ])('refuses an invalid period: %s', async (text, times) => {
    const { api, projectID } = await createWorkspace(deps);
    expect(await api.get(`/analytics/${projectID}?${times}`)).toMatchObject(refusal(400, 'invalid_request', text));
  });

  test('answers 403 for another project', async () => {
    const [{ api }, stranger] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
    expect(await api.get(`/analytics/${stranger.projectID}`)).toMatchObject(refusal(403, 'access_denied'));
  });
});

test.each([
  [[], 50, null],
  [[7], 95, 7],
  [[1, 2], 50, 1],
  [[1, 2, 3], 50, 2],
  [Array.from({ length: 20 }, (_, at) => at + 1), 95, 19],
  [Array.from({ length: 21 }, (_, at) => at + 1), 95, 20],
  [Array.from({ length: 100 }, (_, at) => at + 1), 95, 95],
])('nearestRank of %j at %i percent is %j', (values, percent, expected) => {
  expect(nearestRank(values, percent)).toBe(expected);
});
