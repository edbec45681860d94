import { describe, expect, test } from '@jest/globals';
import { newId } from '../../../../src/base/ids.js';
import { createKey, createWorkspace, useDeps } from '../../../support/fixture.js';
import { apiClient } from '../../../support/client.js';
import { refusal } from '../../../support/refusal.js';
import { createTable, deleteColumn } from '../../../support/tables.js';
import { loseAnswer } from '../../../support/lost-answers.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const plain = { array_type: null, default_value: null, object_fields: null, triggers: null, enum_options: null };
const system = [
  { ...plain, column_id: '_id', column_type: 'string', column_name: '_id' },
  { ...plain, column_id: 'row_id', column_type: 'number', column_name: 'Row ID', default_value: 1 },
  { ...plain, column_id: 'coworker_user_id', column_type: 'string', column_name: 'User ID' },
];
const stage = { column_name: 'Stage', column_type: 'enum', enum_options: ['new', 'won'], default_value: 'new' };

describe('POST /storage/{projectID}/table', () => {
  test('creates a table with the system columns, the given columns, and a connector', async () => {
    verifies('platform.tables.create', 'resource.table', 'resource.column', 'table.system-columns');
    const { api, projectID } = await createWorkspace(deps);
    const address = {
      column_name: 'Address',
      column_type: 'object',
      object_fields: [{ name: 'city', type: 'string', required: true }],
    };
    const made = await api.post(`/storage/${projectID}/table`, {
      table_name: 'Leads',
      columns: [stage, { column_name: 'Tags', column_type: 'array', array_type: 'string' }, address],
    });
    expect(made).toMatchObject({ status: 201 });
    expect(made.body).toEqual({
      _id: made.body._id,
      projectID,
      table_name: 'Leads',
      columns: [
        ...system,
        { ...plain, ...stage, column_id: 'stage' },
        { ...plain, column_name: 'Tags', column_type: 'array', array_type: 'string', column_id: 'tags' },
        { ...plain, ...address, column_id: 'address' },
      ],
      connector_id: made.body.connector_id,
      triggers: null,
      last_row_id: 0,
    });
    const connector = await api.get(
      `/actions/restful/config?projectID=${projectID}&connector_id=${made.body.connector_id}`,
    );
    expect(connector).toMatchObject({
      status: 200,
      body: { name: 'Leads', data_loader_config: { table_id: made.body._id } },
    });
  });

  test('refuses a name in use, and leaves nothing of the new table', async () => {
    const workspace = await createWorkspace(deps);
    const { api, projectID } = workspace;
    await createTable(workspace, [], 'Leads');
    const answers = await Promise.all(
      [1, 2, 3].map(() => api.post(`/storage/${projectID}/table`, { table_name: 'Leads' })),
    );
    for (const answer of answers) expect(answer).toMatchObject(refusal(409, 'conflict', 'Leads'));
    expect(await deps.mongo.collections.connectors.countDocuments({ projectID })).toBe(1);
    expect((await api.get(`/storage/${projectID}`)).body.total_count).toBe(1);
  });

  test('creates one table for one Idempotency-Key, also after a lost answer', async () => {
    const { api, projectID } = await createWorkspace(deps);
    const create = () =>
      api.post(
        `/storage/${projectID}/table`,
        { table_name: 'Once', columns: [stage] },
        { 'idempotency-key': newId() + projectID },
      );
    const key = { 'idempotency-key': newId() };
    const same = () => api.post(`/storage/${projectID}/table`, { table_name: 'Twice' }, key);
    expect(await create()).toMatchObject({ status: 201 });
    const first = await same();
    await deps.mongo.collections.idempotency.updateOne(
      { record_id: first.body._id },
      { $set: { answer: null, leased_until: new Date(0) } },
    );
    expect((await same()).body).toEqual(first.body);
    expect((await api.get(`/storage/${projectID}`)).body.total_count).toBe(2);
  });

  test.each([
    [400, 'table_name', {}],
    [400, 'colour', { table_name: 'T', colour: 'red' }],
    [400, 'columns.0.column_type', { table_name: 'T', columns: [{ column_name: 'A', column_type: 'text' }] }],
    [400, 'columns.0', { table_name: 'T', columns: [{ column_name: 'A', column_type: 'string', column_id: 'a' }] }],
    [
      400,
      'columns.0.object_fields.0.name',
      {
        table_name: 'T',
        columns: [{ column_name: 'A', column_type: 'object', object_fields: [{ name: '$where', type: 'string' }] }],
      },
    ],
    [422, 'enum_options', { table_name: 'T', columns: [{ column_name: 'A', column_type: 'enum' }] }],
    [
      422,
      'the option "won" must be unique',
      { table_name: 'T', columns: [{ ...stage, enum_options: ['won', 'new', 'won'] }] },
    ],
    [
      422,
      'object_fields: the name "city" must be unique',
      {
        table_name: 'T',
        columns: [
          {
            column_name: 'A',
            column_type: 'object',
            object_fields: [
              { name: 'city', type: 'string' },
              { name: 'city', type: 'number' },
            ],
          },
        ],
      },
    ],
    [400, 'table_name: must contain a visible character', { table_name: '\u200B\u00AD' }],
    [400, 'columns.0.column_name', { table_name: 'T', columns: [{ ...stage, column_name: '\u3164' }] }],
    [
      422,
      'does not match the type',
      { table_name: 'T', columns: [{ column_name: 'A', column_type: 'number', enum_options: ['x'] }] },
    ],
    [
      422,
      'default_value',
      { table_name: 'T', columns: [{ column_name: 'A', column_type: 'number', default_value: 'x' }] },
    ],
    [422, 'default_value', { table_name: 'T', columns: [{ ...stage, default_value: 'lost' }] }],
    [
      422,
      'must not exceed 1024 bytes',
      { table_name: 'T', columns: [{ column_name: 'A', column_type: 'string', default_value: 'x'.repeat(2000) }] },
    ],
    [
      422,
      'array_type',
      { table_name: 'T', columns: [{ column_name: 'A', column_type: 'string', array_type: 'string' }] },
    ],
    [
      422,
      'object_fields',
      {
        table_name: 'T',
        columns: [{ column_name: 'A', column_type: 'string', object_fields: [{ name: 'a', type: 'string' }] }],
      },
    ],
    [409, 'column_name', { table_name: 'T', columns: [stage, stage] }],
    [
      409,
      'column_name',
      { table_name: 'T', columns: ['\u00e9', 'e\u0301'].map((column_name) => ({ ...stage, column_name })) },
    ],
  ])('answers %i and names %s', async (status, field, body) => {
    const { api, projectID } = await createWorkspace(deps);
    const code = { 400: 'invalid_request', 409: 'conflict', 422: 'validation_failed' }[status] ?? '';
    expect(await api.post(`/storage/${projectID}/table`, body)).toMatchObject(refusal(status, code, field));
    expect((await api.get(`/storage/${projectID}`)).body).toEqual({ total_count: 0, tables: [], next_cursor: null });
  });

  test('generates column ids that are safe keys for any name', async () => {
    const workspace = await createWorkspace(deps);
    const names = [
      'Unit price (€)',
      'Straße',
      '$where',
      '__proto__',
      'constructor',
      '_ID',
      'row id',
      'a.b',
      '価格',
      '2024',
      'and',
      'Project ID',
      'unit PRICE',
    ];
    const { columns, insert, records } = await createTable(
      workspace,
      names.map((column_name) => ({ column_name, column_type: 'string' })),
    );
    const ids = columns.slice(3).map(({ column_id }) => column_id);
    expect(new Set(ids).size).toBe(names.length);
    for (const id of ids) expect(id).toMatch(/^[a-z][a-z0-9_]*$/);
    for (const taken of ['constructor', 'and', 'project_id', '_id', 'row_id']) expect(ids).not.toContain(taken);
    const values = Object.fromEntries(ids.map((id: string) => [id, `value of ${id}`]));
    expect(await insert(values)).toMatchObject({ status: 201, body: values });
    expect((await records()).data[0]).toMatchObject(values);
  });
});

