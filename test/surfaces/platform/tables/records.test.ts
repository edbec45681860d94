import { describe, expect, test } from '@jest/globals';
import { newId } from '../../../../src/base/ids.js';
import { createWorkspace, useDeps } from '../../../support/fixture.js';
import { refusal } from '../../../support/refusal.js';
import { createTable, type TestTable } from '../../../support/tables.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const columns = [
  { column_name: 'Name', column_type: 'string' },
  { column_name: 'Price', column_type: 'number' },
  { column_name: 'Open', column_type: 'boolean' },
  { column_name: 'Tags', column_type: 'array' },
  { column_name: 'Box', column_type: 'object' },
  { column_name: 'Stage', column_type: 'enum', enum_options: ['new', 2, true] },
];
const rows = [
  { name: 'Fjord Foods', price: 10, open: true, tags: ['a', 'b'], box: { x: 1 }, stage: 'new' },
  { name: 'fjord (old)', price: 2.5, open: false, tags: [9], box: { x: 0, y: 1 }, stage: 2 },
  { name: 'a.*+?^${}()|[]\\/b', price: -1, open: true, tags: [], box: {}, stage: true },
  { name: '', price: 10, open: null, tags: null, box: null, stage: null },
  { name: null, price: null, open: false, tags: [[1], 2], box: { x: [1] }, stage: 'new' },
  { name: 'Ærø', price: 0, tags: [1, 'a'], box: { x: 1 } },
];

async function filled(): Promise<TestTable & { workspace: Awaited<ReturnType<typeof createWorkspace>> }> {
  const workspace = await createWorkspace(deps);
  const table = await createTable(workspace, columns);
  expect(await table.insert(rows)).toMatchObject({ status: 201 });
  return { ...table, workspace };
}
const found = async ({ records }: TestTable, filter: unknown) => {
  const { data, total_count } = await records({ filter: JSON.stringify(filter), sort: 'row_id' });
  expect(total_count).toBe(data.length);
  return data.map(({ row_id }: any) => row_id);
};

