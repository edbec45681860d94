import { describe, expect, test } from '@jest/globals';
import { eventually } from '../../../support/eventually.js';
import { createWorkspace, useDeps, type Workspace } from '../../../support/fixture.js';
import { useRunningProduct } from '../../../support/running-product.js';
import { verifies } from '../../../support/verifies.js';
import { coworker, scheduled } from './schedules.js';

const deps = useDeps();
const product = useRunningProduct();

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
  const effects = new Set(product.requestsOf(workspace).map(({ key }) => key));
  expect(effects.size).toBe(executions.length);
}

async function everyTwoSeconds(direct: Workspace): Promise<{ workspace: Workspace; id: string }> {
  const workspace = product.through(direct);
  const coworker_id = await coworker(workspace, [`${product.sink.url}/${direct.projectID}`]);
  const { _id } = await scheduled(workspace, { coworker_id, type: 'interval', frequency: 2 });
  return { workspace, id: _id };
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
    const release = product.sink.hold(`/${direct.projectID}`);
    const { workspace, id } = await everyTwoSeconds(direct);
    await eventually(() => expect(product.requestsOf(direct)).not.toEqual([]));
    await product.kill('worker');
    await product.start('worker');
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

/** Waits until nothing waits or runs in Temporal. */
async function untilIdle(id: string): Promise<void> {
  await eventually(async () => {
    const { info, raw } = await deps.temporal.client.schedule.getHandle(`schedule/${id}`).describe();
    expect([Number(raw.info?.bufferSize ?? 0), info.runningActions.length]).toEqual([0, 0]);
  });
}
