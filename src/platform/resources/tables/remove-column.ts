import { WorkflowIdConflictPolicy } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { columnRemovalType, columnRemovalWorkflowId, type ColumnRemovalInput } from '../../../../workflows/column-removal/messages.js';
import { searchAttributes } from '../../../../workflows/search-attributes.js';
import type { Principal } from '../../../auth/principal.js';
import { AppError, notFound } from '../../../errors.js';
import type { Mongo } from '../../../stores/mongo.js';
import { isSystemColumn } from './columns.js';
import { settleInserts } from './pending.js';
import { readTable, rowsOf, type TableDeps, type TableDocument } from './store.js';

type Tables = Pick<Mongo, 'db' | 'collections'>;

/** A table of more rows is swept by a workflow. */
export const sweptAtOnceAtMost = 5000;
/** Row ids of one update. */
export const rowsABatch = 1000;

/**
 * Takes a column out of the table, at once for every reader and writer, and its data out of the rows: here, or for a
 * large table by a workflow. A repeat goes on where the first was interrupted.
 * @throws AppError `not_found`, `validation_failed` for a system column, `unavailable` where the workflow cannot be started
 */
export async function removeColumn(deps: TableDeps, principal: Principal, tableId: string, columnId: string): Promise<string> {
  const { mongo } = deps;
  const table = await readTable(mongo, principal.projectId, tableId);
  if (isSystemColumn(columnId)) throw new AppError('validation_failed', `column_id: ${columnId} belongs to every table`);
  const column = [...table.columns, ...table.removing].find(({ column_id }) => column_id === columnId);
  if (!column) throw notFound('the column');
  const name = JSON.stringify(column.column_name);
  if (table.row_count > sweptAtOnceAtMost) {
    // Started first: when this process dies here, the workflow takes the column out.
    await startRemoval(deps, table, columnId, column.column_name);
    await hideColumn(mongo, tableId, columnId);
    return `Column ${name} is deleted; its data is being removed from the records`;
  }
  const { last_row_id } = await hideColumn(mongo, tableId, columnId);
  for (let from = 0; from < last_row_id; from += rowsABatch) await sweepRows(mongo, tableId, columnId, from, from + rowsABatch);
  await endRemoval(mongo, tableId, columnId);
  return `Column ${name} is deleted`;
}

async function startRemoval({ temporal }: TableDeps, table: TableDocument, columnId: string, columnName: string): Promise<void> {
  const input: ColumnRemovalInput = { table_id: table._id, column_id: columnId, batch_rows: rowsABatch };
  await temporal.call((client) =>
    client.workflow.start(columnRemovalType, {
      taskQueue: temporal.taskQueue,
      workflowId: columnRemovalWorkflowId(table._id, columnId),
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
      args: [input],
      memo: { project: table.projectID, table: table.table_name },
      staticSummary: `Remove column ${columnName} from table ${table.table_name}`.slice(0, 200),
      typedSearchAttributes: new TypedSearchAttributes([
        { key: searchAttributes.projectId, value: table.projectID },
        { key: searchAttributes.organizationId, value: table.organization_id },
      ]),
    }),
  );
}

/** From here on no row is admitted with the column; rows that were admitted before are written. Gives the table then. */
export async function hideColumn(mongo: Tables, tableId: string, columnId: string): Promise<TableDocument> {
  const { tables } = mongo.collections;
  const column = (await tables.findOne({ _id: tableId }))?.columns.find(({ column_id }) => column_id === columnId);
  if (column) {
    await tables.updateOne(
      { _id: tableId, 'columns.column_id': columnId },
      {
        $pull: { columns: { column_id: columnId } },
        $push: { removing: { column_id: columnId, column_name: column.column_name }, retired_column_ids: columnId },
        $inc: { columns_version: 1 },
      },
    );
  }
  const hidden = await tables.findOne({ _id: tableId });
  if (!hidden) throw notFound('the table');
  await settleInserts(mongo, hidden, () => true);
  return hidden;
}

/** Takes the column out of the rows after row id `from`, up to `to`; gives how many had it. */
export async function sweepRows(mongo: Tables, tableId: string, columnId: string, from: number, to: number): Promise<number> {
  const { modifiedCount } = await rowsOf(mongo, tableId).updateMany(
    { row_id: { $gt: from, $lte: to }, [columnId]: { $exists: true } },
    { $unset: { [columnId]: '' } },
  );
  return modifiedCount;
}

export async function endRemoval({ collections }: Pick<Mongo, 'collections'>, tableId: string, columnId: string): Promise<void> {
  await collections.tables.updateOne({ _id: tableId }, { $pull: { removing: { column_id: columnId } } });
}
