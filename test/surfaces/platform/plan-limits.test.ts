import { describe, expect, test } from '@jest/globals';
import { setPlan } from '../../../src/domain/customers/operations/account.js';
import { createWorkspace, useDeps, type Workspace } from '../../support/fixture.js';
import { refusal } from '../../support/refusal.js';
import { file, send } from '../../support/uploads.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();
const { collections } = deps.mongo;
const planLimit = (text: string) => refusal(403, 'plan_limit', text);
const created = (answers: { status: number }[]) =>
  answers.filter(({ status }) => status === 200 || status === 201).length;
const usageOf = async ({ api, organizationId }: Workspace) =>
  (await api.get(`/customer?organization_id=${organizationId}`)).body.usage;

describe('the limits of a plan', () => {
  test('apply to tables and their rows, also for bulk inserts and concurrent calls', async () => {
    verifies('table.row-limit', 'customer.quota-enforced');
    const workspace = await createWorkspace(deps);
    const { api, projectID, organizationId } = workspace;
    await setPlan(collections, organizationId, { number_of_tables: 2, number_of_rows_per_table: 10 });
    const tables = await Promise.all(
      [1, 2, 3, 4].map((at) =>
        api.post(`/storage/${projectID}/table`, {
          table_name: `t${at}`,
          columns: [{ column_name: 'Price', column_type: 'number' }],
        }),
      ),
    );
    expect(created(tables)).toBe(2);
    expect(tables.find(({ status }) => status === 403)).toMatchObject(planLimit('number_of_tables'));
    expect(await usageOf(workspace)).toMatchObject({ number_of_tables: 2, number_of_connectors: 0 });
    const path = `/storage/${projectID}/table/${tables.find(({ body }) => body._id)?.body._id}`;
    expect(
      await api.post(
        `${path}/row`,
        Array.from({ length: 11 }, () => ({ price: 1 })),
      ),
    ).toMatchObject(planLimit('number_of_rows_per_table'));
    expect(
      created([
        await api.post(
          `${path}/row`,
          Array.from({ length: 7 }, () => ({ price: 1 })),
        ),
      ]),
    ).toBe(1);
    const rows = await Promise.all(Array.from({ length: 8 }, () => api.post(`${path}/row`, { price: 2 })));
    expect(created(rows)).toBe(3);
    expect(rows.find(({ status }) => status === 403)).toMatchObject(planLimit('number_of_rows_per_table'));
    const { body } = await api.get(`${path}/records`);
    expect(body.total_count).toBe(10);
    expect((await api.delete(`${path}/records/${body.data[0]._id}`)).status).toBe(200);
    expect(created([await api.post(`${path}/row`, { price: 3 })])).toBe(1);
  });

  test('apply to connectors and premium connectors, and the deletion of one allows another', async () => {
    verifies('connector.plan', 'customer.quota-enforced', 'customer.usage-exact');
    const workspace = await createWorkspace(deps);
    const { api, projectID, organizationId } = workspace;
    await setPlan(collections, organizationId, { number_of_connectors: 3, number_of_premium_connectors: 1 });
    const configure = (category: string) =>
      api.post(`/actions/${category}/config?projectID=${projectID}`, { name: 'c' });
    const premium = await Promise.all([1, 2, 3].map(() => configure('professional_network')));
    expect(created(premium)).toBe(1);
    expect(premium.find(({ status }) => status === 403)).toMatchObject(planLimit('number_of_premium_connectors'));
    const plain = await Promise.all([1, 2, 3, 4].map(() => configure('restful')));
    expect(created(plain)).toBe(2);
    expect(plain.find(({ status }) => status === 403)).toMatchObject(planLimit('number_of_connectors'));
    expect(await usageOf(workspace)).toMatchObject({ number_of_connectors: 3, number_of_premium_connectors: 1 });
    const gone = premium.find(({ status }) => status === 200 || status === 201)?.body._id as string;
    expect((await api.delete(`/connectors/${projectID}/${gone}`)).status).toBe(200);
    expect(created([await configure('content_creator')])).toBe(1);
    expect(await usageOf(workspace)).toMatchObject({ number_of_connectors: 3, number_of_premium_connectors: 1 });
  });

  test('apply to the storage of files', async () => {
    verifies('file.storage-quota', 'customer.quota-enforced', 'customer.usage-exact');
    const workspace = await createWorkspace(deps);
    const { api, projectID, organizationId } = workspace;
    await setPlan(collections, organizationId, { storage_space_in_mb: 1 });
    const upload = (bytes: number) => send(api, `/file/${projectID}`, [file('a.txt', 'x'.repeat(bytes))]);
    const first = await upload(700_000);
    expect(first.status).toBe(201);
    expect(await upload(700_000)).toMatchObject(planLimit('storage_space_in_mb'));
    expect(await collections.files.countDocuments({ projectID, status: { $ne: 'ready' } })).toBe(0);
    expect(await usageOf(workspace)).toMatchObject({ storage_space_in_mb: 1 });
    expect((await api.delete(`/file/${projectID}/${first.body.data[0]._id}`)).status).toBe(200);
    expect(await usageOf(workspace)).toMatchObject({ storage_space_in_mb: 0 });
    expect((await upload(700_000)).status).toBe(201);
  });
});

describe('the OpenAPI document', () => {
  test('marks the routes in development', async () => {
    verifies('platform.in-development');
    const { api } = await createWorkspace(deps);
    const { paths } = (await api.get('/openapi.json')).body;
    for (const [path, method] of [
      ['/actions/{category}/config', 'post'],
      ['/project-member/{projectID}/summary', 'get'],
    ] as const) {
      const { summary, description = '' } = paths[path][method];
      expect(`${summary} ${description}`).toMatch(/in development/i);
    }
  });
});