describe('GET /storage/{projectID}', () => {
  test('pages through the tables of the project, newest first', async () => {
    verifies('platform.tables.list', 'platform.tables.names');
    const [workspace, other] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
    await createTable(other, [], 'Foreign');
    for (const name of ['A', 'B', 'C']) await createTable(workspace, [], name);
    const { api, projectID } = workspace;
    const first = await api.get(`/storage/${projectID}?limit=2`);
    expect(first).toMatchObject({
      status: 200,
      body: { total_count: 3, tables: [{ table_name: 'C' }, { table_name: 'B' }] },
    });
    const second = await api.get(`/storage/${projectID}?limit=2&cursor=${first.body.next_cursor}`);
    expect(second.body).toMatchObject({ total_count: 3, tables: [{ table_name: 'A' }], next_cursor: null });
    const names = await api.get(`/storage/${projectID}/table_names`);
    expect(names.body).toMatchObject({
      total_count: 3,
      table_names: [{ table_name: 'C' }, { table_name: 'B' }, { table_name: 'A' }],
      next_cursor: null,
    });
    expect(await api.get(`/storage/${other.projectID}`)).toMatchObject({ status: 403 });
  });
});

describe('POST /storage/{projectID}/database', () => {
  test('answers that the storage is ready, on every call', async () => {
    verifies('platform.tables.database');
    const workspace = await createWorkspace(deps);
    const { api, projectID } = workspace;
    const prepare = () => api.post(`/storage/${projectID}/database`);
    expect(await prepare()).toMatchObject({ status: 200, body: { projectID, status: 'ready', total_count: 0 } });
    const { insert } = await createTable(workspace, [stage]);
    await insert({});
    expect(await prepare()).toMatchObject({ status: 200, body: { projectID, status: 'ready', total_count: 1 } });
    expect((await api.get(`/storage/${projectID}`)).body.tables[0].last_row_id).toBe(1);
  });
});

