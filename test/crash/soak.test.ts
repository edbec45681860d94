import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { apiClient } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { useDeps } from '../support/fixture.js';
import { bearerClient } from '../support/gateway.js';
import { ownProduct } from '../support/own-product.js';
import { verifies } from '../support/verifies.js';
import { prepareGround, quota, type Ground } from './soak/ground.js';
import { loads } from './soak/loads.js';
import {
  admissions,
  catalogSynced,
  executionStates,
  madeTwice,
  mostWithin,
  recordedCalls,
  savedEntities,
  unsyncedPushes,
  wrongSteps,
} from './soak/lookups.js';
import { thirdsOf } from './soak/memory.js';
import { paceOf } from './soak/pace.js';
import { publish, reportOf } from './soak/report.js';
import { soak, type Soaked } from './soak/run.js';
import { sizeOf } from '../requirements/full-forms.js';

const pace = paceOf(sizeOf('SOAK_MINUTES'));
const deps = useDeps();
const environment: Record<string, string> = {};
const product = ownProduct(environment);
let ground: Ground;
let soaked: Soaked;
const settling = { timeoutMs: 120_000, everyMs: 1000 };

beforeAll(
  async () => {
    ground = await prepareGround(deps);
    Object.assign(environment, ground.environment);
    soaked = await soak(product, ground, pace);
    publish(reportOf(soaked));
  },
  pace.kills * pace.killEveryMs * 2 + 300_000,
);
afterAll(() => ground.close());

const contracted = new Set([
  ...['429 S3:rate-quota', '503 unavailable', '504 upstream_timeout'],
  ...['S8:execute', 'harness_unreachable', 'data_service_unreachable', 'upstream_unreachable'].map(
    (label) => `502 ${label}`,
  ),
]);

describe('under a mixed load in which processes are killed in turn', () => {
  test('every kind of load keeps running, and every answer follows the contract', () => {
    verifies('whole.soak');
    const { tally, fleet, ledger } = soaked;
    expect(tally.problems).toEqual([]);
    const strange = loads.flatMap(({ name, refusals }) =>
      [...(tally.answers.get(name) ?? new Map<string, number>()).keys()]
        .filter((answer) => !/^2\d\d$/.test(answer) && !contracted.has(answer) && !refusals.includes(answer))
        .map((answer) => `${name}: ${answer}`),
    );
    expect(strange).toEqual([]);
    expect(fleet.kills).toHaveLength(pace.kills);
    expect(ledger.counts().filter(([, count]) => count < 3)).toEqual([]);
  });

  test('each acknowledged execution completes with all steps done, and repeats steps only as attempts', async () => {
    verifies('whole.soak');
    const ids = soaked.ledger.of('execution');
    await eventually(async () => {
      await resumePaused();
      expect(await executionStates(deps, ground, ids)).toEqual({ completed: ids.size });
    }, settling);
    const { missing, tooOften, repeated } = await wrongSteps(deps, ground, ids);
    publish(`${ids.size} executions completed, ${repeated} of their ${ids.size * 3} calls were made more than once.`);
    expect({ missing, tooOften }).toEqual({ missing: [], tooOften: [] });
    const stored = await executionStates(deps, ground, soaked.ledger.of('prepared'));
    expect(Object.values(stored).reduce((sum, count) => sum + count, 0)).toBe(soaked.ledger.of('prepared').size);
    expect(await madeTwice(deps, ground)).toEqual([]);
  });

  test('each saved entity is in the graph', async () => {
    verifies('whole.soak');
    const stored = await savedEntities(deps, [ground.governed, ground.mcp]);
    expect([...soaked.ledger.of('entity')].filter((id) => !stored.has(id))).toEqual([]);
  });

  test('each governed call has its lifecycle and audit entry, and the chains are complete', async () => {
    verifies('whole.soak');
    const workspaces = [ground.governed, ground.greedy, ground.mcp];
    const { stored, audited } = await recordedCalls(deps, workspaces);
    const answered = [...soaked.ledger.of('lifecycle')];
    expect(answered.filter((id) => !stored.has(id))).toEqual([]);
    expect(answered.filter((id) => !audited.has(id))).toEqual([]);
    for (const { apiKey } of workspaces) {
      expect((await bearerClient(apiKey).get('/v1/audit/verify')).body).toMatchObject({
        valid: true,
        first_broken_seq: null,
      });
    }
  });

  test('each webhook is forwarded or processed by its workflow', async () => {
    verifies('whole.soak');
    const { ledger } = soaked;
    const arrived = new Set(
      ground.upstream.received.map(({ body }) => (JSON.parse(body.toString()) as { id: string }).id),
    );
    expect([...ledger.of('forwarded')].filter((id) => !arrived.has(id))).toEqual([]);
    await eventually(async () => expect(await unsyncedPushes(deps, ground, ledger.of('push'))).toEqual([]), settling);
    const changes = await eventually(async () => {
      const found = await catalogSynced(deps, ground);
      expect(found).toMatchObject({ status: 'COMPLETED', failed: 0 });
      return found;
    }, settling);
    publish(
      `${ledger.of('catalog event').size} changes of the catalog were acknowledged, ${changes.events} brought in by ${changes.runs} runs.`,
    );
    expect(changes.events).toBeGreaterThanOrEqual(ledger.of('catalog event').size);
  });

  test('no window admits more than the quota across all processes and restarts', async () => {
    verifies('whole.soak');
    const times = await admissions(deps, ground.greedy);
    expect(soaked.tally.answers.get('over quota')?.get('429 S3:rate-quota')).toBeGreaterThan(0);
    // A call is admitted shortly after it is received; its lifecycle has the time of receipt.
    const most = mostWithin(times, quota.windowSeconds - 1);
    publish(
      `${times.length} calls were admitted under the quota of ${quota.max} in ${quota.windowSeconds} s, at most ${most} at once.`,
    );
    expect(most).toBeLessThanOrEqual(quota.max);
    expect(most).toBeGreaterThan(quota.max / 2);
  });

  test('the memory of the surviving processes does not grow', () => {
    verifies('whole.memory-flat');
    for (const { name, resident, heap } of soaked.memory) {
      for (const samples of [resident, heap]) {
        expect(samples.length).toBeGreaterThanOrEqual(30);
        const { middle, last } = thirdsOf(samples);
        expect({ name, middle, last, flat: last.floor <= middle.floor * pace.memoryGrowth }).toMatchObject({
          flat: true,
        });
      }
    }
  });
});

/** Repeats the resumes that were refused as unavailable, as whoever paused the run would do. */
async function resumePaused(): Promise<void> {
  const { projectID, apiKey } = ground.flows;
  const api = apiClient(soaked.fleet.apiUrls()[0] ?? '', { 'x-api-key': apiKey });
  const paused = await deps.mongo.collections.executions.find({ projectID, status: 'paused' }).toArray();
  for (const { _id } of paused)
    expect([200, 409]).toContain((await api.post(`/execute_flow/${_id}/resume`, {})).status);
}
