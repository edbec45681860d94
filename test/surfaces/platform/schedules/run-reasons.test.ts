import { describe, expect, test } from '@jest/globals';
import { eventually } from '../../../support/eventually.js';
import { createWorkspace, useDeps, type Workspace } from '../../../support/fixture.js';
import { useHttpSink } from '../../../support/use-http-sink.js';
import { verifies } from '../../../support/verifies.js';
import { coworker, fired, runsOf, scheduled } from './schedules.js';

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

async function busy(overlap: string) {
  const workspace = await createWorkspace(deps);
  const release = sink.hold(`/${workspace.projectID}`);
  const coworker_id = await coworker(workspace, [`${sink.url}/${workspace.projectID}`]);
  const { _id } = await scheduled(workspace, { coworker_id, type: 'interval', frequency: 2, overlap });
  await eventually(() => expect(sink.seen(`/${workspace.projectID}`)).not.toEqual([]));
  return { workspace, _id, release };
}

describe('the reasons of GET …/runs', () => {
  test.concurrent('do not name a run that waits behind another one as skipped', async () => {
    verifies('schedule.reasons');
    const { workspace, _id, release } = await busy('buffer_all');
    await eventually(async () => expect(Number((await temporalOf(_id)).raw.info?.bufferSize)).toBeGreaterThan(6));
    release();
    await eventually(async () => expect((await read(workspace, _id)).count).toBeGreaterThan(1));
    const releaseRest = sink.hold(`/${workspace.projectID}`);
    const runs = await runsOf(workspace, _id);
    expect([runs.skipped_overlap, runs.missed_catchup]).toEqual([0, 0]);
    expect(runs.data.filter(({ reason }: any) => reason !== null)).toEqual([]);
    await workspace.api.delete(path(_id));
    releaseRest();
  });

  test.concurrent('distinguish times between a reached limit and a higher limit from missed ones', async () => {
    verifies('schedule.reasons');
    const workspace = await createWorkspace(deps);
    const { _id } = await scheduled(workspace, {
      coworker_id: await coworker(workspace),
      type: 'interval',
      frequency: 1,
      limit: 2,
      overlap: 'allow_all',
    });
    await untilSchedule(workspace, _id, { status: 'completed' });
    const reached = Date.now() / 1000;
    await eventually(() => expect(Date.now() / 1000).toBeGreaterThan(reached + 4));
    expect(await workspace.api.patch(path(_id), { limit: 3 })).toMatchObject({ status: 200 });
    await untilSchedule(workspace, _id, { status: 'completed', count: 3 });
    const idle = (await runsOf(workspace, _id)).data.filter(({ started_at }: any) => started_at === null);
    expect(idle.length).toBeGreaterThan(2);
    expect(new Set(idle.map(({ status, reason }: any) => `${status} ${reason}`))).toEqual(new Set(['skipped limit']));
  });

  test.concurrent('belong to planned times in whole seconds, also with a jitter', async () => {
    verifies('schedule.planned-times');
    const workspace = await createWorkspace(deps);
    const { _id, schedule } = await scheduled(workspace, {
      coworker_id: await coworker(workspace),
      type: 'interval',
      frequency: 5,
      jitter: 4,
      overlap: 'allow_all',
    });
    await eventually(async () => expect(fired(await runsOf(workspace, _id)).length).toBeGreaterThan(1));
    await workspace.api.patch(path(_id), { status: 'paused' });
    const runs = await eventually(async () => {
      const found = await runsOf(workspace, _id);
      expect(found.data.filter(({ reason }: any) => reason === 'paused').length).toBeGreaterThan(1);
      return found;
    });
    const times = runs.data.map(({ scheduled_for }: any) => scheduled_for);
    expect(times.filter((at: number) => (at - Math.floor(schedule)) % 5 !== 0)).toEqual([]);
    expect(new Set(times).size).toBe(times.length);
    const answer = await workspace.api.post(path(_id, '/backfill'), {
      from: Math.min(...times),
      to: Math.max(...times),
    });
    const skipped = runs.data
      .filter(({ reason }: any) => reason !== null)
      .map(({ scheduled_for }: any) => scheduled_for);
    expect(answer.body).toMatchObject({ planned: expect.arrayContaining(skipped), reason: null });
    await eventually(async () =>
      expect(fired(await runsOf(workspace, _id)).map(({ scheduled_for }: any) => scheduled_for)).toEqual(
        expect.arrayContaining(times),
      ),
    );
  });
});
