import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../src/base/ids.js';
import {
  catalogSyncType,
  catalogSyncWorkflowId,
  changedSignal,
  stateQuery,
  type CatalogRun,
  type CatalogSyncInput,
  type PendingChanges,
} from '../../workflows/catalog-sync/messages.js';
import { startFakeCatalog, type FakeCatalog } from '../surfaces/callbacks/fake-catalog.js';
import { decoded } from '../support/decoded.js';
import { eventually } from '../support/eventually.js';
import { createWorkspace, useDeps, type Workspace } from '../support/fixture.js';
import { ownProduct } from '../support/own-product.js';
import type { ProductProcess } from '../support/processes.js';
import { storeRule } from '../support/governance/approvals.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const environment: Record<string, string> = { CATALOG_TOKEN: 'catalog token' };
const product = ownProduct(environment);
let catalog: FakeCatalog;
let worker: ProductProcess;
let workspace: Workspace;
beforeAll(async () => {
  catalog = await startFakeCatalog();
  environment.CATALOG_URL = catalog.url;
  workspace = await createWorkspace(deps);
  worker = await product.worker();
});
afterAll(() => catalog.close());

const handle = () => deps.temporal.client.workflow.getHandle(catalogSyncWorkflowId(workspace.projectID));

/** Does the same as the receiver. The id of the run is that of the first pending signal. */
async function change(input: Partial<CatalogSyncInput> = {}): Promise<string> {
  const run_id = newId();
  const args: [CatalogSyncInput] = [
    {
      project_id: workspace.projectID,
      organization_id: workspace.organizationId,
      quiet_ms: 300,
      longest_wait_ms: 60_000,
      max_history_events: 5000,
      ...input,
    },
  ];
  await deps.temporal.client.workflow.signalWithStart(catalogSyncType, {
    taskQueue: product.env.TEMPORAL_TASK_QUEUE ?? '',
    workflowId: catalogSyncWorkflowId(workspace.projectID),
    args,
    signal: changedSignal,
    signalArgs: [{ run_id, events: 1, entities: ['shop.orders'] }],
  });
  return run_id;
}

const lifecycles = () =>
  deps.mongo.collections.lifecycles
    .find({ project_id: workspace.projectID, tool: 'catalog-sync' })
    .sort({ _id: 1 })
    .toArray();

async function graph(query: string): Promise<any[]> {
  const { records } = await deps.graph.driver.executeQuery(query, { projectId: workspace.projectID });
  return records.map((record) => record.toObject());
}

const names = async (type: string) =>
  (await graph(`MATCH (n:${type} {project_id: $projectId}) RETURN n.name AS name ORDER BY name`)).map(
    ({ name }) => name,
  );
const edges = (type: string) =>
  graph(`MATCH (a:Entity {project_id: $projectId})-[r:${type}]->(b) RETURN a.name AS a, b.name AS b ORDER BY a, b`);

