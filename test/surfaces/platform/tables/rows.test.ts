import { describe, expect, test } from '@jest/globals';
import { setPlan } from '../../../../src/domain/customers/operations/account.js';
import { newId } from '../../../../src/base/ids.js';
import { epochSeconds } from '../../../../src/base/time.js';
import { createWorkspace, useDeps } from '../../../support/fixture.js';
import { useOwnApp } from '../../../support/own-app.js';
import { refusal } from '../../../support/refusal.js';
import { createTable, deleteColumn } from '../../../support/tables.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
/** The API in this process, in addition to the shared API process. */
const here = useOwnApp();
const { tables, idempotency } = deps.mongo.collections;
const numbers = (count: number, from = 1) => Array.from({ length: count }, (_, at) => at + from);
const rowIds = (records: { row_id: number }[]) => records.map(({ row_id }) => row_id).sort((a, b) => a - b);
const price = { column_name: 'Price', column_type: 'number', default_value: 7 };

describe('POST …/table/{table_id}/row', () => {
  test('inserts one record, or a list of up to 1,000 in its order', async () => {
    verifies('platform.tables.row-insert');
    const workspace = await createWorkspace(deps);
    const { insert, records } = await createTable(workspace, [price]);
    const one = await insert({ price: 1.5 });
    expect(one).toEqual({
      status: 201,
      headers: expect.anything(),
      body: { _id: one.body._id, row_id: 1, coworker_user_id: workspace.userId, price: 1.5 },
    });
    const many = await insert(numbers(1000).map((at) => ({ price: at, coworker_user_id: `user ${at}` })));
    expect(many.status).toBe(201);
    expect(many.body.map((record: any) => [record.row_id, record.price, record.coworker_user_id])).toEqual(
      numbers(1000).map((at) => [at + 1, at, `user ${at}`]),
    );
    expect((await records({ limit: '1' })).total_count).toBe(1001);
    for (const body of [numbers(1001).map(() => ({})), [1], '7', 'null', undefined])
      expect(await insert(body)).toMatchObject(refusal(400, 'invalid_request', 'an array of 1 to 1,000 records'));
    expect(await insert([])).toMatchObject(refusal(400, 'invalid_request'));
    expect((await records({ limit: '1' })).total_count).toBe(1001);
  });

  test('gives 50 concurrent inserts through two processes 50 consecutive row ids', async () => {
    verifies('table.row-id-gapless');
    const workspace = await createWorkspace(deps);
    const { insert, records, path } = await createTable(workspace, [price]);
    const second = here.through(workspace);
    const answers = await Promise.all(
      numbers(50).map((at) => (at % 2 ? insert({ price: at }) : second.api.post(`${path}/row`, { price: at }))),
    );
    expect(answers.map(({ status }) => status)).toEqual(numbers(50).map(() => 201));
    expect(rowIds(answers.map(({ body }) => body))).toEqual(numbers(50));
    expect(rowIds((await records()).data)).toEqual(numbers(50));
    expect((await workspace.api.get(`/storage/${workspace.projectID}`)).body.tables[0].last_row_id).toBe(50);
  });

  test('uses the current columns of the table, whichever process changed them', async () => {
    verifies('table.row-id-gapless', 'table.row-limit');
    const workspace = await createWorkspace(deps);
    const table = await createTable(workspace, [price]);
    const other = here.through(workspace);
    const insertThere = (record: object) => other.api.post(`${table.path}/row`, record);
    await setPlan(deps.mongo.collections, workspace.organizationId, { number_of_rows_per_table: 3 });
    expect(await table.insert({})).toMatchObject({ status: 201, body: { row_id: 1 } });
    expect(await insertThere({})).toMatchObject({ status: 201, body: { row_id: 2 } });
    expect(
      await other.api.post(`${table.path}/column`, {
        column_name: 'Stage',
        column_type: 'string',
        default_value: 'new',
      }),
    ).toMatchObject({ status: 201 });
    const third = await table.insert({ stage: 'won' });
    expect(third).toMatchObject({ status: 201, body: { row_id: 3, stage: 'won' } });
    expect(await table.insert({})).toMatchObject(
      refusal(403, 'plan_limit', 'number_of_rows_per_table: the plan allows 3, 3 are in use'),
    );
    expect(await other.api.delete(`${table.path}/records/${third.body._id}`)).toMatchObject({ status: 200 });
    expect(await deleteColumn(other, { table_id: table._id, column_id: 'stage' })).toMatchObject({ status: 200 });
    expect(await table.insert({ stage: 'lost' })).toMatchObject(refusal(422, 'validation_failed', 'stage'));
    const { body: fourth } = await table.insert({});
    expect(fourth).toEqual({ _id: fourth._id, row_id: 4, coworker_user_id: workspace.userId, price: 7 });
  });

  test('leaves no gap if requests among them are refused', async () => {
    const workspace = await createWorkspace(deps);
    const { insert, records } = await createTable(workspace, [price]);
    const answers = await Promise.all(
      numbers(30).map((at) => insert(at % 3 === 0 ? [{ price: at }, { price: 'no' }] : { price: at })),
    );
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(10);
    expect(rowIds((await records()).data)).toEqual(numbers(20));
  });

  test('completes the insert of a process that died between taking the row ids and writing the rows', async () => {
    verifies('table.row-id-gapless');
    const workspace = await createWorkspace(deps);
    const { _id, insert, records } = await createTable(workspace, [price]);
    await insert([{}, {}]);
    const row = (row_id: number) => ({ _id: newId(), row_id, coworker_user_id: 'u', price: row_id });
    const left = { kind: 'insert' as const, at: epochSeconds() - 60, rows: [row(3), row(4)] };
    await tables.updateOne(
      { _id },
      { $set: { 'pending.dead': left }, $inc: { last_row_id: 2, row_count: 2, intents: 1 } },
    );
    expect(await insert({ price: 5 })).toMatchObject({ status: 201, body: { row_id: 5 } });
    expect(await records({ sort: 'row_id' })).toMatchObject({
      total_count: 5,
      data: numbers(5).map((row_id) => ({ row_id })),
    });

    const last = { ...left, rows: [row(6)] };
    await tables.updateOne(
      { _id },
      { $set: { 'pending.dead': last }, $inc: { last_row_id: 1, row_count: 1, intents: 1 } },
    );
    expect((await records()).data[0]).toMatchObject({ row_id: 6, price: 6 });
    expect(await tables.findOne({ _id })).toMatchObject({ pending: {}, row_count: 6, last_row_id: 6 });
  });

  test('corrects the count after a process died during a delete', async () => {
    const workspace = await createWorkspace(deps);
    const { _id, insert, records } = await createTable(workspace, [price]);
    const { body: rows } = await insert([{}, {}, {}]);
    const left = (record_id: string) => ({ kind: 'delete' as const, at: epochSeconds() - 60, record_id });
    await deps.mongo.db.collection<{ _id: string }>(`table_${_id}`).deleteOne({ _id: rows[0]._id });
    await tables.updateOne(
      { _id },
      { $set: { 'pending.delete-a': left(rows[0]._id), 'pending.delete-b': left(rows[1]._id) }, $inc: { intents: 2 } },
    );
    expect(await records()).toMatchObject({ total_count: 1, data: [{ row_id: 3 }] });
    expect(await tables.findOne({ _id })).toMatchObject({ pending: {}, row_count: 1 });
  });

  test('refuses an integer that would be stored with other digits', async () => {
    const { insert, records } = await createTable(await createWorkspace(deps), [price]);
    expect(await insert('{"price":9007199254740993}')).toMatchObject(
      refusal(400, 'invalid_request', 'the integer 9007199254740993 is too large'),
    );
    expect(await insert('{"price":-9007199254740991}')).toMatchObject({
      status: 201,
      body: { price: Number.MIN_SAFE_INTEGER },
    });
    expect((await records()).total_count).toBe(1);
  });

  test('inserts once for one Idempotency-Key, also concurrently and after a lost answer', async () => {
    const workspace = await createWorkspace(deps);
    const { insert, records } = await createTable(workspace, [price]);
    const key = { 'idempotency-key': newId() };
    const body = [{ price: 1 }, { price: 2 }];
    const [first, second] = await Promise.all([insert(body, key), insert(body, key)]);
    expect(second.body).toEqual(first.body);
    const lose = () =>
      idempotency.updateOne({ record_id: first.body[0]._id }, { $set: { answer: null, leased_until: new Date(0) } });
    expect((await lose()).matchedCount).toBe(1);
    expect((await insert(body, key)).body).toEqual(first.body);
    expect((await records()).total_count).toBe(2);
    expect(await insert([{ price: 3 }], key)).toMatchObject(refusal(409, 'conflict'));
  });

  test('returns to a repeat the rows that its first attempt left pending', async () => {
    const workspace = await createWorkspace(deps);
    const { _id, insert, records } = await createTable(workspace, [price]);
    const key = { 'idempotency-key': newId() };
    const { body: row } = await insert({ price: 1 }, key);
    await deps.mongo.db.collection<{ _id: string }>(`table_${_id}`).deleteOne({ _id: row._id });
    await tables.updateOne({ _id }, { $set: { 'pending.young': { kind: 'insert', at: epochSeconds(), rows: [row] } } });
    await idempotency.updateOne({ record_id: row._id }, { $set: { answer: null, leased_until: new Date(0) } });
    expect((await insert({ price: 1 }, key)).body).toEqual(row);
    expect(await records()).toMatchObject({ total_count: 1, data: [row] });
  });

  const typed = [
    { column_name: 'Text', column_type: 'string' },
    { column_name: 'Count', column_type: 'integer', default_value: 3 },
    { column_name: 'Open', column_type: 'boolean', default_value: false },
    { column_name: 'Due', column_type: 'date' },
    { column_name: 'Stage', column_type: 'enum', enum_options: ['new', 'won'] },
    { column_name: 'Size', column_type: 'number', enum_options: [1, 2.5] },
    { column_name: 'Tags', column_type: 'array', array_type: 'string' },
    { column_name: 'Levels', column_type: 'array', enum_options: ['a', 'b'] },
    {
      column_name: 'Address',
      column_type: 'object',
      object_fields: [
        { name: 'city', type: 'string', required: true },
        { name: 'floor', type: 'integer' },
      ],
    },
    { column_name: 'Any', column_type: 'object' },
  ];

  test('stores values of every type, the default for a missing value and null for null', async () => {
    verifies('table.values-checked');
    const workspace = await createWorkspace(deps);
    const { insert } = await createTable(workspace, typed);
    const values = {
      text: 'ä',
      count: 0,
      open: true,
      due: 1_760_000_000.5,
      stage: 'won',
      size: 2.5,
      tags: ['x', ''],
      levels: ['b', 'a'],
      address: { city: 'Oslo', floor: 2 },
      any: { deep: [{ x: null }] },
    };
    expect(await insert(values)).toMatchObject({ status: 201, body: values });
    expect((await insert({})).body).toMatchObject({
      text: null,
      count: 3,
      open: false,
      due: null,
      stage: null,
      tags: null,
      address: null,
    });
    expect((await insert({ count: null, open: null })).body).toMatchObject({ count: null, open: null });
  });

  test.each([
    ['text', { text: 5 }],
    ['count', { count: 1.5 }],
    ['open', { open: 'true' }],
    ['due', { due: '2026-01-01' }],
    ['due: must be a number of epoch seconds from', { due: 1e300 }],
    ['due', { due: -1.1e12 }],
    ['stage', { stage: 'lost' }],
    ['size', { size: 2 }],
    ['tags', { tags: 'x' }],
    ['tags: element 1', { tags: ['x', 1] }],
    ['levels', { levels: ['a', 'c'] }],
    ['address: must have the field city', { address: { floor: 1 } }],
    ['address: floor', { address: { city: 'Oslo', floor: 'two' } }],
    ['address: must not have the field "zip"', { address: { city: 'Oslo', zip: 1 } }],
    ['any', { any: [1] }],
    ['any', { any: { deep: [{ $where: '1' }] } }],
    ['colour', { colour: 'red' }],
    ['Text: is the name of a column; its column_id is text', { Text: 'x' }],
    ['$set', { $set: { count: 1 } }],
    ['a.b', { 'a.b': 1 }],
    ['toString', { toString: 'x' }],
    ['_id', { _id: newId() }],
    ['row_id', { row_id: 9 }],
    ['coworker_user_id', { coworker_user_id: 7 }],
  ])('refuses an invalid %s with the whole list', async (named, record) => {
    verifies('table.values-checked');
    const workspace = await createWorkspace(deps);
    const { insert, records } = await createTable(workspace, typed);
    expect(await insert(record)).toMatchObject(refusal(422, 'validation_failed', named));
    expect(await insert([{}, record])).toMatchObject(refusal(422, 'validation_failed', `1.${named}`));
    expect((await records()).total_count).toBe(0);
  });

  test('refuses bytes that are not UTF-8 instead of storing another text', async () => {
    verifies('table.values-checked');
    const workspace = await createWorkspace(deps);
    const { insert, records } = await createTable(workspace, typed);
    const answer = await insert(Buffer.from('{"text":"café"}', 'latin1'));
    expect(answer).toMatchObject(refusal(400, 'invalid_request', 'the body is not valid UTF-8'));
    expect((await records()).total_count).toBe(0);
  });

  test('answers 404 for an unknown or foreign table', async () => {
    const [workspace, other] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
    const { _id } = await createTable(workspace);
    expect(await other.api.post(`/storage/${other.projectID}/table/${_id}/row`, {})).toMatchObject(
      refusal(404, 'not_found'),
    );
    expect(await workspace.api.post(`/storage/${workspace.projectID}/table/nonsense/row`, {})).toMatchObject(
      refusal(404, 'not_found'),
    );
    expect(await other.api.post(`/storage/${workspace.projectID}/table/${_id}/row`, {})).toMatchObject(
      refusal(403, 'access_denied'),
    );
    expect(await tables.findOne({ _id })).toMatchObject({ row_count: 0, last_row_id: 0 });
  });
});
