import { expect, jest, test } from '@jest/globals';
import { createScheduleActivities } from '../../../../activities/schedules.js';
import { newId } from '../../../../src/base/ids.js';
import { eventually } from '../../../support/eventually.js';
import { createWorkspace, useDeps, type Workspace } from '../../../support/fixture.js';
import { useHttpSink } from '../../../support/use-http-sink.js';
import { verifies } from '../../../support/verifies.js';
import { coworker, fired, runsOf, scheduled, soon } from './schedules.js';

const deps = useDeps();
const sink = await useHttpSink();

const path = (id: string, rest = '') => `/schedule/coworker/${id}${rest}`;
const read = async ({ api }: Workspace, id: string) => (await api.get(path(id))).body;
const far = { type: 'interval', frequency: 86_400 };
const temporalOf = (id: string) => deps.temporal.client.schedule.getHandle(`schedule/${id}`).describe();

async function trigger({ api }: Workspace, id: string, headers: Record<string, string> = {}): Promise<void> {
  expect(await api.post(path(id, '/trigger'), {}, headers)).toMatchObject({ status: 200, body: { _id: id } });
}

function untilSchedule(workspace: Workspace, id: string, expected: object): Promise<any> {
  return eventually(async () => {
    const record = await read(workspace, id);
    expect(record).toMatchObject(expected);
    return record;
  });
}

/** The executions of a schedule, oldest first. */
const executionsOf = ({ projectID }: Workspace, schedule: string) =>
  deps.mongo.collections.executions.find({ projectID, schedule }).sort({ _id: 1 }).toArray();

async function busy(overlap: string | undefined) {
  const workspace = await createWorkspace(deps);
  const release = sink.hold(`/${workspace.projectID}`);
  const coworker_id = await coworker(workspace, [`${sink.url}/${workspace.projectID}`]);
  const { _id } = await scheduled(workspace, {
    coworker_id,
    type: 'interval',
    frequency: 2,
    ...(overlap !== undefined && { overlap }),
  });
  const requests = () => sink.seen(`/${workspace.projectID}`).length;
  await eventually(() => expect(requests()).toBeGreaterThan(0));
  return { workspace, _id, release, requests };
}

test.concurrent('POST …/trigger creates a task and a child execution, and records the outcome', async () => {
  verifies('platform.schedules.trigger', 'schedule.run');
  const workspace = await createWorkspace(deps);
  const { _id } = await scheduled(workspace, {
    coworker_id: await coworker(workspace),
    goal: 'Brief the team',
    ...far,
  });
  await trigger(workspace, _id);
  const record = await untilSchedule(workspace, _id, { count: 1, status: 'active' });
  const [execution] = await executionsOf(workspace, _id);
  expect(record).toMatchObject({
    last_coworker_execution_id: execution?._id,
    task_id: execution?.task_id,
    last_record_id: null,
    conclusion: execution?.conclusion?.conclusion,
  });
  expect(execution).toMatchObject({
    status: 'completed',
    goal: 'Brief the team',
    goal_template: 'Brief the team',
    executed_by: { _id: workspace.userId, type: 'schedule' },
  });
  expect(record.conclusion).toEqual(expect.stringContaining('Brief the team'));
  expect((await workspace.api.get(`/task/${record.task_id}`)).body).toMatchObject({
    execution_id: execution?._id,
    status: 'completed',
  });
  const { parentExecution } = await deps.temporal.client.workflow.getHandle(`execution/${execution?._id}`).describe();
  expect(parentExecution?.workflowId).toMatch(new RegExp(`^coworker-run/${_id}-`));
  expect(fired(await runsOf(workspace, _id))).toMatchObject([
    { status: 'completed', executions: [{ execution_id: execution?._id, status: 'completed' }] },
  ]);
});