describe('POST …/table/{table_id}/column', () => {
  test('adds a column, which is empty in old records and has the default in new ones', async () => {
    verifies('platform.tables.column-add');
    const workspace = await createWorkspace(deps);
    const { path, insert, records } = await createTable(workspace);
    await insert({});
    expect(await workspace.api.post(`${path}/column`, stage)).toMatchObject({
      status: 201,
      body: { ...plain, ...stage, column_id: 'stage' },
    });
    await insert({});
    expect((await records({ sort: 'row_id' })).data).toMatchObject([{ stage: null }, { stage: 'new' }]);
    expect(await workspace.api.post(`${path}/column`, stage)).toMatchObject(refusal(409, 'conflict', 'Stage'));
  });

  test('refuses a column if all columns together would exceed 1 MiB', async () => {
    const workspace = await createWorkspace(deps);
    const { path } = await createTable(workspace);
    const enum_options = Array.from({ length: 450 }, (_, at) => `${at}`.padEnd(500, '.'));
    const add = (column_name: string) =>
      workspace.api.post(`${path}/column`, { column_name, column_type: 'enum', enum_options });
    for (const name of ['A', 'B', 'C', 'D']) expect(await add(name)).toMatchObject({ status: 201 });
    expect(await add('E')).toMatchObject(refusal(422, 'validation_failed', '1 MiB'));
  });

  test('refuses a column if the ids of deleted columns would exceed 1 MiB, because each call reads them', async () => {
    const workspace = await createWorkspace(deps);
    const { _id, path } = await createTable(workspace);
    const retired_column_ids = Array.from({ length: 15_000 }, (_, at) => `${at}`.padStart(60, 'x'));
    await deps.mongo.collections.tables.updateOne({ _id }, { $set: { retired_column_ids } });
    expect(await workspace.api.post(`${path}/column`, stage)).toMatchObject(refusal(422, 'validation_failed', '1 MiB'));
  });

  test('keeps all of many concurrent columns, and creates one for one Idempotency-Key', async () => {
    const workspace = await createWorkspace(deps);
    const { path } = await createTable(workspace);
    const names = Array.from({ length: 8 }, (_, at) => `Column ${at}`);
    const answers = await Promise.all(
      names.map((column_name) => workspace.api.post(`${path}/column`, { column_name, column_type: 'string' })),
    );
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 201));
    const key = { 'idempotency-key': newId() };
    const again = () => workspace.api.post(`${path}/column`, { column_name: 'Once', column_type: 'string' }, key);
    const first = await again();
    await loseAnswer(deps, { workspace, route: `post ${path}/column`, key: key['idempotency-key'] });
    expect((await again()).body).toEqual(first.body);
    const [table] = (await workspace.api.get(`/storage/${workspace.projectID}`)).body.tables;
    expect(
      table.columns
        .slice(3)
        .map((column: any) => column.column_name)
        .sort(),
    ).toEqual([...names, 'Once'].sort());
  });
});

