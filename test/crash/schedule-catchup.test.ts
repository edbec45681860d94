import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startTemporal, type StartedTemporal } from '../../stack/temporal.js';
import { coworker, fired, runsOf, scheduled, soon } from '../platform/schedules/schedules.js';
import { eventually } from '../support/eventually.js';
import { createWorkspace, useDeps } from '../support/fixture.js';
import { ownProduct } from '../support/own-product.js';
import type { Api } from '../support/processes.js';
import { verifies } from '../support/verifies.js';

jest.setTimeout(180_000);
const deps = useDeps();
const dataDir = mkdtempSync(path.join(tmpdir(), 'own-temporal-'));
const servers: Record<string, string> = {};
const product = ownProduct(servers);
let temporal: StartedTemporal;
let api: Api;

beforeAll(async () => {
  const env = { ...process.env, TEMPORAL_ADDRESS: '', TEMPORAL_NAMESPACE: '' };
  temporal = await startTemporal({ dataDir, env });
  Object.assign(servers, temporal.environment);
  [api] = await Promise.all([product.api(), product.worker()]);
});
afterAll(async () => {
  await temporal.service.stop();
  rmSync(dataDir, { recursive: true });
});

describe('a schedule', () => {
  test('makes up for what an outage kept from firing within its catch-up window, and not for more; its jitter spreads the starts', async () => {
    verifies('schedule.catchup-jitter', 'schedule.once');
    const workspace = product.through(api, await createWorkspace(deps));
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
