import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../src/base/ids.js';
import {
  catalogSyncType,
  catalogSyncWorkflowId,
  changedSignal,
  stateQuery,
  type CatalogSyncInput,
} from '../../workflows/catalog-sync/messages.js';
import { startFakeCatalog, type FakeCatalog } from '../surfaces/callbacks/fake-catalog.js';
import { eventually } from '../support/eventually.js';
import { createWorkspace, useDeps } from '../support/fixture.js';
import { ownProduct } from '../support/own-product.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const environment: Record<string, string> = {};
const product = ownProduct(environment);
let catalog: FakeCatalog;
beforeAll(async () => {
  catalog = await startFakeCatalog();
  environment.CATALOG_URL = catalog.url;
  await product.worker();
});
afterAll(() => catalog.close());

interface Scope {
  projectID: string;
  organizationId: string;
}

const handle = ({ projectID }: Scope) => deps.temporal.client.workflow.getHandle(catalogSyncWorkflowId(projectID));

async function change({ projectID, organizationId }: Scope): Promise<string> {
  const run_id = newId();
  const input: CatalogSyncInput = {
    ...{ project_id: projectID, organization_id: organizationId },
    ...{ quiet_ms: 0, longest_wait_ms: 1000, max_history_events: 5000 },
  };
  await deps.temporal.client.workflow.signalWithStart(catalogSyncType, {
    taskQueue: product.env.TEMPORAL_TASK_QUEUE ?? '',
    workflowId: catalogSyncWorkflowId(projectID),
    args: [input],
    signal: changedSignal,
    signalArgs: [{ run_id, events: 1, entities: [] }],
  });
  return run_id;
}

async function namesIn({ projectID }: Scope): Promise<string[]> {
  const { records } = await deps.graph.driver.executeQuery(
    'MATCH (n:Table {project_id: $projectID}) RETURN n.name AS name ORDER BY name',
    { projectID },
  );
  return records.map((record) => record.get('name') as string);
}

const lifecycleOf = (run_id: string) => deps.mongo.collections.lifecycles.findOne({ _id: run_id });

const good = [
  { id: 't1', name: 'orders', feeds: ['t2'] },
  { id: 't2', name: 'customers' },
];
/** A project into which a valid catalog was read. */
async function syncedScope(): Promise<Scope> {
  const scope = await createWorkspace(deps);
  catalog.intercept(null);
  catalog.tables = good;
  await change(scope);
  await handle(scope).result();
  expect(await namesIn(scope)).toEqual(['shop.customers', 'shop.orders']);
  return scope;
}

type Respond = (res: ServerResponse) => void;
const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
const json =
  (text: string): Respond =>
  (res) =>
    void res.writeHead(200, { 'content-type': 'application/json' }).end(text);
const page = (...tables: unknown[]) => json(JSON.stringify({ data: tables, paging: {} }));
const interceptTables = (respond: Respond) =>
  catalog.intercept((path, res) => {
    if (!path.startsWith('/api/v1/tables')) return false;
    respond(res);
    return true;
  });
const edges = (count: number) => Array.from({ length: count }, (_, at) => ({ fromEntity: 't1', toEntity: `x${at}` }));
const columns = (count: number) => Array.from({ length: count }, (_, at) => ({ name: `c${at}` }));

/** Faults from which the catalog can recover: the run waits and shows why. The fifth answer is the first one that it shows. */
const unreadable: Respond[] = [
  json('{"data":['),
  json('[]'),
  (res) => {
    res.writeHead(200, { 'content-length': '1000' }).write('{"data":');
    setImmediate(() => res.destroy());
  },
  (res) => void res.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
  page({ id: 1, name: null }),
  json(deep(100_000)),
  json('{"__proto__":{"data":[]}}'),
  (res) => void res.writeHead(200, { 'content-type': 'text/html' }).end('<p>Sign in</p>'),
  page({ id: 't', name: 'wide', columns: columns(200_000) }),
];
const unreadableLineage = [
  { downstreamEdges: edges(200_000) },
  { nodes: { $ne: 1 }, upstreamEdges: 'x' },
  { nodes: [{ id: 1 }] },
];

/** Faults that last until the catalog changes: the run fails visibly. */
const failing: [string, Respond, string][] = [
  ['65 MiB', (res) => void res.writeHead(200).end(Buffer.alloc(65 * 1024 * 1024, ' ')), 'larger than'],
  ['an endless list of pages', json('{"data":[],"paging":{"after":"again"}}'), 'has no last page'],
  [
    'the same page again and again',
    json(JSON.stringify({ data: [{ id: 't1', name: 'orders' }], paging: { after: 'again' } })),
    'has no last page',
  ],
];