describe('DELETE /delete/column/{projectID}', () => {
  test('removes the column from the table and from every record', async () => {
    verifies('platform.tables.column-delete');
    const workspace = await createWorkspace(deps);
    const {
      _id: table_id,
      insert,
      records,
    } = await createTable(workspace, [stage, { column_name: 'Price', column_type: 'number' }]);
    await insert([{ price: 1, stage: 'won' }, { price: 2 }]);
    const deleted = await deleteColumn(
      workspace,
      { table_id, column_id: 'price' },
      `?projectId=${workspace.projectID}`,
    );
    expect(deleted).toEqual({ status: 200, body: expect.stringContaining('Price') });
    expect((await records({ sort: 'row_id' })).data).toEqual([
      { _id: expect.any(String), row_id: 1, coworker_user_id: workspace.userId, stage: 'won' },
      { _id: expect.any(String), row_id: 2, coworker_user_id: workspace.userId, stage: 'new' },
    ]);
    expect(await deps.mongo.db.collection(`table_${table_id}`).countDocuments({ price: { $exists: true } })).toBe(0);
    expect(await insert({ price: 3 })).toMatchObject(refusal(422, 'validation_failed', 'price'));
    expect(await deleteColumn(workspace, { table_id, column_id: 'price' })).toMatchObject(refusal(404, 'not_found'));
  });

  test('gives a later column of the same name a new id', async () => {
    const workspace = await createWorkspace(deps);
    const { _id: table_id, path, insert } = await createTable(workspace, [stage]);
    await deleteColumn(workspace, { table_id, column_id: 'stage' });
    expect(await workspace.api.post(`${path}/column`, { column_name: 'Stage', column_type: 'number' })).toMatchObject({
      status: 201,
      body: { column_id: 'stage_2' },
    });
    expect(await insert({ stage_2: 5 })).toMatchObject({ status: 201, body: { stage_2: 5 } });
  });

  test('accepts no value for the column while it is being removed', async () => {
    const workspace = await createWorkspace(deps);
    const {
      _id: table_id,
      path,
      insert,
    } = await createTable(workspace, [{ column_name: 'Price', column_type: 'number' }]);
    const { body: row } = await insert({ price: 0 });
    const writes = Array.from({ length: 10 }, (_, at) => [
      insert({ price: at }),
      workspace.api.put(`${path}/records/${row._id}`, { price: at }),
    ]).flat();
    const [deleted, ...answers] = await Promise.all([
      deleteColumn(workspace, { table_id, column_id: 'price' }),
      ...writes,
    ]);
    expect(deleted.status).toBe(200);
    for (const { status } of answers) expect([200, 201, 422]).toContain(status);
    expect(await deps.mongo.db.collection(`table_${table_id}`).countDocuments({ price: { $exists: true } })).toBe(0);
  });

  test('refuses system columns, unknown and foreign tables', async () => {
    const [workspace, other] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
    const { _id: table_id } = await createTable(workspace);
    for (const column_id of ['_id', 'row_id', 'coworker_user_id']) {
      expect(await deleteColumn(workspace, { table_id, column_id })).toMatchObject(
        refusal(422, 'validation_failed', column_id),
      );
    }
    expect(await deleteColumn(workspace, { table_id: 'no table', column_id: 'a' })).toMatchObject(
      refusal(404, 'not_found'),
    );
    expect(await deleteColumn(other, { table_id, column_id: 'row_id' })).toMatchObject(refusal(404, 'not_found'));
    expect(await deleteColumn(workspace, { table_id, column_id: 'a' }, `?projectId=${other.projectID}`)).toMatchObject(
      refusal(400, 'invalid_request'),
    );
    expect(await deleteColumn(workspace, { table_id, column_id: 'a', colour: 1 })).toMatchObject(
      refusal(400, 'invalid_request', 'colour'),
    );
  });

  test('requires svc:orchestrate.write', async () => {
    const workspace = await createWorkspace(deps);
    const { _id: table_id, path } = await createTable(workspace, [stage]);
    const apiKey = await createKey(deps, workspace, { grants: ['svc:orchestrate.read'] });
    const reader = { ...workspace, apiKey, api: apiClient(workspace.api.url, { 'x-api-key': apiKey }) };
    expect(await deleteColumn(reader, { table_id, column_id: 'stage' })).toMatchObject(refusal(403, 'access_denied'));
    expect(await reader.api.post(`${path}/row`, {})).toMatchObject(refusal(403, 'access_denied'));
    expect(await reader.api.get(`${path}/records`)).toMatchObject({ status: 200 });
  });
});
