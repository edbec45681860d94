import { describe, expect, test } from '@jest/globals';
import { coworker, fired, runsOf, scheduled, soon } from '../surfaces/platform/schedules/schedules.js';
import { eventually } from '../support/eventually.js';
import { createWorkspace, useDeps } from '../support/fixture.js';
import { useOwnTemporal } from '../support/own-temporal.js';
import { useRunningProduct } from '../support/running-product.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const temporal = useOwnTemporal();
const product = useRunningProduct(temporal.environment);

describe('a schedule', () => {
  test('makes up for missed times of an outage only within its catch-up window, and its jitter spreads the starts', async () => {
    verifies('schedule.catchup-jitter', 'schedule.once', 'schedule.reasons');
    const workspace = product.through(await createWorkspace(deps));
    const coworker_id = await coworker(workspace);
    const spread = await scheduled(workspace, { coworker_id, type: 'interval', frequency: 3600, jitter: 1800 });
    const offsets = (await runsOf(workspace, spread._id)).next.map((at: number) => (at - spread.schedule) % 3600);
    expect(new Set(offsets).size).toBeGreaterThan(5);
    expect(Math.max(...offsets)).toBeLessThanOrEqual(1800);

    const often = await scheduled(workspace, { coworker_id, type: 'interval', frequency: 2, catchup_window: 3600 });
    await eventually(async () => expect(fired(await runsOf(workspace, often._id))).not.toEqual([]));
    // Both schedules are due once, a few seconds into an outage that lasts longer than the shorter window.
    const at = soon(15);
    const [patient, strict] = await Promise.all(
      [3600, 10].map((catchup_window) =>
        scheduled(workspace, { coworker_id, type: 'once', schedule: at, catchup_window }),
      ),
    );
    await temporal.service.kill('SIGKILL');
    const end = at + 12;
    await eventually(() => expect(Date.now() / 1000).toBeGreaterThan(end), { everyMs: 250 });
    await temporal.service.restart();
    await eventually(async () =>
      expect(fired(await runsOf(workspace, patient._id))).toMatchObject([{ scheduled_for: at, status: 'completed' }]),
    );
    await eventually(async () => expect((await runsOf(workspace, strict._id)).missed_catchup).toBe(1));
    expect(fired(await runsOf(workspace, strict._id))).toEqual([]);
    // All times of the outage were due at once: one of them ran, and Temporal skipped the others.
    const ranSince = ({ scheduled_for }: any) => scheduled_for > end;
    await eventually(async () => expect(fired(await runsOf(workspace, often._id)).filter(ranSince)).not.toEqual([]));
    await workspace.api.patch(`/schedule/coworker/${often._id}`, { status: 'paused' });
    const runs = await runsOf(workspace, often._id);
    const idle = runs.data.filter(
      ({ reason, scheduled_for }: any) => reason !== null && reason !== 'paused' && scheduled_for < end,
    );
    expect(runs.missed_catchup).toBe(0);
    expect(runs.skipped_overlap).toBeGreaterThan(3);
    expect(idle.length).toBeGreaterThan(3);
    expect(idle.filter(({ reason }: any) => reason !== 'overlap')).toEqual([]);
  });
});