test.concurrent('POST …/trigger starts one run from repeats of the same request', async () => {
  const workspace = await createWorkspace(deps);
  const { _id } = await scheduled(workspace, { coworker_id: await coworker(workspace), ...far });
  const key = { 'idempotency-key': newId() };
  await trigger(workspace, _id, key);
  await untilSchedule(workspace, _id, { count: 1 });
  // Simulates a lost answer. The run has the id of the request.
  const [run] = await deps.mongo.collections.schedule_runs.find({ schedule_id: _id }).toArray();
  const lost = { $set: { answer: null, leased_until: new Date(0) } };
  const { modifiedCount } = await deps.mongo.collections.idempotency.updateOne(
    { record_id: run!._id.slice(-36) },
    lost,
  );
  expect(modifiedCount).toBe(1);
  await trigger(workspace, _id, key);
  await trigger(workspace, _id);
  await untilSchedule(workspace, _id, { count: 2 });
  expect(await executionsOf(workspace, _id)).toHaveLength(2);
});

test.concurrent(
  'POST …/trigger starts one run for each accepted trigger within one second, with and without keys',
  async () => {
    verifies('schedule.triggers-not-lost');
    const workspace = await createWorkspace(deps);
    const { _id } = await scheduled(workspace, { coworker_id: await coworker(workspace), ...far });
    const keys = [...Array.from({ length: 5 }, () => ({ 'idempotency-key': newId() })), {}, {}, {}];
    await Promise.all(keys.map((key) => trigger(workspace, _id, key as Record<string, string>)));
    await untilSchedule(workspace, _id, { count: keys.length });
    expect(await executionsOf(workspace, _id)).toHaveLength(keys.length);
    expect(fired(await runsOf(workspace, _id))).toHaveLength(keys.length);
  },
);

test.concurrent(
  'a limit ends the schedule after that number of planned runs, an interval apart, and can be raised',
  async () => {
    verifies('schedule.limit', 'schedule.interval');
    const workspace = await createWorkspace(deps);
    const { _id, schedule } = await scheduled(workspace, {
      coworker_id: await coworker(workspace),
      type: 'interval',
      frequency: 3,
      limit: 3,
      overlap: 'allow_all',
      schedule: soon(15),
    });
    await trigger(workspace, _id);
    await workspace.api.patch(path(_id), { goal: 'a change takes no run away' });
    await untilSchedule(workspace, _id, { status: 'completed', count: 4 });
    const runs = await runsOf(workspace, _id);
    expect(runs.next).toEqual([]);
    const times: number[] = fired(runs).map(({ scheduled_for }: any) => scheduled_for);
    const planned = times.filter((at) => (at - schedule) % 3 === 0);
    expect(planned.length).toBeGreaterThanOrEqual(3);
    expect(await workspace.api.patch(path(_id), { status: 'active' })).toMatchObject({
      status: 409,
      body: { error: 'conflict' },
    });
    expect(await workspace.api.patch(path(_id), { limit: 4 })).toMatchObject({
      status: 200,
      body: { status: 'active', limit: 4 },
    });
    await untilSchedule(workspace, _id, { status: 'completed', count: 5 });
  },
);

test.concurrent('a limit applies to a schedule that is changed while it fires', async () => {
  verifies('schedule.limit');
  const workspace = await createWorkspace(deps);
  const { _id } = await scheduled(workspace, {
    coworker_id: await coworker(workspace),
    type: 'interval',
    frequency: 1,
    limit: 5,
    overlap: 'allow_all',
    schedule: soon(6),
  });
  for (let change = 0, status = 'active'; status === 'active'; change += 1) {
    const patched = await workspace.api.patch(path(_id), { goal: `change ${change}` });
    expect(patched.status).toBe(200);
    status = patched.body.status;
  }
  await untilSchedule(workspace, _id, { status: 'completed', count: 5 });
  expect((await temporalOf(_id)).info.numActionsTaken).toBe(5);
});

test.concurrent('a run that is due during another is skipped by default', async () => {
  verifies('schedule.overlap', 'platform.schedules.runs');
  const { workspace, _id, release, requests } = await busy(undefined);
  const skipped = await eventually(async () => {
    const runs = await runsOf(workspace, _id);
    expect(runs.skipped_overlap).toBeGreaterThan(2);
    expect(runs.data.filter(({ reason }: any) => reason === 'overlap').length).toBeGreaterThan(2);
    return runs;
  });
  expect(requests()).toBe(1);
  expect(skipped.data.filter(({ status }: any) => status === 'running')).toHaveLength(1);
  expect(skipped.next).toHaveLength(10);
  await workspace.api.patch(path(_id), { status: 'paused' });
  release();
  await untilSchedule(workspace, _id, { count: 1 });
  expect((await temporalOf(_id)).info.numActionsTaken).toBe(1);
});

