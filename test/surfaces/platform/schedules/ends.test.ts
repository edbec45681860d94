import { describe, expect, test } from '@jest/globals';
import { eventually } from '../../../support/eventually.js';
import { createWorkspace, useDeps, type Workspace } from '../../../support/fixture.js';
import { refusal } from '../../../support/refusal.js';
import { useHttpSink } from '../../../support/use-http-sink.js';
import { verifies } from '../../../support/verifies.js';
import { coworker, runsOf, schedule, scheduled, soon } from './schedules.js';

const deps = useDeps();
const sink = await useHttpSink();
const path = (id: string, rest = '') => `/schedule/coworker/${id}${rest}`;
const read = async ({ api }: Workspace, id: string) => (await api.get(path(id))).body;
const temporalOf = (id: string) => deps.temporal.client.schedule.getHandle(`schedule/${id}`).describe();

function untilSchedule(workspace: Workspace, id: string, expected: object): Promise<any> {
  return eventually(async () => {
    const record = await read(workspace, id);
    expect(record).toMatchObject(expected);
    return record;
  });
}

async function timesOf({ api }: Workspace, id: string, from: number, to: number): Promise<number[]> {
  const { status, body } = await api.get(path(id, `/times?from=${from}&to=${to}`));
  expect(status).toBe(200);
  return body.times.map(({ scheduled_for }: any) => scheduled_for);
}

const timesIn = ({ data }: any): number[] => data.map(({ scheduled_for }: any) => scheduled_for);

