import { expect, test } from '@jest/globals';
import { readTableRows } from '../../../src/domain/tables/operations.js';
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
