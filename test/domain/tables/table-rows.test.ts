import { expect, test } from '@jest/globals';
import type { Db } from 'mongodb';
import { memberOf } from '../../../src/auth/principal.js';
import { createRowInserter } from '../../../src/domain/tables/insert.js';
import { readTableRows } from '../../../src/domain/tables/operations.js';
import { newId } from '../../../src/base/ids.js';
import { createWorkspace, useDeps } from '../../support/fixture.js';
import { createTable } from '../../support/tables.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();

test('readTableRows returns rows in order, keyed by the id and name of the current columns', async () => {
  verifies('platform.tables.column-delete');
  const workspace = await createWorkspace(deps);
  const { projectID } = workspace;
  const { _id, insert } = await createTable(workspace, [{ column_name: 'Unit price', column_type: 'number' }]);
  const { body: rows } = await insert([1, 2, 3].map((unit_price) => ({ unit_price })));
  // Simulates a deleted column whose data the workflow has not removed yet.
  await deps.mongo.db.collection(`table_${_id}`).updateMany({}, { $set: { removed: 'secret' } });
  const [second, third, ...others] = await readTableRows(deps.mongo, projectID, _id, 1, 2);
  const values = (at: number) => ({ ...rows[at], 'Row ID': at + 1, 'User ID': workspace.userId, 'Unit price': at + 1 });
  expect([second, third, others]).toEqual([
    { _id: rows[1]._id, row_id: 2, values: values(1) },
    { _id: rows[2]._id, row_id: 3, values: values(2) },
    [],
  ]);
  expect(await readTableRows(deps.mongo, projectID, _id, 3, 2)).toEqual([]);
  await expect(readTableRows(deps.mongo, (await createWorkspace(deps)).projectID, _id, 0, 1)).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('rows that are written after their table was deleted leave no collection', async () => {
  verifies('tables.delete');
  const workspace = await createWorkspace(deps);
  const { _id, path } = await createTable(workspace);
  const collection = (name: string) => {
    const rows = deps.mongo.db.collection(name);
    const insertMany: typeof rows.insertMany = async (...given) => {
      expect(await workspace.api.delete(path)).toMatchObject({ status: 200 });
      return rows.insertMany(...given);
    };
    return Object.assign(Object.create(rows) as typeof rows, { insertMany });
  };
  const mongo = { ...deps.mongo, db: { collection } as unknown as Db };
  const insert = createRowInserter({ mongo, customers: deps.customers });
  const principal = memberOf(
    { userId: workspace.userId, organizationId: workspace.organizationId, projectId: workspace.projectID },
    ['svc:orchestrate.write'],
  );
  const rows = { principal, records: [{}], recordId: newId(), repeatable: false };
  await expect(insert(_id, rows)).rejects.toMatchObject({ code: 'not_found' });
  const left = await deps.mongo.db.listCollections().toArray();
  expect(left.map(({ name }) => name)).not.toContain(`table_${_id}`);
});