describe('a schedule with ends_at', () => {
  test.each([
    ['interval', { type: 'interval', frequency: 86_400 }],
    ['cron', { type: 'cron', frequency: { cron: '0 9 * * *', time_zone: 'Europe/Oslo' } }],
    ['calendar', { type: 'calendar', frequency: { time_zone: 'Europe/Oslo', times: ['09:00'] } }],
  ])('of type %s has no planned time after it, and all again when it is removed', async (_type, times) => {
    verifies('schedule.ends');
    const workspace = await createWorkspace(deps);
    const start = soon(10);
    const body = { coworker_id: await coworker(workspace), schedule: start, ...times };
    const whole = await timesOf(workspace, (await scheduled(workspace, body))._id, start, start + 20 * 86_400);
    const ends_at = whole[2] ?? 0;
    const { _id } = await scheduled(workspace, { ...body, ends_at });
    expect(await read(workspace, _id)).toMatchObject({ ends_at, status: 'active' });
    // The end belongs to the schedule.
    expect(await timesOf(workspace, _id, start, start + 20 * 86_400)).toEqual(whole.slice(0, 3));
    const { next } = await runsOf(workspace, _id);
    expect(next).toEqual(whole.slice(0, 3));
    const listed = async () => (await workspace.api.get('/schedule/coworker?limit=1')).body.data[0];
    expect(await listed()).toMatchObject({ _id, ends_at, next_times: next });
    expect(await workspace.api.patch(path(_id), { ends_at: ends_at - 1 })).toMatchObject({ status: 200 });
    expect(await timesOf(workspace, _id, start, start + 20 * 86_400)).toEqual(whole.slice(0, 2));
    // Another change keeps the end.
    expect(await workspace.api.patch(path(_id), { schedule: start, goal: 'other' })).toMatchObject({
      body: { ends_at: ends_at - 1, schedule: start },
    });
    expect(await workspace.api.patch(path(_id), { ends_at: null })).toMatchObject({ body: { ends_at: null } });
    expect(await timesOf(workspace, _id, start, start + 20 * 86_400)).toEqual(whole);
    expect((await temporalOf(_id)).spec.endAt).toBeUndefined();
  });

  test.concurrent('is completed after its last time, and a later end makes it active again', async () => {
    verifies('schedule.ends');
    const workspace = await createWorkspace(deps);
    const start = soon(12);
    const { _id } = await scheduled(workspace, {
      ...{ coworker_id: await coworker(workspace), type: 'interval', frequency: 3, overlap: 'allow_all' },
      ...{ schedule: start, ends_at: start + 4 },
    });
    const planned = [start, start + 3];
    await untilSchedule(workspace, _id, { status: 'completed', count: 2 });
    const ended = Date.now() / 1000;
    // Long enough for a time after the end that a run would have had.
    await eventually(() => expect(Date.now() / 1000).toBeGreaterThan(Math.max(ended, start + 4) + 14));
    const runs = await runsOf(workspace, _id);
    expect(timesIn(runs).reverse()).toEqual(planned);
    expect(runs).toMatchObject({ next: [], total_count: 2 });
    expect(await timesOf(workspace, _id, start - 60, start + 60)).toEqual(planned);
    expect(await workspace.api.post(path(_id, '/backfill'), { from: start + 4, to: start + 12 })).toMatchObject({
      status: 200,
      body: { planned: [], reason: expect.stringContaining(`ends at ${start + 4}`) },
    });
    for (const status of ['active', 'paused'])
      expect(await workspace.api.patch(path(_id), { status })).toMatchObject(refusal(409, 'conflict', 'later end'));
    expect(await workspace.api.patch(path(_id), { goal: 'other' })).toMatchObject({ body: { status: 'completed' } });
    const later = soon(15);
    expect(await workspace.api.patch(path(_id), { ends_at: later })).toMatchObject({
      status: 200,
      body: { status: 'active', ends_at: later },
    });
    const reopened = (await deps.mongo.collections.schedules.findOne({ _id }))?.updated_at ?? 0;
    await untilSchedule(workspace, _id, { status: 'completed' });
    // The times between the two ends were not planned, so they were neither skipped nor missed.
    const all = timesIn(await runsOf(workspace, _id));
    expect(all.filter((at) => at > start + 4 && at <= Math.floor(reopened))).toEqual([]);
    expect(all.filter((at) => at > reopened).length).toBeGreaterThan(1);
  });

  test.concurrent('is completed when a run ends during which the last times were skipped', async () => {
    verifies('schedule.ends');
    const workspace = await createWorkspace(deps);
    const release = sink.hold(`/${workspace.projectID}`);
    const start = soon(12);
    const { _id } = await scheduled(workspace, {
      ...{ coworker_id: await coworker(workspace, [`${sink.url}/${workspace.projectID}`]), schedule: start },
      ...{ type: 'interval', frequency: 2, ends_at: start + 4 },
    });
    await eventually(async () => expect((await temporalOf(_id)).info.numActionsSkippedOverlap).toBe(2));
    expect(await read(workspace, _id)).toMatchObject({ status: 'active', count: 0 });
    release();
    await untilSchedule(workspace, _id, { status: 'completed', count: 1 });
    // A time that is seconds ago may be about to fire.
    await eventually(async () =>
      expect((await runsOf(workspace, _id)).data).toMatchObject([
        { scheduled_for: start + 4, status: 'skipped', reason: 'overlap' },
        { scheduled_for: start + 2, status: 'skipped', reason: 'overlap' },
        { scheduled_for: start, status: 'completed' },
      ]),
    );
  });

  test('is completed when its last time was missed, and is not resumed after its end', async () => {
    verifies('schedule.ends');
    const workspace = await createWorkspace(deps);
    const coworker_id = await coworker(workspace);
    const times = { coworker_id, type: 'interval', frequency: 3600, ends_at: soon(7200), catchup_window: 60 };
    const { _id } = await scheduled(workspace, times);
    const { _id: paused } = await scheduled(workspace, times);
    await workspace.api.patch(path(paused), { status: 'paused' });
    // As after an outage in which the end passed.
    const { schedules } = deps.mongo.collections;
    await schedules.updateMany({ _id: { $in: [_id, paused] } }, { $set: { ends_at: soon(-70) } });
    expect(await read(workspace, _id)).toMatchObject({ status: 'completed' });
    const listed = (await workspace.api.get('/schedule/coworker')).body.data;
    expect(listed).toMatchObject([
      { _id: paused, status: 'paused', next_times: [] },
      { _id, status: 'completed', next_times: [] },
    ]);
    expect(await workspace.api.patch(path(_id), { status: 'paused' })).toMatchObject(refusal(409, 'conflict'));
    expect(await workspace.api.patch(path(paused), { status: 'active' })).toMatchObject(
      refusal(409, 'conflict', 'a later end'),
    );
    expect(await workspace.api.patch(path(paused), { status: 'active', ends_at: soon(7200) })).toMatchObject({
      status: 200,
      body: { status: 'active' },
    });
    expect(await workspace.api.patch(path(_id), { ends_at: null })).toMatchObject({ body: { status: 'active' } });
  });

  test.concurrent('stays completed while its limit is reached, whatever its end', async () => {
    verifies('schedule.ends', 'schedule.limit');
    const workspace = await createWorkspace(deps);
    const { _id } = await scheduled(workspace, {
      ...{ coworker_id: await coworker(workspace), type: 'interval', frequency: 3600 },
      ...{ schedule: soon(8), limit: 1, ends_at: soon(7200) },
    });
    await untilSchedule(workspace, _id, { status: 'completed', count: 1 });
    const change = async (body: object) => (await workspace.api.patch(path(_id), body)).body.status;
    expect(await change({ ends_at: soon(10_000) })).toBe('completed');
    expect(await change({ ends_at: soon(12_000) })).toBe('completed');
    expect(await change({ limit: 2 })).toBe('active');
  });

  const hourly = { type: 'interval', frequency: 3600 };
  test.each([
    ['in the past', { ...hourly, ends_at: soon(-60) }, 422, 'ends_at: must be in the future'],
    [
      'before the start',
      { ...hourly, schedule: soon(7200), ends_at: soon(3600) },
      422,
      'ends_at: must be after the start',
    ],
    [
      'before the first time',
      { type: 'cron', frequency: '0 9 29 2 *', ends_at: soon(7200) },
      422,
      'ends_at: must not be before the next planned time',
    ],
    [
      'of type once',
      { type: 'once', schedule: soon(3600), ends_at: soon(7200) },
      422,
      'ends_at: must be omitted for type once',
    ],
    ['as a text', { ...hourly, ends_at: '2030-01-01' }, 400, 'ends_at: must be a number'],
    ['after the year 2100', { ...hourly, ends_at: 5e9 }, 400, 'ends_at: must be a number'],
  ])('is refused: an end %s', async (_what, body, status, text) => {
    verifies('schedule.ends');
    const workspace = await createWorkspace(deps);
    const coworker_id = await coworker(workspace);
    const error = status === 400 ? 'invalid_request' : 'validation_failed';
    const expected = refusal(status, error, text);
    expect(await schedule(workspace, { coworker_id, goal: 'g', ...body })).toMatchObject(expected);
    const { _id } = await scheduled(workspace, { coworker_id, ...hourly });
    expect(await workspace.api.patch(path(_id), body)).toMatchObject(expected);
    expect(await read(workspace, _id)).toMatchObject({ type: 'interval', ends_at: null });
  });

  test('loses its end when it becomes a schedule of type once', async () => {
    const workspace = await createWorkspace(deps);
    const { _id } = await scheduled(workspace, {
      coworker_id: await coworker(workspace),
      ...hourly,
      ends_at: soon(7200),
    });
    const once = { type: 'once', schedule: soon(9000) };
    expect(await workspace.api.patch(path(_id), once)).toMatchObject({ status: 200, body: { ...once, ends_at: null } });
  });

  test('has no times after Temporal has removed it', async () => {
    verifies('schedule.ends');
    const workspace = await createWorkspace(deps);
    const { _id } = await scheduled(workspace, { coworker_id: await coworker(workspace), ...hourly });
    await deps.temporal.client.schedule.getHandle(`schedule/${_id}`).delete();
    expect(await runsOf(workspace, _id)).toMatchObject({ data: [], next: [] });
  });
});
