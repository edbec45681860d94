import { Agent, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { catalogSyncWorkflowId, stateQuery } from '../../../workflows/catalog-sync/messages.js';
import { apiClient } from '../../support/client.js';
import { createWorkspace, useDeps, type Workspace } from '../../support/fixture.js';
import { ownProduct } from '../../support/own-product.js';
import type { Api } from '../../support/processes.js';
import { verifies } from '../../support/verifies.js';
import { sizeOf } from '../../requirements/full-forms.js';
import { startFakeCatalog, type FakeCatalog } from './fake-catalog.js';
import { hmac, secrets } from './harness.js';

const deps = useDeps();
const environment: Record<string, string> = {
  DOWNSTREAM_PORT: '0',
  CATALOG_WEBHOOK_SECRET: secrets.catalog,
  // Longer than a busy machine needs to restart the API, so that the whole burst leads to one run.
  CATALOG_QUIET_WINDOW_MS: '25000',
  CATALOG_LONGEST_WAIT_MS: '300000',
};
const product = ownProduct(environment);
const callers = 20;
const allEvents = sizeOf('BURST_EVENTS');
let catalog: FakeCatalog;
let workspace: Workspace;
beforeAll(async () => {
  catalog = await startFakeCatalog();
  workspace = await createWorkspace(deps);
  environment.CATALOG_URL = catalog.url;
  environment.CATALOG_PROJECT_ID = workspace.projectID;
});
afterAll(() => catalog.close());

const event = (at: number) => ({
  eventType: 'entityUpdated',
  entityType: 'table',
  entityId: `t${at}`,
  entityFQN: `shop.t${at}`,
  changeType: 'schema',
  timestamp: 1_763_683_200_000 + at,
});

/** Single events alternate with arrays of ten. */
function deliveries(): { body: string; signature: string; events: number }[] {
  const list: { body: string; signature: string; events: number }[] = [];
  for (let at = 0; at < allEvents;) {
    const events = list.length % 2 === 0 ? 1 : Math.min(10, allEvents - at);
    const body = JSON.stringify(
      events === 1 ? event(at) : Array.from({ length: events }, (_, each) => event(at + each)),
    );
    list.push({ body, signature: hmac(secrets.catalog, body), events });
    at += events;
  }
  return list;
}

function send(agent: Agent, port: number, { body, signature }: { body: string; signature: string }): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'x-om-signature': signature,
      'content-length': Buffer.byteLength(body),
    };
    const req = request(
      { agent, port, host: '127.0.0.1', method: 'POST', path: '/v1/catalog/om/webhook', headers },
      (res) => {
        res.resume().on('end', () => resolve(res.statusCode ?? 0));
      },
    );
    req.on('error', reject).end(body);
  });
}

describe('a burst of events by 20 callers', () => {
  test('leads to one run after a kill of the API, without losing an acknowledged event', async () => {
    verifies('catalog-sync.burst', 'syncs.state');
    let [api] = await Promise.all([product.api(), product.worker()]);
    const queue = deliveries();
    const half = queue.length / 2;
    const agent = new Agent({ keepAlive: true, maxSockets: callers });
    let acknowledged = 0;
    let restarting: Promise<Api> | undefined;
    const restart = async () => {
      await api.end('SIGKILL');
      api = await product.api();
      return api;
    };
    const call = async () => {
      for (let delivery = queue.pop(); delivery; delivery = queue.pop()) {
        if (queue.length < half) restarting ??= restart();
        const status = await send(agent, api.port, delivery).catch(() => 0);
        if (status === 202) acknowledged += delivery.events;
        else {
          expect([0, 503]).toContain(status);
          queue.push(delivery);
          await restarting;
        }
      }
    };
    await Promise.all(Array.from({ length: callers }, call));
    agent.destroy();
    expect(acknowledged).toBe(allEvents);
    const handle = deps.temporal.client.workflow.getHandle(catalogSyncWorkflowId(workspace.projectID));
    expect(await handle.query(stateQuery)).toMatchObject({ runs: 0 });
    const own = apiClient(api.url, { 'x-api-key': workspace.apiKey });
    const syncs = `/${workspace.projectID}/syncs`;
    expect((await own.get(syncs)).body.catalog).toMatchObject({
      state: 'waiting',
      waiting_events: expect.any(Number),
      waiting_for: expect.arrayContaining([expect.stringMatching(/^shop/)]),
    });
    const { events } = (await handle.result()) as { events: number };
    // Events that were received but not acknowledged before the kill were sent again.
    expect(events).toBeGreaterThanOrEqual(allEvents);
    expect(catalog.firstPages()).toBe(1);
    expect(
      await deps.mongo.collections.lifecycles.countDocuments({ project_id: workspace.projectID, tool: 'catalog-sync' }),
    ).toBe(1);
    expect((await own.get(syncs)).body.catalog).toMatchObject({ state: 'idle', waiting_events: 0, run_id: null });
    expect(await own.post(`${syncs}/catalog`)).toMatchObject({
      status: 200,
      body: { state: 'waiting', waiting_events: 1 },
    });
  });
});
