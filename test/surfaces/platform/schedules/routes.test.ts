import { describe, expect, test } from '@jest/globals';
import { toListed } from '../../../../src/domain/schedules/listed.js';
import { newId } from '../../../../src/base/ids.js';
import { eventually } from '../../../support/eventually.js';
import { createWorkspace, useDeps } from '../../../support/fixture.js';
import { refusal } from '../../../support/refusal.js';
import { verifies } from '../../../support/verifies.js';
import { coworker, runsOf, schedule, scheduled, soon } from './schedules.js';

const deps = useDeps();
const temporalOf = (id: string) => deps.temporal.client.schedule.getHandle(`schedule/${id}`);
const hourly = { type: 'interval', frequency: 3600 };

describe('POST /schedule/coworker', () => {
  test('creates a record with every field and a Temporal Schedule with the same times and policies', async () => {
    verifies('platform.schedules.create', 'resource.schedule', 'schedule.temporal', 'platform.schedules.get');
    const workspace = await createWorkspace(deps);
    const coworker_id = await coworker(workspace);
    const options = { overlap: 'buffer_one', catchup_window: 120, jitter: 5, pause_on_failure: true, limit: 7 };
    const made = await schedule(workspace, {
      coworker_id,
      goal: { template: 'Brief', display_template: '[]' },
      ...hourly,
      schedule: soon(600),
      ...options,
    });
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      ...{
        _id: expect.any(String),
        channel: 'production',
        projectID: workspace.projectID,
        coworker_id,
        created_by: workspace.userId,
        created_at: expect.any(Number),
        updated_at: null,
      },
      ...{
        goal: { template: 'Brief', display_template: '[]' },
        schedule: expect.any(Number),
        type: 'interval',
        status: 'active',
        frequency: 3600,
        ends_at: null,
        count: 0,
      },
      ...{
        table: null,
        conclusion: null,
        last_coworker_execution_id: null,
        last_record_id: null,
        task_id: '',
        reason: null,
        ...options,
      },
    });
    const { spec, policies, state, action } = await temporalOf(made.body._id).describe();
    expect(spec).toMatchObject({ intervals: [{ every: 3600_000 }], jitter: 5000 });
    expect(policies).toMatchObject({ overlap: 'BUFFER_ONE', catchupWindow: 120_000, pauseOnFailure: false });
    expect(state).toMatchObject({ paused: false, remainingActions: 7 });
    expect(action).toMatchObject({ workflowType: 'coworkerRun' });
    expect((await workspace.api.get(`/schedule/coworker/${made.body._id}`)).body).toEqual(made.body);
    // The jitter spreads the times.
    const [next] = (await runsOf(workspace, made.body._id)).next;
    expect(next - made.body.schedule).toBeGreaterThanOrEqual(0);
    expect(next - made.body.schedule).toBeLessThanOrEqual(5);
    expect((await scheduled(workspace, { coworker_id, ...hourly })).overlap).toBe('skip');
  });

  test.each([
    ['an interval without seconds', { type: 'interval' }, 422, 'frequency'],
    ['an interval of no seconds', { type: 'interval', frequency: 0 }, 422, 'integer from 1 to'],
    ['the seconds of an interval as a text', { type: 'interval', frequency: '60' }, 422, 'integer from 1 to'],
    ['a time in the past', { type: 'once', schedule: 1000 }, 422, 'in the future'],
    ['once without a time', { type: 'once' }, 422, 'schedule'],
    ['an invalid cron expression', { type: 'cron', frequency: '0 99 * * *' }, 422, 'frequency'],
    // cron-parser reads it as the first Monday, and Temporal as every Monday.
    ['the first Monday', { type: 'cron', frequency: '0 9 * * MON#1' }, 422, 'must not contain "#"'],
    ['six fields', { type: 'cron', frequency: '0 0 9 * * *' }, 422, 'five fields'],
    ['an unknown zone', { type: 'cron', frequency: { cron: '0 9 * * *', time_zone: 'Moon/Base' } }, 422, 'Moon/Base'],
    ['a goal that is not a template', { ...hourly, goal: 'Call {{ row.name' }, 422, 'goal'],
    ['an unknown field', { ...hourly, colour: 'red' }, 400, 'colour'],
    ['an unknown type', { type: 'yearly' }, 400, 'type'],
    [
      'a frequency of another type',
      { type: 'interval', frequency: true },
      400,
      'frequency: must be a number or a string or an object',
    ],
    ['a part of a goal of another type', { ...hourly, goal: { template: 5 } }, 400, 'goal.template: must be a string'],
  ])('refuses %s', async (_what, body, status, text) => {
    const workspace = await createWorkspace(deps);
    const coworker_id = await coworker(workspace);
    const error = status === 400 ? 'invalid_request' : 'validation_failed';
    expect(await schedule(workspace, { coworker_id, goal: 'g', ...body })).toMatchObject(refusal(status, error, text));
    expect(await deps.mongo.collections.schedules.countDocuments({ projectID: workspace.projectID })).toBe(0);
  });

  test('refuses a coworker and a table of another project', async () => {
    const [workspace, other] = [await createWorkspace(deps), await createWorkspace(deps)];
    const coworker_id = await coworker(other);
    expect(await schedule(workspace, { coworker_id, goal: 'g', ...hourly })).toMatchObject(refusal(404, 'not_found'));
    expect(
      await schedule(workspace, { coworker_id: await coworker(workspace), goal: 'g', ...hourly, table: newId() }),
    ).toMatchObject(refusal(404, 'not_found', 'table'));
  });

  test('creates one schedule from repeats of the same request, also concurrent ones', async () => {
    const workspace = await createWorkspace(deps);
    const body = { coworker_id: await coworker(workspace), goal: 'g', ...hourly };
    const key = { 'idempotency-key': newId() };
    const answers = await Promise.all([1, 2, 3].map(() => schedule(workspace, body, key)));
    expect(new Set(answers.map(({ body: { _id } }) => _id)).size).toBe(1);
    expect(await deps.mongo.collections.schedules.countDocuments({ projectID: workspace.projectID })).toBe(1);
  });
});