describe('GET …/records', () => {
  test('filters by every operator', async () => {
    verifies('platform.tables.records', 'table.ignore-case');
    const table = await filled();
    const cases: [unknown, number[]][] = [
      [{}, [1, 2, 3, 4, 5, 6]],
      [{ price: 10 }, [1, 4]],
      [{ price: null }, [5]],
      [{ open: null }, [4, 6]],
      [{ open: true }, [1, 3]],
      [{ price: { ne: 10 } }, [2, 3, 5, 6]],
      [{ price: { gt: 0, lte: 10 } }, [1, 2, 4]],
      [{ price: { gte: 0, lt: 10 } }, [2, 6]],
      [{ price: { in: [0, -1, null] } }, [3, 5, 6]],
      [{ price: { nin: [10] } }, [2, 3, 5, 6]],
      [{ stage: { in: ['new', 2] } }, [1, 2, 5]],
      [{ name: { contains: 'jord' } }, [1, 2]],
      [{ name: { starts_with: 'fjord' } }, [2]],
      [{ name: { starts_with: 'FJORD', ignore_case: true } }, [1, 2]],
      [{ name: { eq: 'fJORD FOODS', ignore_case: true } }, [1]],
      [{ name: { eq: 'fJORD FOOD', ignore_case: true } }, []],
      [{ name: { eq: '.*', ignore_case: true } }, []],
      [{ name: { ne: 'fJORD FOODS', ignore_case: true } }, [2, 3, 4, 5, 6]],
      [{ name: { in: ['fJORD FOODS', ''], ignore_case: true } }, [1, 4]],
      [{ stage: { in: ['NEW', 2], ignore_case: true } }, [1, 2, 5]],
      [{ name: { nin: ['fJORD FOODS'], ignore_case: true } }, [2, 3, 4, 5, 6]],
      [{ name: { contains: '.*+?^${}()|[]\\/' } }, [3]],
      [{ name: { contains: '.*' } }, [3]],
      [{ name: { contains: '(' } }, [2, 3]],
      [{ tags: { contains: 'a' } }, [1, 6]],
      [{ tags: { exists: false } }, [4]],
      [{ box: { exists: true } }, [1, 2, 3, 5, 6]],
      [{ row_id: { gte: 3 }, price: { exists: true } }, [3, 4, 6]],
      [{ coworker_user_id: table.workspace.userId }, [1, 2, 3, 4, 5, 6]],
      [{ or: [{ price: 0 }, { name: 'Fjord Foods' }] }, [1, 6]],
      [{ and: [{ price: 10 }, { not: { name: '' } }] }, [1]],
      [{ not: { or: [{ price: { gt: 0 } }, { price: null }] } }, [3, 6]],
    ];
    for (const [filter, expected] of cases) expect([filter, await found(table, filter)]).toEqual([filter, expected]);
  });

  test('refuses operators of the record store and patterns', async () => {
    verifies('table.filter-safe');
    const table = await filled();
    const nested = (depth: number): object => (depth === 0 ? { price: 1 } : { not: nested(depth - 1) });
    const bad: [unknown, string][] = [
      [{ $where: 'while(true){}' }, '$where'],
      [{ $expr: { $gt: ['$price', 0] } }, '$expr'],
      [{ $or: [{ price: 1 }] }, '$or'],
      [{ and: [{ $where: '1' }] }, '$where'],
      [{ not: { $expr: {} } }, '$expr'],
      [{ price: { $gt: 0 } }, '$gt'],
      [{ name: { $regex: '(a+)+$' } }, '$regex'],
      [{ name: { regex: '(a+)+$' } }, 'is not an operator'],
      [{ name: { gt: 'a', ignore_case: true } }, 'does not support ignore_case'],
      [{ price: { eq: 1, ignore_case: true } }, 'only for string and enum columns'],
      [{ tags: { contains: 'a', ignore_case: true } }, 'does not support ignore_case'],
      [{ name: { eq: { $gt: '' } } }, 'must be a string'],
      [{ name: { ne: { $where: '1' } } }, 'must be a string'],
      [{ name: { in: [{ $regex: 'a' }] } }, 'must be a string'],
      [{ name: { contains: { $regex: 'a' } } }, 'must be a string'],
      [{ tags: { contains: { $where: '1' } } }, 'must be a string'],
      [{ price: { exists: { $gt: 0 } } }, 'true or false'],
      [{ name: { toString: 'a' } }, 'is not an operator'],
      [{ 'name.$where': 1 }, 'is not a column of the table'],
      [{ colour: 1 }, 'is not a column of the table'],
      [{ Price: 1 }, 'its column_id is price'],
      [{ price: '10' }, 'must be a number'],
      [{ price: {} }, 'at least one operator'],
      [{ price: [1] }, 'must be an object'],
      [{ tags: 'a' }, 'not supported for array columns'],
      [{ name: { contains: 'a\0' } }, 'NUL'],
      [{ name: { contains: 'a'.repeat(501) } }, '500'],
      [{ price: { in: Array.from({ length: 201 }, () => 1) } }, '200'],
      [nested(6), 'nested deeper'],
      [{ or: Array.from({ length: 101 }, () => ({ price: 1 })) }, '100 conditions'],
      [{ or: [] }, 'array of filters'],
      [[], 'must be an object'],
      [null, 'must be an object'],
    ];
    for (const [filter, problem] of bad) {
      const answer = await table.workspace.api.get(
        `${table.path}/records?${new URLSearchParams({ filter: JSON.stringify(filter) }).toString()}`,
      );
      expect([filter, answer]).toMatchObject([filter, refusal(400, 'invalid_request', problem)]);
    }
    expect(
      await table.workspace.api.get(
        `${table.path}/records?filter=${encodeURIComponent('{"__proto__": {"price": 1}}')}`,
      ),
    ).toMatchObject({ status: 400 });
    expect(await table.workspace.api.get(`${table.path}/records?filter=nonsense`)).toMatchObject(
      refusal(400, 'invalid_request', 'JSON'),
    );
    expect(await table.workspace.api.get(`${table.path}/records?filter[price][$gt]=0`)).toMatchObject(
      refusal(400, 'invalid_request', 'unknown query parameter'),
    );
  });

  test('answers a text that would cause catastrophic backtracking in a pattern', async () => {
    verifies('table.filter-safe');
    const workspace = await createWorkspace(deps);
    const table = await createTable(workspace, columns);
    await table.insert({ name: `${'a'.repeat(50_000)}!` });
    expect(await found(table, { name: { contains: '(a+)+$', ignore_case: true } })).toEqual([]);
    expect(await found(table, { name: { contains: `${'a'.repeat(400)}!`, ignore_case: true } })).toEqual([1]);
  });

  test.each(['row_id', '_id', 'coworker_user_id', 'name', 'price', 'open', 'tags', 'box', 'stage'])(
    'pages by %s in both directions: each record once, in one order',
    async (sort) => {
      verifies('platform.tables.records');
      const { records } = await filled();
      for (const order of [sort, `-${sort}`]) {
        const whole = await records({ sort: order });
        const paged: any[] = [];
        for (let cursor: string | null = ''; cursor !== null && paged.length < 10;) {
          const page: any = await records({ sort: order, limit: '1', ...(cursor === '' ? {} : { cursor }) });
          expect(page.total_count).toBe(6);
          paged.push(...page.data);
          cursor = page.next_cursor;
        }
        expect(paged).toEqual(whole.data);
        expect(new Set(paged.map(({ row_id }) => row_id)).size).toBe(6);
      }
      const up = (await records({ sort })).data.map(({ row_id }: any) => row_id);
      const down = (await records({ sort: `-${sort}` })).data.map(({ row_id }: any) => row_id);
      expect(down).toEqual([...up].reverse());
    },
  );

  test('sorts by value, records without one first', async () => {
    const { records } = await filled();
    const prices = (await records({ sort: 'price' })).data.map(({ price }: any) => price);
    expect(prices).toEqual([null, -1, 0, 2.5, 10, 10]);
    expect((await records({ sort: 'tags' })).data.map(({ tags }: any) => tags?.length ?? null)).toEqual([
      null,
      0,
      1,
      2,
      2,
      2,
    ]);
    expect((await records({ sort: '-box' })).data.map(({ row_id }: any) => row_id)).toEqual([2, 6, 5, 1, 3, 4]);
    expect((await records()).data.map(({ row_id }: any) => row_id)).toEqual([6, 5, 4, 3, 2, 1]);
  });

  test('keeps its pages while records are added and the record of the cursor is deleted', async () => {
    const { records, insert, workspace, path } = await filled();
    const first = await records({ sort: '-price', limit: '3' });
    expect(first.data.map(({ row_id }: any) => row_id)).toEqual([4, 1, 2]);
    await insert([{ price: 11 }, { price: 2.5 }, { price: 1 }]);
    await workspace.api.delete(`${path}/records/${first.data[2]._id}`);
    const second = await records({ sort: '-price', limit: '10', cursor: first.next_cursor });
    expect(second.data.map(({ row_id }: any) => row_id)).toEqual([9, 6, 3, 5]);
  });

  test.each([
    ['longer than a cursor', 'x'.repeat(5000)],
    ['short, but not in UTF-8', '価'.repeat(995)],
  ])('pages over values that are %s', async (_, long) => {
    const workspace = await createWorkspace(deps);
    const { insert, records } = await createTable(workspace, columns);
    await insert([1, 2, 3].map((at) => ({ name: `${long}${at}` })));
    const first = await records({ sort: 'name', limit: '1' });
    expect((await records({ sort: 'name', cursor: first.next_cursor })).data.map(({ row_id }: any) => row_id)).toEqual([
      2, 3,
    ]);
  });

  test('refuses invalid sort columns and foreign cursors', async () => {
    const { workspace, path, records } = await filled();
    const list = (query: Record<string, string>) =>
      workspace.api.get(`${path}/records?${new URLSearchParams(query).toString()}`);
    expect(await list({ sort: 'colour' })).toMatchObject(refusal(400, 'invalid_request', 'colour'));
    expect(await list({ sort: '-Price' })).toMatchObject(refusal(400, 'invalid_request', 'its column_id is price'));
    expect(await list({ sort: '$where' })).toMatchObject(refusal(400, 'invalid_request', '$where'));
    for (const [sort, id] of [
      ['', ''],
      ['-', ''],
      ['--price', '-price'],
    ] as const)
      expect(await list({ sort })).toMatchObject(
        refusal(400, 'invalid_request', `sort: "${id}" is not a column of the table`),
      );
    const { next_cursor } = await records({ sort: 'price', limit: '1' });
    expect(await list({ sort: '-price', cursor: next_cursor })).toMatchObject(
      refusal(400, 'invalid_request', 'cursor'),
    );
    const forged = (content: unknown) => Buffer.from(JSON.stringify(content)).toString('base64url');
    for (const content of [
      'x',
      null,
      7,
      [],
      {},
      { s: 'price', r: { $gt: 0 } },
      { s: 'price', r: 1, v: { $gt: '' } },
      { s: 'price', r: 1, v: [1] },
    ]) {
      expect(await list({ sort: 'price', cursor: forged(content) })).toMatchObject(
        refusal(400, 'invalid_request', 'cursor'),
      );
    }
    expect(await list({ sort: 'box', cursor: forged({ s: 'box', r: 0, v: { $where: 'true' } }) })).toMatchObject(
      refusal(400, 'invalid_request', 'cursor'),
    );
    expect(await list({ sort: 'box', cursor: forged({ s: 'box', r: 0, v: '$name' }) })).toMatchObject({ status: 200 });
    expect(await list({ limit: '0' })).toMatchObject({ status: 400 });
    expect(await list({ limit: '201' })).toMatchObject({ status: 400 });
  });
});

