import { describe, expect, test } from '@jest/globals';
import { newId } from '../../../../src/base/ids.js';
import { columnRemovalWorkflowId } from '../../../../workflows/column-removal/messages.js';
import { decoded } from '../../../support/decoded.js';
import { eventually } from '../../../support/eventually.js';
import { createWorkspace, useDeps, type Workspace } from '../../../support/fixture.js';
import { useOwnApp } from '../../../support/own-app.js';
import { ownProduct } from '../../../support/own-product.js';
import { createTable, deleteColumn, type TestTable } from '../../../support/tables.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const queue = { TEMPORAL_TASK_QUEUE: `column-removal-${newId()}` };
/** Only the worker is killed: the API runs in this process. */
const [app, product] = [useOwnApp(queue), ownProduct(queue)];
const columns = ['Price', 'Name'].map((column_name) => ({ column_name, column_type: 'string' }));

/** Has the same effect as inserting this number of rows over the API, which would take too long. */
async function fill({ _id }: TestTable, count: number, { userId }: Workspace): Promise<void> {
  const rows = deps.mongo.db.collection<{ _id: string }>(`table_${_id}`);
  for (let from = 0; from < count; from += 2000) {
    const ids = Array.from({ length: Math.min(2000, count - from) }, (_, at) => from + at + 1);
    await rows.insertMany(
      ids.map((row_id) => ({ _id: newId(), row_id, coworker_user_id: userId, price: `${row_id}`, name: 'n' })),
    );
  }
  await deps.mongo.collections.tables.updateOne({ _id }, { $set: { last_row_id: count, row_count: count } });
}

describe('DELETE /delete/column/{projectID} of a large table', () => {
  test('hides the column immediately, and a workflow removes the data and continues after a kill of its worker', async () => {
    verifies('table.large-column-delete');
    const shared = await createWorkspace(deps);
    const workspace = app.through(shared);
    const table = await createTable(workspace, columns);
    const count = 14_000;
    await fill(table, count, workspace);
    const { _id: table_id } = table;
    const left = () => deps.mongo.db.collection(`table_${table_id}`).countDocuments({ price: { $exists: true } });

    // The column is hidden even before a worker runs.
    expect(await deleteColumn(workspace, { table_id, column_id: 'price' })).toEqual({
      status: 200,
      body: expect.stringContaining('Price'),
    });
    expect((await table.records({ limit: '1' })).data[0]).toEqual({
      _id: expect.any(String),
      row_id: count,
      coworker_user_id: workspace.userId,
      name: 'n',
    });
    expect(
      (await workspace.api.get(`/storage/${workspace.projectID}`)).body.tables[0].columns.map(
        (column: any) => column.column_id,
      ),
    ).not.toContain('price');
    expect(await table.insert({ price: 'x' })).toMatchObject({ status: 422 });
    const again = await workspace.api.post(`${table.path}/column`, { column_name: 'Price', column_type: 'string' });
    expect(again).toMatchObject({ status: 201, body: { column_id: 'price_2' } });
    expect(await table.insert({ price_2: 'kept' })).toMatchObject({ status: 201 });
    expect(await left()).toBe(count);
    expect(await deleteColumn(workspace, { table_id, column_id: 'price' })).toMatchObject({ status: 200 });

    const killed = await product.worker();
    await eventually(async () => expect(await left()).toBeLessThan(count), { everyMs: 10 });
    await killed.end('SIGKILL');
    const before = await left();
    expect(before).toBeGreaterThan(0);
    await product.worker();
    const handle = deps.temporal.client.workflow.getHandle(columnRemovalWorkflowId(table_id, 'price'));
    expect(await handle.result()).toEqual({ cleared: expect.any(Number) });
    expect(await left()).toBe(0);
    expect((await table.records({ limit: '1' })).data[0]).toMatchObject({ row_id: count + 1, price_2: 'kept' });
    expect(await deps.mongo.collections.tables.findOne({ _id: table_id })).toMatchObject({
      removing: [],
      retired_column_ids: ['price'],
    });
    expect(await deleteColumn(workspace, { table_id, column_id: 'price' })).toMatchObject({ status: 404 });

    const seen = await deps.temporal.client.workflowService.describeWorkflowExecution({
      namespace: deps.config.temporal.namespace,
      execution: { workflowId: handle.workflowId },
    });
    expect(await decoded(deps, seen.executionConfig?.userMetadata?.summary)).toContain('Remove column Price');
    const metadata: any = await handle.query('__temporal_workflow_metadata');
    expect(metadata.currentDetails).toContain(`100 %, row ${count + 1} of ${count + 1}`);
  });

  test('leaves the data to the workflow also if the table has few rows but large row ids', async () => {
    verifies('table.large-column-delete');
    const workspace = app.through(await createWorkspace(deps));
    const table = await createTable(workspace, columns);
    const { _id: table_id } = table;
    await deps.mongo.collections.tables.updateOne({ _id: table_id }, { $set: { last_row_id: 2_000_000 } });
    expect(await table.insert({ price: '1' })).toMatchObject({ status: 201, body: { row_id: 2_000_001 } });
    expect(await deleteColumn(workspace, { table_id, column_id: 'price' })).toEqual({
      status: 200,
      body: expect.stringContaining('its data is being removed'),
    });
    const handle = deps.temporal.client.workflow.getHandle(columnRemovalWorkflowId(table_id, 'price'));
    expect(await handle.result()).toEqual({ cleared: 1 });
  });
});