/** Unusual content that the graph can store: it is read without losses. */
const hostile = 'a\0b\ud800c';
const read: [string, unknown[]][] = [
  [
    'NUL and half characters',
    [{ id: hostile, name: hostile, fullyQualifiedName: hostile, description: hostile, tags: [{ tagFQN: hostile }] }],
  ],
  [
    'texts of 1 MiB',
    [{ id: 'l'.repeat(1024 * 1024), name: 'l'.repeat(1024 * 1024), description: 'd'.repeat(1024 * 1024) }],
  ],
  [
    'ids that are paths',
    [
      { id: '../../v1/users?x=', name: 'paths' },
      { id: '', name: '' },
      { id: '..', name: 'up' },
    ],
  ],
  [
    'prototype names and operators',
    [
      {
        id: '__proto__',
        name: 'constructor',
        columns: [{ name: '$where' }, { name: '__proto__' }],
        owners: [{ id: '$ne', type: '__proto__' }],
      },
    ],
  ],
  [
    'types that the graph keeps for itself',
    [
      {
        id: 't',
        name: 'kept',
        owners: ['fact', 'entity', 'Sealed', '', '1'].map((type) => ({ id: 'o', type, name: 'o' })),
      },
    ],
  ],
  [
    'tables that occur twice',
    [
      { id: 't', name: 'one' },
      { id: 't', name: 'two' },
    ],
  ],
];

describe('a catalog that answers with', () => {
  test('an unreadable body keeps its run waiting, and a valid answer ends it', async () => {
    verifies('catalog-sync.outside-answers');
    const scope = await syncedScope();
    const left = [...unreadable];
    catalog.intercept((path, res) => {
      const respond = path.startsWith('/api/v1/tables') ? left.shift() : undefined;
      respond?.(res);
      return respond !== undefined;
    });
    const run_id = await change(scope);
    await eventually(async () =>
      expect(await handle(scope).query(stateQuery)).toMatchObject({
        run: { run_id, failure: null },
        progress: { failure: { type: 'action_unavailable', message: expect.stringContaining('catalog') } },
      }),
    );
    expect(await namesIn(scope)).toHaveLength(2);
    expect(await handle(scope).result()).toMatchObject({ failure: null, counts: { tables: 2, lineage: 1 } });
    // Each answer was one attempt of the run, and none of them ended the run.
    expect(left).toEqual([]);
    expect(await lifecycleOf(run_id)).toMatchObject({ status: 'completed' });
  });

  test.each(failing)(
    '%s fails its run, loses nothing, and the next run succeeds',
    async (_name, respond, message) => {
      verifies('catalog-sync.outside-answers');
      const scope = await syncedScope();
      interceptTables(respond);
      const run_id = await change(scope);
      await expect(handle(scope).result()).rejects.toMatchObject({
        cause: { message: expect.stringContaining(message) },
      });
      expect(await lifecycleOf(run_id)).toMatchObject({
        status: 'failed',
        stages: [{ detail: expect.stringContaining(message) }],
      });
      expect(await namesIn(scope)).toHaveLength(2);
      catalog.intercept(null);
      await change(scope);
      expect(await handle(scope).result()).toMatchObject({ failure: null, counts: { tables: 2, removed: 0 } });
    },
    300_000,
  );

  test.each(read)(
    '%s is read, and read again by the next run',
    async (_name, tables) => {
      verifies('catalog-sync.outside-answers');
      const scope = await syncedScope();
      interceptTables(page(...tables));
      for (let run = 0; run < 2; run += 1) {
        await change(scope);
        expect(await handle(scope).result()).toMatchObject({ failure: null, counts: { tables: tables.length } });
      }
      const { records } = await deps.graph.driver.executeQuery(
        'MATCH (n:Entity {project_id: $projectID}) WHERE n:Fact OR n:Sealed RETURN n.id AS id',
        { projectID: scope.projectID },
      );
      expect(records).toEqual([]);
      catalog.intercept(null);
      await change(scope);
      expect(await handle(scope).result()).toMatchObject({ failure: null });
      expect(await namesIn(scope)).toEqual(['shop.customers', 'shop.orders']);
    },
    300_000,
  );

  test('an unreadable lineage keeps its run waiting, and a valid answer ends it', async () => {
    verifies('catalog-sync.outside-answers');
    const scope = await syncedScope();
    const left = [...unreadableLineage];
    catalog.intercept((path, res) => {
      const answer = path.startsWith('/api/v1/lineage') ? left.shift() : undefined;
      if (answer) json(JSON.stringify(answer))(res);
      return answer !== undefined;
    });
    await change(scope);
    expect(await handle(scope).result()).toMatchObject({ failure: null, counts: { tables: 2, lineage: 1 } });
    expect(left).toEqual([]);
  });

  test('nothing at all does not occupy a worker and can be cancelled', async () => {
    verifies('catalog-sync.outside-answers');
    const scope = await syncedScope();
    let asked = 0;
    interceptTables((res) => {
      asked += 1;
      res.writeHead(200).write('{');
    });
    await change(scope);
    await eventually(() => expect(asked).toBeGreaterThan(0));
    await handle(scope).cancel();
    await expect(handle(scope).result()).rejects.toMatchObject({ name: 'WorkflowFailedError' });
    catalog.intercept(null);
    await change(scope);
    expect(await handle(scope).result()).toMatchObject({ failure: null });
  });
});