describe('…/records/{record_id}', () => {
  test('reads one record', async () => {
    verifies('platform.tables.record-get');
    const { workspace, path, records } = await filled();
    const { data } = await records();
    expect(await workspace.api.get(`${path}/records/${data[2]._id}`)).toMatchObject({ status: 200, body: data[2] });
    for (const id of [newId(), 'nonsense', '$where', '%00'])
      expect(await workspace.api.get(`${path}/records/${id}`)).toMatchObject(refusal(404, 'not_found'));
  });

  test('changes the given columns and keeps the others', async () => {
    verifies('platform.tables.record-update');
    const { workspace, path, records } = await filled();
    const [record] = (await records({ sort: 'row_id' })).data;
    const write = (body: unknown) => workspace.api.put(`${path}/records/${record._id}`, body);
    const written = { ...record, price: 11, name: null, coworker_user_id: 'another' };
    expect(await write({ price: 11, name: null, coworker_user_id: 'another' })).toMatchObject({
      status: 200,
      body: written,
    });
    expect(await write(written)).toMatchObject({ status: 200, body: written });
    expect((await workspace.api.get(`${path}/records/${record._id}`)).body).toEqual(written);
    expect(await write({ price: 'x' })).toMatchObject(refusal(422, 'validation_failed', 'price'));
    expect(await write({ colour: 'x' })).toMatchObject(refusal(422, 'validation_failed', 'colour'));
    expect(await write({ row_id: 9 })).toMatchObject(refusal(422, 'validation_failed', 'row_id'));
    expect(await write({ _id: newId() })).toMatchObject(refusal(422, 'validation_failed', '_id'));
    expect((await workspace.api.get(`${path}/records/${record._id}`)).body).toEqual(written);
    expect(await workspace.api.put(`${path}/records/${newId()}`, { price: 1 })).toMatchObject(
      refusal(404, 'not_found'),
    );
  });

  test('limits a record to 4 MiB', async () => {
    verifies('platform.tables.record-update');
    const workspace = await createWorkspace(deps);
    const names = ['A', 'B', 'C', 'D', 'E'];
    const { path, insert } = await createTable(
      workspace,
      names.map((column_name) => ({ column_name, column_type: 'string' })),
    );
    const { body: row } = await insert({});
    const answers = [];
    for (const name of names)
      answers.push(
        await workspace.api.put(`${path}/records/${row._id}`, { [name.toLowerCase()]: 'x'.repeat(1_000_000) }),
      );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 413]);
    expect(answers.at(-1)).toMatchObject(refusal(413, 'payload_too_large', '4 MiB'));
    expect((await workspace.api.get(`${path}/records/${row._id}`)).body.e).toBeNull();
  });

  test('deletes one record once, and does not reuse its row id', async () => {
    verifies('platform.tables.record-delete');
    const { _id, workspace, path, records, insert } = await filled();
    const [last] = (await records()).data;
    const answers = await Promise.all([1, 2, 3, 4].map(() => workspace.api.delete(`${path}/records/${last._id}`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404]);
    expect(answers.find(({ status }) => status === 200)?.body).toEqual(last);
    expect(await workspace.api.get(`${path}/records/${last._id}`)).toMatchObject({ status: 404 });
    expect(await insert({})).toMatchObject({ body: { row_id: 7 } });
    expect((await records()).total_count).toBe(6);
    expect(await deps.mongo.collections.tables.findOne({ _id })).toMatchObject({ row_count: 6, pending: {} });
  });

  test('does not restore a row whose insert was pending when it was deleted', async () => {
    const { _id, workspace, path, records } = await filled();
    const [row] = (await records()).data;
    await deps.mongo.collections.tables.updateOne(
      { _id },
      { $set: { 'pending.slow': { kind: 'insert', at: 1, rows: [row] } } },
    );
    expect(await workspace.api.delete(`${path}/records/${row._id}`)).toMatchObject({ status: 200 });
    expect((await records()).data.map(({ row_id }: any) => row_id)).toEqual([5, 4, 3, 2, 1]);
  });
});