describe('catalogSync', () => {
  test('reads tables, columns, owners and lineage page by page into the graph, with provenance', async () => {
    verifies('env.catalog-source', 'catalog-sync.reads', 'catalog-sync.upserts', 'catalog-sync.recorded');
    catalog.tables = [
      { id: 't1', name: 'orders', columns: ['id', 'total'], owners: ['ada'], feeds: ['t3', 'd1'] },
      { id: 't2', name: 'customers', columns: ['id'] },
      { id: 't3', name: 'report' },
    ];
    const run_id = await change();
    expect(await handle().result()).toMatchObject({
      run_id,
      counts: { tables: 3, lineage: 2, removed: 0 },
      failure: null,
    });
    expect(await names('Table')).toEqual(['shop.customers', 'shop.orders', 'shop.report']);
    expect(await names('Column')).toEqual(['id', 'id', 'total']);
    expect(await edges('OWNED_BY')).toEqual([{ a: 'shop.orders', b: 'ada' }]);
    expect(await edges('FEEDS')).toEqual([
      { a: 'shop.orders', b: 'd1' },
      { a: 'shop.orders', b: 'shop.report' },
    ]);
    expect(
      await graph(
        'MATCH (n:Table {project_id: $projectId}) RETURN DISTINCT n._source AS source, n._lifecycle_id AS run, n._saved_by AS by',
      ),
    ).toEqual([{ source: 'catalog', run: run_id, by: 'service:catalog-sync' }]);
    expect(catalog.requests.every(({ authorization }) => authorization === 'Bearer catalog token')).toBe(true);
    expect(
      catalog.requests
        .filter(({ path }) => path.startsWith('/api/v1/tables'))
        .map(({ path }) => new URL(path, 'http://x').searchParams.get('after')),
    ).toEqual([null, '2']);
    expect(await lifecycles()).toMatchObject([
      { _id: run_id, status: 'completed', organization_id: workspace.organizationId },
    ]);
    expect(await deps.mongo.collections.audit_entries.countDocuments({ lifecycle_id: run_id })).toBe(1);
  });

  test('removes what the catalog deleted, and leaves what others saved', async () => {
    verifies('catalog-sync.upserts');
    await graph(
      "CREATE (n:Entity:Table {project_id: $projectId, id: 'mine', type: 'Table', name: 'mine'}) RETURN 1 AS one",
    );
    catalog.tables = [
      { id: 't1', name: 'orders', columns: ['id'], feeds: ['t3'] },
      { id: 't3', name: 'report' },
    ];
    await change();
    expect(await handle().result()).toMatchObject({ failure: null });
    expect(await names('Table')).toEqual(['mine', 'shop.orders', 'shop.report']);
    expect([await names('Column'), await names('User'), await names('Dashboard')]).toEqual([['id'], [], []]);
    expect([await edges('OWNED_BY'), await edges('FEEDS')]).toEqual([[], [{ a: 'shop.orders', b: 'shop.report' }]]);
  });

  test('makes one run of a burst, restarts the window with each event, and respects the maximum wait', async () => {
    verifies('catalog-sync.coalesced', 'catalog-sync.longest-wait');
    const before = catalog.firstPages();
    const quiet_ms = 4000;
    let pending: PendingChanges | null = null;
    // The burst lasts longer than the window, so the window would end within it if only the first event restarted it.
    for (let sent = 1; !pending || pending.last_at - pending.first_at < quiet_ms + 1000; sent += 1) {
      await change({ quiet_ms });
      pending = await eventually(async () => {
        const state = await handle().query(stateQuery);
        expect(state.pending).toMatchObject({ events: sent });
        return state.pending;
      });
    }
    expect(catalog.firstPages()).toBe(before);
    const run = (await handle().result()) as CatalogRun;
    expect(run).toMatchObject({ events: pending.events, first_event_at: pending.first_at });
    expect(run.started_at).toBeGreaterThanOrEqual(pending.last_at + quiet_ms);
    expect(catalog.firstPages()).toBe(before + 1);

    await change({ quiet_ms: 24 * 3600 * 1000, longest_wait_ms: 1000 });
    expect(await handle().result()).toMatchObject({ events: 1, failure: null });
    expect(catalog.firstPages()).toBe(before + 2);
  });

  test('makes exactly one more run of the events that arrive during a run', async () => {
    verifies('catalog-sync.during-run');
    const before = catalog.firstPages();
    const release = catalog.hold();
    await change();
    await eventually(() => expect(catalog.firstPages()).toBe(before + 1));
    for (let at = 0; at < 7; at += 1) await change();
    release();
    expect(await handle().result()).toMatchObject({ events: 7 });
    expect(catalog.firstPages()).toBe(before + 2);
  });

  test('continues as new with its waiting events when its history is full, and runs them there', async () => {
    verifies('catalog-sync.during-run');
    const before = catalog.firstPages();
    const release = catalog.hold();
    const first = await change({ quiet_ms: 0, max_history_events: 10 });
    await eventually(() => expect(catalog.firstPages()).toBe(before + 1));
    const { runId } = await handle().describe();
    const waiting = await change({ quiet_ms: 0 });
    for (let at = 0; at < 4; at += 1) await change({ quiet_ms: 0 });
    release();
    expect(await handle().result()).toMatchObject({ run_id: waiting, events: 5 });
    expect(catalog.firstPages()).toBe(before + 2);
    expect((await handle().describe()).runId).not.toBe(runId);
    expect((await lifecycles()).map(({ _id }) => _id).slice(-2)).toEqual([first, waiting]);
  });

  test('continues as new while the catalog is down, loses no event, and lists its lifecycles newest first', async () => {
    verifies('catalog-sync.continues-as-new', 'lifecycles.newest-first');
    const before = (await lifecycles()).length;
    let isDown = true;
    catalog.intercept((path, res) => {
      if (!isDown || !path.startsWith('/api/v1/tables')) return false;
      res.writeHead(503).end();
      return true;
    });
    const run_id = await change({ quiet_ms: 0, max_history_events: 40 });
    const { runId } = await handle().describe();
    for (let at = 0; at < 60; at += 1) await change({ quiet_ms: 0 });
    await eventually(
      async () => {
        const { runId: present, historyLength, status } = await handle().describe();
        expect([present === runId, status.name]).toEqual([false, 'RUNNING']);
        expect(historyLength).toBeLessThan(40);
      },
      { timeoutMs: 120_000 },
    );
    expect(await handle().query(stateQuery)).toMatchObject({
      run: { run_id, ended_at: null },
      pending: { events: 60 },
    });
    isDown = false;
    expect(await handle().result()).toMatchObject({ events: 60, failure: null });
    catalog.intercept(null);
    const made = (await lifecycles()).slice(before);
    expect(made.map(({ _id }) => _id)[0]).toBe(run_id);
    // A run that an operator starts gets its id from the workflow.
    const options = {
      taskQueue: product.env.TEMPORAL_TASK_QUEUE ?? '',
      workflowId: catalogSyncWorkflowId(workspace.projectID),
    };
    const args: [CatalogSyncInput] = [
      {
        project_id: workspace.projectID,
        organization_id: workspace.organizationId,
        quiet_ms: 0,
        longest_wait_ms: 1000,
        max_history_events: 5000,
      },
    ];
    const result: any = await deps.temporal.client.workflow.execute(catalogSyncType, { ...options, args });
    const listed = (
      await workspace.api.get('/v1/lifecycles?tool=catalog-sync&limit=200', {
        authorization: `Bearer ${workspace.apiKey}`,
      })
    ).body.data;
    expect(listed[0].lifecycle_id).toBe(result.run_id);
    const times = listed.map(({ created_at }: any) => created_at as number);
    expect(times).toEqual([...times].sort((a, b) => b - a));
  });

  test('retries a failing catalog with exponential backoff, respects Retry-After, and shows it in Temporal', async () => {
    verifies('catalog-sync.failing', 'catalog-sync.reads');
    const times: number[] = [];
    catalog.intercept((path, res) => {
      if (!path.startsWith('/api/v1/tables')) return false;
      times.push(Date.now());
      if (times.length > 4) return false;
      if (times.length === 4) res.writeHead(429, { 'retry-after': '2' }).end();
      else res.writeHead(503).end('secret details');
      return true;
    });
    await change({ quiet_ms: 0 });
    const pending = await eventually(async () => {
      const { raw } = await handle().describe();
      expect(raw.pendingActivities?.[0]).toMatchObject({
        attempt: expect.any(Number),
        lastFailure: { message: 'Encoded failure' },
      });
      return raw.pendingActivities?.[0];
    });
    expect(pending?.activityType?.name).toBe('syncCatalogTables');
    expect(await handle().result()).toMatchObject({ failure: null });
    catalog.intercept(null);
    const waits = times.slice(1, 5).map((time, at) => time - (times[at] ?? 0));
    // These are minimums, because a busy machine adds to the waits.
    expect(waits[0]).toBeGreaterThan(900);
    expect(waits[1]).toBeGreaterThan(1900);
    expect(waits[3]).toBeGreaterThanOrEqual(1900);
  });

  test('continues at the position of a killed worker', async () => {
    verifies('catalog-sync.reads');
    catalog.tables = Array.from({ length: 40 }, (_, at) => ({
      id: `k${String(at).padStart(2, '0')}`,
      name: `table_${at}`,
    }));
    const from = catalog.requests.length;
    const stuck = new Set<string>();
    catalog.intercept((path) => {
      const isStuck = path.includes('after=20') && stuck.size === 0;
      if (isStuck) stuck.add(path);
      return isStuck;
    });
    await change({ quiet_ms: 0 });
    await eventually(() => expect(stuck.size).toBe(1));
    // A worker sends at most one heartbeat per second: kill it after Temporal has received the position.
    await eventually(async () => {
      const { raw } = await handle().describe();
      const [place] = raw.pendingActivities?.[0]?.heartbeatDetails?.payloads ?? [];
      expect(await decoded(deps, place)).toMatchObject({ after: '20' });
    });
    await worker.end('SIGKILL');
    worker = await product.worker();
    expect(await handle().result()).toMatchObject({ failure: null, counts: { tables: 40 } });
    catalog.intercept(null);
    const pages = catalog.requests
      .slice(from)
      .filter(({ path }) => path.startsWith('/api/v1/tables'))
      .map(({ path }) => new URL(path, 'http://x').searchParams.get('after'));
    expect(pages.filter((after) => after === null)).toHaveLength(1);
    expect(pages.filter((after) => after === '20')).toHaveLength(2);
    expect(await names('Table')).toHaveLength(41);
  });

  test('is refused by a rule before it reads the catalog, and the refusal is its record', async () => {
    verifies('operation.no-bypass');
    await storeRule(deps, workspace, 'forbid', 'catalog-sync');
    const requests = catalog.requests.length;
    const run_id = await change({ quiet_ms: 0 });
    await expect(handle().result()).rejects.toMatchObject({ cause: { type: 'S5:policy' } });
    expect(catalog.requests).toHaveLength(requests);
    expect((await lifecycles()).at(-1)).toMatchObject({
      _id: run_id,
      status: 'denied',
      decision: { decision: 'forbid' },
    });
    expect(await deps.mongo.collections.audit_entries.countDocuments({ lifecycle_id: run_id })).toBe(1);
  });

  test('fails visibly if no catalog is configured, and tries again with its next events', async () => {
    workspace = await createWorkspace(deps);
    environment.CATALOG_URL = '';
    await worker.end('SIGKILL');
    worker = await product.worker();
    for (let run = 0; run < 2; run += 1) {
      const run_id = await change({ quiet_ms: 0 });
      await expect(handle().result()).rejects.toMatchObject({ cause: { type: 'unconfigured' } });
      expect((await lifecycles()).at(-1)).toMatchObject({ _id: run_id, status: 'failed' });
    }
  });
});
