import { describe, expect, jest, test } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { coworker, fired, runsOf, scheduled, soon } from '../platform/schedules/schedules.js';
import { eventually } from '../support/eventually.js';
import { createWorkspace, useDeps } from '../support/fixture.js';
import { useOwnTemporal } from '../support/own-temporal.js';
import { useRunningProduct } from '../support/running-product.js';
import { verifies } from '../support/verifies.js';

jest.setTimeout(180_000);
const deps = useDeps();
const temporal = useOwnTemporal();
const product = useRunningProduct(temporal.environment);

describe('a schedule', () => {
  test('makes up for what an outage kept from firing within its catch-up window, and not for more; its jitter spreads the starts', async () => {
    verifies('schedule.catchup-jitter', 'schedule.once');
    const workspace = product.through(await createWorkspace(deps));
    const coworker_id = await coworker(workspace);
    const spread = await scheduled(workspace, { coworker_id, type: 'interval', frequency: 3600, jitter: 1800 });
    const offsets = (await runsOf(workspace, spread._id)).next.map((at: number) => (at - spread.schedule) % 3600);
    expect(new Set(offsets).size).toBeGreaterThan(5);
    expect(Math.max(...offsets)).toBeLessThanOrEqual(1800);

    // Both are due once, a few seconds into an outage of half a minute.
    const at = soon(8);
    const [patient, strict] = await Promise.all([3600, 10].map((catchup_window) => scheduled(workspace, { coworker_id, type: 'once', schedule: at, catchup_window })));
    await temporal.service.kill('SIGKILL');
    await delay((at + 25) * 1000 - Date.now());
    await temporal.service.restart();
    await eventually(async () => expect(fired(await runsOf(workspace, patient._id))).toMatchObject([{ scheduled_for: at, status: 'completed' }]), { timeoutMs: 90_000 });
    await eventually(async () => expect((await runsOf(workspace, strict._id)).missed_catchup).toBe(1), { timeoutMs: 30_000 });
    expect(fired(await runsOf(workspace, strict._id))).toEqual([]);
  });
});