describe('a schedule', () => {
  test('is listed newest first, only in its own project', async () => {
    verifies('platform.schedules.list');
    const [workspace, other] = [await createWorkspace(deps), await createWorkspace(deps)];
    const coworker_id = await coworker(workspace);
    const made = [
      await scheduled(workspace, { coworker_id, ...hourly }),
      await scheduled(workspace, { coworker_id, ...hourly }),
    ];
    const page = await workspace.api.get(`/schedule/coworker?projectID=${workspace.projectID}&limit=1`);
    expect(page.body).toMatchObject({ data: [{ _id: made[1]._id }], total_count: 2 });
    expect((await workspace.api.get(`/schedule/coworker?limit=1&cursor=${page.body.next_cursor}`)).body).toMatchObject({
      data: [{ _id: made[0]._id }],
      next_cursor: null,
    });
    for (const [method, path] of [
      ['get', ''],
      ['get', '/runs'],
      ['delete', ''],
      ['post', '/trigger'],
    ] as const) {
      expect(await other.api[method](`/schedule/coworker/${made[0]._id}${path}`, undefined as never)).toMatchObject(
        refusal(404, 'not_found'),
      );
    }
  });

  test('is listed with its next times and its latest run', async () => {
    verifies('schedule.listed');
    const workspace = await createWorkspace(deps);
    const coworker_id = await coworker(workspace);
    const { _id: paused } = await scheduled(workspace, { coworker_id, ...hourly });
    await workspace.api.patch(`/schedule/coworker/${paused}`, { status: 'paused' });
    const { _id } = await scheduled(workspace, { coworker_id, ...hourly });
    await workspace.api.post(`/schedule/coworker/${_id}/trigger`, {});
    const run = await eventually(async () => {
      const [latest] = (await runsOf(workspace, _id)).data;
      expect(latest).toMatchObject({ status: 'completed' });
      return latest;
    });
    const { next } = await runsOf(workspace, _id);
    expect(next).toHaveLength(10);
    const { scheduled_for, started_at, ended_at, status, error } = run;
    expect((await workspace.api.get('/schedule/coworker')).body.data).toMatchObject([
      { _id, next_times: next, latest_run: { scheduled_for, started_at, ended_at, status, error } },
      { _id: paused, next_times: [], latest_run: null },
    ]);
    // Without Temporal, the stored part is listed.
    const down = { ...deps.temporal, call: () => Promise.reject(new Error('Temporal is down')) };
    const records = await deps.mongo.collections.schedules.find({ projectID: workspace.projectID }).toArray();
    const listed = await toListed({ ...deps, temporal: down }, records);
    expect(new Map(listed.map((each) => [each._id, each.next_times]))).toEqual(
      new Map([
        [_id, null],
        [paused, []],
      ]),
    );
    expect(listed.find((each) => each._id === _id)?.latest_run).toMatchObject({ status: 'completed' });
  });

  test('changes in record and Temporal, is paused with a reason and resumes', async () => {
    verifies('platform.schedules.update');
    const workspace = await createWorkspace(deps);
    const { _id } = await scheduled(workspace, { coworker_id: await coworker(workspace), ...hourly });
    const path = `/schedule/coworker/${_id}`;
    expect(await workspace.api.patch(path, { frequency: 60, overlap: 'allow_all', goal: 'another' })).toMatchObject({
      status: 200,
      body: { frequency: 60, overlap: 'allow_all', goal: { template: 'another' }, updated_at: expect.any(Number) },
    });
    expect(await temporalOf(_id).describe()).toMatchObject({
      spec: { intervals: [{ every: 60_000 }] },
      policies: { overlap: 'ALLOW_ALL' },
    });
    expect(await workspace.api.patch(path, { status: 'paused', reason: 'moving house' })).toMatchObject({
      status: 200,
      body: { status: 'paused', reason: 'moving house' },
    });
    expect((await temporalOf(_id).describe()).state).toMatchObject({ paused: true, note: 'moving house' });
    expect((await runsOf(workspace, _id)).next).toEqual([]);
    expect(await workspace.api.patch(path, { status: 'active' })).toMatchObject({
      status: 200,
      body: { status: 'active', reason: null },
    });
    expect((await temporalOf(_id).describe()).state.paused).toBe(false);
    expect((await runsOf(workspace, _id)).next).toHaveLength(10);
    expect(await workspace.api.patch(path, { frequency: '0 9 * * *' })).toMatchObject(
      refusal(422, 'validation_failed', 'interval'),
    );
    expect((await workspace.api.get(path)).body).toMatchObject({ frequency: 60, status: 'active' });
  });

  test('is deleted in both, and the deletion returns its last record', async () => {
    verifies('platform.schedules.delete');
    const workspace = await createWorkspace(deps);
    const made = await scheduled(workspace, { coworker_id: await coworker(workspace), ...hourly });
    const path = `/schedule/coworker/${made._id}`;
    expect(await workspace.api.delete(`${path}?projectID=${workspace.projectID}`)).toMatchObject({
      status: 200,
      body: made,
    });
    await expect(temporalOf(made._id).describe()).rejects.toMatchObject({ name: 'ScheduleNotFoundError' });
    expect(await workspace.api.get(path)).toMatchObject(refusal(404, 'not_found'));
    expect(await workspace.api.delete(path)).toMatchObject(refusal(404, 'not_found'));
  });

  test('equals its record after many concurrent changes', async () => {
    const workspace = await createWorkspace(deps);
    const { _id } = await scheduled(workspace, { coworker_id: await coworker(workspace), ...hourly });
    const path = `/schedule/coworker/${_id}`;
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, at) => workspace.api.patch(path, { frequency: 100 + at })),
    );
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    const { frequency } = (await workspace.api.get(path)).body;
    await eventually(async () =>
      expect((await temporalOf(_id).describe()).spec.intervals?.[0]?.every).toBe(frequency * 1000),
    );
  });

  test('marks its coworker while a cron expression is active', async () => {
    const workspace = await createWorkspace(deps);
    const coworker_id = await coworker(workspace);
    const isMarked = async () =>
      (await workspace.api.get(`/agentflow/${coworker_id}`)).body.is_cron_scheduled as boolean;
    const { _id } = await scheduled(workspace, { coworker_id, type: 'cron', frequency: '0 9 * * *' });
    expect(await isMarked()).toBe(true);
    await workspace.api.patch(`/schedule/coworker/${_id}`, { status: 'paused' });
    expect(await isMarked()).toBe(false);
    await workspace.api.patch(`/schedule/coworker/${_id}`, { status: 'active' });
    await workspace.api.delete(`/schedule/coworker/${_id}`);
    expect(await isMarked()).toBe(false);
  });
});
