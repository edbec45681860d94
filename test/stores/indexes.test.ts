import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { collections as definitions } from '../../src/collections.js';
import { eventually } from '../support/eventually.js';
import { useDeps } from '../support/fixture.js';
import { ownProduct } from '../support/own-product.js';
import type { Api } from '../support/processes.js';
import { isServed, shapesOfFilter, type QueryShape } from '../support/query-shapes.js';
import { startReplicaSet } from '../support/replica-set.js';
import { testRun } from '../support/run.js';
import type { Index } from '../../src/stores/collections.js';
import { verifies } from '../support/verifies.js';

const indexes = new Map<string, readonly Index[]>(definitions.map(({ name, indexes: own }) => [name, own]));
const uri = testRun().env.MONGODB_URI ?? '';
const members = await startReplicaSet(uri);
const deps = useDeps();
const product = ownProduct({ MONGODB_URI: members.uri(new URL(uri).pathname.slice(1)) });
let api: Api;
let release: () => void = () => undefined;

beforeAll(async () => {
  const until = new Promise<void>((resolve) => (release = resolve));
  // The build of indexes that are not unique does not end.
  void members.fault(({ name, body }) => name === 'createIndexes' && body.indexes[0].unique !== true, { until });
  [api] = await Promise.all([product.api(), product.worker()]);
});
afterAll(async () => {
  release();
  await members.close();
});

const readiness = async () => (await fetch(`${api.url}/readyz`)).json();

describe('GET /readyz', () => {
  test('is ready during a long index build, and reports when all are built', async () => {
    verifies('store.indexes.background');
    await eventually(async () => expect(await readiness()).toMatchObject({ status: 'ready', indexes: 'building' }));
    release();
    await eventually(async () => expect(await readiness()).toMatchObject({ status: 'ready', indexes: 'built' }));
  });

  test('builds on a connection without the time limit of a request', async () => {
    verifies('store.indexes.background');
    expect(await deps.mongo.withoutTimeLimit(async (db) => db.client.options.socketTimeoutMS)).toBe(0);
    expect(deps.mongo.db.client.options.socketTimeoutMS).toBe(30_000);
  });
});

/** Queries as the code makes them. */
const further: QueryShape[] = [
  ...shapesOfFilter('oauth_codes', { 'grant.user_id': 'u', 'grant.project_id': 'p' }).map((shape) => ({
    ...shape,
    equal: ['grant.user_id'],
  })),
  ...shapesOfFilter('oauth_codes', { 'grant.project_id': 'p' }),
  ...(['mcp_authorizations', 'mcp_authorization_requests'] as const).flatMap((collection) => [
    ...shapesOfFilter(collection, { user_id: 'u', project_id: 'p' }),
    ...shapesOfFilter(collection, { project_id: 'p' }),
    ...shapesOfFilter(collection, { connector_id: 'c' }),
  ]),
  ...shapesOfFilter('mcp_oauth_clients', { connector_id: 'c' }),
  ...shapesOfFilter('mcp_revocations', { next_at: { $lte: 1 } }, { next_at: 1 }),
  ...shapesOfFilter('oauth_grants', { project_id: 'p', revoked_at: null }),
  ...shapesOfFilter('sessions', { user_id: 'u', revoked_at: null }),
  ...shapesOfFilter('sessions', { project_id: 'p', revoked_at: null }),
  ...shapesOfFilter('api_keys', { 'scope.org_id': 'o', 'scope.user_id': 'u', revoked_at: null }),
  ...shapesOfFilter('memberships', { organization_id: 'o', role: 'OWNER' }),
  ...shapesOfFilter('schedules', { projectID: 'p', coworker_id: 'c', is_deleted: false }),
  ...shapesOfFilter('repository_bindings', { repository: 'r' }),
  ...shapesOfFilter('repository_bindings', { project_id: 'p' }),
  ...shapesOfFilter('catalog_sightings', { project_id: 'p', run_id: { $ne: 'r' } }),
  ...shapesOfFilter('audit_entries', { lifecycle_id: 'l' }),
  ...shapesOfFilter('connector_triggers', { connector_id: 'c' }),
  ...shapesOfFilter('resume_tokens', { approval_id: 'a' }),
  ...shapesOfFilter('approvals', { due_at: { $lt: 1 } }, { due_at: 1 }),
  ...shapesOfFilter('approvals', { 'token.used_by': 'l' }),
  ...shapesOfFilter('files', { status: 'uploading', uploaded_on: { $lt: 1 } }),
  ...shapesOfFilter('credit_history', { organization_id: 'o', applied: false }),
];

/** Collections that are read completely, because they contain only a few records. */
const small = new Set(['signing_keys']);

function unserved(shapes: readonly QueryShape[]): string[] {
  const missing = shapes.filter(
    (shape) => !small.has(shape.collection) && !isServed(shape, indexes.get(shape.collection) ?? []),
  );
  return [...new Set(missing.map((shape) => JSON.stringify(shape)))];
}

describe('the indexes', () => {
  test('serve the queries of revocation, callbacks, crawls and sweeps', () => {
    verifies('store.indexes.complete');
    expect(unserved(further)).toEqual([]);
  });

  test('are reported as missing for a field that no index begins with, and for another order', () => {
    verifies('store.indexes.complete');
    expect(unserved(shapesOfFilter('executions', { goal: 'g' }))).toHaveLength(1);
    expect(unserved(shapesOfFilter('executions', { projectID: 'p' }, { goal: 1 }))).toHaveLength(1);
    expect(unserved(shapesOfFilter('executions', { projectID: 'p', goal: 'g' }, { _id: -1 }))).toHaveLength(1);
    expect(unserved(shapesOfFilter('executions', {}))).toHaveLength(1);
    expect(
      unserved(shapesOfFilter('executions', { projectID: 'p', status: 'failed' }, { created_at: -1, _id: -1 })),
    ).toEqual([]);
    expect(unserved(shapesOfFilter('executions', { projectID: 'p', status: 'failed' }, { _id: -1 }))).toHaveLength(1);
  });
});