test.concurrent(
  'a run that is due during another waits with buffer_one, one at most, and runs at the same time with allow_all',
  async () => {
    verifies('schedule.overlap');
    const { workspace, _id, release, requests } = await busy('buffer_one');
    await eventually(async () => expect(Number((await temporalOf(_id)).raw.info?.bufferSize)).toBe(1));
    await eventually(async () => expect((await temporalOf(_id)).info.numActionsSkippedOverlap).toBeGreaterThan(1));
    expect(requests()).toBe(1);
    release();
    await eventually(async () => expect((await read(workspace, _id)).count).toBeGreaterThan(1));
    await workspace.api.patch(path(_id), { status: 'paused' });
    const parallel = await busy('allow_all');
    await eventually(() => expect(parallel.requests()).toBeGreaterThan(1));
    await parallel.workspace.api.patch(path(parallel._id), { status: 'paused' });
    parallel.release();
  },
);

test.concurrent('a run that is due during another ends the other with cancel_other', async () => {
  verifies('schedule.overlap');
  const { workspace, _id, release } = await busy('cancel_other');
  await eventually(async () =>
    expect(fired(await runsOf(workspace, _id)).some(({ status }: any) => status === 'cancelled')).toBe(true),
  );
  await workspace.api.patch(path(_id), { status: 'paused' });
  release();
  await eventually(async () => {
    const [first] = await executionsOf(workspace, _id);
    expect(first?.execution_context.failure).toMatchObject({ reason: 'cancelled' });
  });
});

test.concurrent('pause_on_failure pauses the record and the Temporal Schedule with the reason', async () => {
  verifies('schedule.pause-on-failure');
  const workspace = await createWorkspace(deps);
  sink.answer(`/${workspace.projectID}`, (_, res) => void res.writeHead(403).end());
  const coworker_id = await coworker(workspace, [`${sink.url}/${workspace.projectID}`]);
  const { _id } = await scheduled(workspace, {
    coworker_id,
    type: 'cron',
    frequency: '0 9 1 1 *',
    pause_on_failure: true,
  });
  await trigger(workspace, _id);
  const record = await untilSchedule(workspace, _id, { status: 'paused', count: 1 });
  expect(record.reason).toContain('403');
  await eventually(async () => expect((await temporalOf(_id)).state.paused).toBe(true));
  expect(fired(await runsOf(workspace, _id))).toMatchObject([
    { status: 'failed', error: expect.stringContaining('403') },
  ]);
  await eventually(async () =>
    expect((await workspace.api.get(`/agentflow/${coworker_id}`)).body.is_cron_scheduled).toBe(false),
  );
  expect(await workspace.api.patch(path(_id), { status: 'active' })).toMatchObject({
    body: { status: 'active', reason: null },
  });
  expect((await temporalOf(_id)).state.paused).toBe(false);
});

test.concurrent('the first run after the deletion of its coworker pauses a schedule with the reason', async () => {
  const workspace = await createWorkspace(deps);
  const coworker_id = await coworker(workspace);
  const { _id } = await scheduled(workspace, { coworker_id, ...far });
  expect(await workspace.api.delete(`/agentflow/${coworker_id}`)).toMatchObject({ status: 200 });
  await trigger(workspace, _id);
  const record = await untilSchedule(workspace, _id, { status: 'paused', count: 1 });
  expect(record.reason).toContain('the agentflow was not found');
  await eventually(async () => expect((await temporalOf(_id)).state.paused).toBe(true));
});

test.concurrent(
  'pause_on_failure ends when somebody resumes the schedule, also while the failed run is closing',
  async () => {
    verifies('schedule.pause-on-failure', 'schedule.no-drift');
    const workspace = await createWorkspace(deps);
    sink.answer(`/${workspace.projectID}`, (_, res) => void res.writeHead(403).end());
    const coworker_id = await coworker(workspace, [`${sink.url}/${workspace.projectID}`]);
    const { _id } = await scheduled(workspace, { coworker_id, type: 'interval', frequency: 2, pause_on_failure: true });
    const record = () => deps.mongo.collections.schedules.findOne({ _id });
    for (let runs = 1; runs <= 5; runs += 1) {
      // The next one fires only if nothing has paused the Temporal Schedule again.
      await eventually(async () => expect(await record()).toMatchObject({ status: 'paused', count: runs }), {
        everyMs: 5,
      });
      expect(await workspace.api.patch(path(_id), { status: 'active' })).toMatchObject({ status: 200 });
    }
  },
);

test('pause_on_failure pauses a schedule that is changed at the moment of the failure', async () => {
  verifies('schedule.pause-on-failure');
  const workspace = await createWorkspace(deps);
  const { _id } = await scheduled(workspace, {
    coworker_id: await coworker(workspace),
    ...far,
    pause_on_failure: true,
  });
  const { schedules } = deps.mongo.collections;
  const changedAfterFirstRead = jest.spyOn(schedules, 'findOne').mockImplementationOnce(async (filter) => {
    const read = await schedules.findOne(filter as { _id: string });
    await schedules.updateOne({ _id }, { $set: { catchup_window: 60 }, $inc: { revision: 1 } });
    return read;
  });
  const run = { schedule_id: _id, run_id: newId(), first_run: newId(), scheduled_for: soon(0), started_at: soon(0) };
  await createScheduleActivities(deps).recordRun({ run, ended_at: soon(0), status: 'failed', error: 'it broke' });
  changedAfterFirstRead.mockRestore();
  expect(await read(workspace, _id)).toMatchObject({
    status: 'paused',
    reason: expect.stringContaining('it broke'),
    catchup_window: 60,
  });
  expect((await temporalOf(_id)).state.paused).toBe(true);
});

test.concurrent('GET …/runs reports the times that a pause skipped, and pages without a gap', async () => {
  verifies('platform.schedules.runs');
  const workspace = await createWorkspace(deps);
  const { _id } = await scheduled(workspace, {
    coworker_id: await coworker(workspace),
    type: 'interval',
    frequency: 2,
    overlap: 'allow_all',
  });
  await workspace.api.patch(path(_id), { status: 'paused', reason: 'night' });
  const runs = await eventually(async () => {
    const found = await runsOf(workspace, _id);
    expect(found.data.filter(({ reason }: any) => reason === 'paused').length).toBeGreaterThan(2);
    // Every started run is recorded, so that no time between them is filled in later.
    expect(fired(found)).toHaveLength((await temporalOf(_id)).info.numActionsTaken);
    return found;
  });
  expect(
    runs.data
      .filter(({ reason }: any) => reason === 'paused')
      .every(({ status, started_at }: any) => status === 'skipped' && started_at === null),
  ).toBe(true);
  const seen: number[] = [];
  let cursor: string | null = '';
  do {
    // On a busy machine, Temporal may not answer in time (503).
    const { body } = await eventually(async (): Promise<any> => {
      const page = await workspace.api.get(path(_id, `/runs?limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`));
      expect(page.status).toBe(200);
      return page;
    });
    seen.push(...body.data.map(({ scheduled_for }: any) => scheduled_for));
    cursor = body.next_cursor;
  } while (cursor !== null && seen.length < 50);
  const all = runs.data.map(({ scheduled_for }: any) => scheduled_for);
  expect(seen.slice(-all.length)).toEqual(all);
  expect((await workspace.api.get(path(_id, '/runs?cursor=nonsense'))).status).toBe(400);
});

test.concurrent(
  'a schedule whose person was removed from the project refuses its next run and is paused with the reason',
  async () => {
    verifies('schedule.former-member');
    const workspace = await createWorkspace(deps);
    const { _id } = await scheduled(workspace, { coworker_id: await coworker(workspace), ...far });
    await trigger(workspace, _id);
    await untilSchedule(workspace, _id, { count: 1, status: 'active' });
    const { userId, organizationId } = workspace;
    await deps.mongo.collections.users.insertOne({
      _id: userId,
      email: `${userId}@example.com`,
      name: 'Gone',
      password_hash: 'x',
      organization_id: organizationId,
      created_at: 1,
    });
    await trigger(workspace, _id);
    const record = await untilSchedule(workspace, _id, { count: 2, status: 'paused' });
    expect(record.reason).toContain('no longer a member');
    // The record is written first. Runs that fire before Temporal is updated are refused as well.
    await eventually(async () => expect((await temporalOf(_id)).state.paused).toBe(true));
    expect(await executionsOf(workspace, _id)).toHaveLength(1);
  },
);

test.concurrent('POST …/backfill runs the planned times in between, and refuses invalid ranges', async () => {
  verifies('platform.schedules.backfill', 'schedule.times');
  const workspace = await createWorkspace(deps);
  const { _id } = await scheduled(workspace, {
    coworker_id: await coworker(workspace),
    type: 'cron',
    frequency: '0 * * * *',
    schedule: soon(-4 * 3600),
  });
  const hour = Math.floor(Date.now() / 3_600_000) * 3600;
  const answer = await workspace.api.post(path(_id, '/backfill'), { from: hour - 2 * 3600 - 1, to: hour + 1 });
  expect(answer).toMatchObject({ status: 200, body: { planned: [hour - 2 * 3600, hour - 3600, hour] } });
  await untilSchedule(workspace, _id, { count: 3 });
  const timesOf = (from: number | string, to: number | string) =>
    workspace.api.get(path(_id, `/times?from=${from}&to=${to}`));
  expect(await timesOf(hour - 3 * 3600, hour + 3600)).toMatchObject({
    status: 200,
    body: {
      times: [3, 2, 1, 0, -1].map((ago) => ({ scheduled_for: hour - ago * 3600, has_fired: ago >= 0 && ago < 3 })),
      is_complete: true,
    },
  });
  for (const from of ['', '0x10', ' 1'])
    expect(await timesOf(from, hour)).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  for (const to of [hour, hour + 367 * 86_400])
    expect(await timesOf(hour, to)).toMatchObject({ status: 422, body: { error: 'validation_failed' } });
  expect(fired(await runsOf(workspace, _id)).map(({ scheduled_for }: any) => scheduled_for)).toEqual([
    hour,
    hour - 3600,
    hour - 2 * 3600,
  ]);
  expect(await workspace.api.post(path(_id, '/backfill'), { from: hour - 1800, to: hour - 1700 })).toMatchObject({
    status: 200,
    body: { planned: [], already_fired: 0, reason: expect.stringContaining('no planned time') },
  });
  for (const body of [
    { from: hour, to: hour - 1 },
    { from: hour, to: soon(3600) },
  ]) {
    expect(await workspace.api.post(path(_id, '/backfill'), body)).toMatchObject({
      status: 422,
      body: { error: 'validation_failed' },
    });
  }
  const often = await scheduled(workspace, {
    coworker_id: await coworker(workspace),
    type: 'interval',
    frequency: 1,
    schedule: soon(-4000),
    limit: 1,
  });
  expect(await workspace.api.post(path(often._id, '/backfill'), { from: soon(-3000), to: soon(-5) })).toMatchObject({
    status: 422,
  });
});

test.concurrent('POST …/backfill runs every planned time of a range, also with a jitter', async () => {
  verifies('platform.schedules.backfill', 'schedule.planned-times');
  const workspace = await createWorkspace(deps);
  const { _id, schedule } = await scheduled(workspace, {
    coworker_id: await coworker(workspace),
    type: 'interval',
    frequency: 3600,
    jitter: 1800,
    // The next planned time is half an hour away.
    schedule: soon(-4.5 * 3600),
  });
  const planned = [schedule + 3600, schedule + 2 * 3600];
  const [from, to] = planned;
  expect(await workspace.api.post(path(_id, '/backfill'), { from, to })).toMatchObject({
    status: 200,
    body: { planned },
  });
  await untilSchedule(workspace, _id, { count: planned.length });
  expect(
    fired(await runsOf(workspace, _id))
      .map(({ scheduled_for }: any) => scheduled_for)
      .reverse(),
  ).toEqual(planned);
});
