import { WorkflowIdConflictPolicy } from '@temporalio/client';
import { z } from 'zod';
import {
  columnRemovalType,
  columnRemovalWorkflowId,
  type ColumnRemovalInput,
} from '../../../workflows/column-removal/messages.js';
import { attributePairs } from '../../../workflows/search-attributes.js';
import { AppError, notFound } from '../../base/errors.js';
import type { Mongo } from '../../stores/mongo.js';
import type { Deps } from '../deps.js';
import { defineOperation } from '../operation.js';
import { isSystemColumn } from './system-columns.js';
import { settleInserts } from './pending.js';
import { readTable, rowsOf, type TableDocument } from './record.js';
import { updateRules } from './rules.js';
import { ColumnReference } from './schemas.js';
import { ProjectId } from '../../base/ids.js';

type Tables = Pick<Mongo, 'db' | 'collections'>;

/** Above this row id, a workflow removes the data. A table with few rows can have large row ids, because they are not reused. */
const maxRowIdSweptInline = 5000;
/** The range of row ids in one update. */
const rowsPerBatch = 1000;

/**
 * Deletes a column, with immediate effect for readers and writers, and then its data in all rows. For a large table, a
 * workflow removes the data. A repeat continues an interrupted deletion.
 * Throws `validation_failed` for a system column, and `unavailable` if the workflow cannot be started.
 */
export const deleteColumn = defineOperation({
  ...updateRules,
  key: z.object({ projectId: ProjectId.optional() }),
  input: ColumnReference,
  output: z.string().meta({ example: 'Column price is deleted' }),
  errors: ['not_found', 'validation_failed'],
  async run({ deps, ctx: { principal }, input: { table_id, column_id } }) {
    const { mongo } = deps;
    const table = await readTable(mongo, principal.projectId, table_id);
    if (isSystemColumn(column_id))
      throw new AppError('validation_failed', `column_id: the system column ${column_id} cannot be deleted`);
    const column = [...table.columns, ...table.removing].find((each) => each.column_id === column_id);
    if (!column) throw notFound('the column');
    const name = JSON.stringify(column.column_name);
    if (table.last_row_id > maxRowIdSweptInline) {
      // Start the workflow first. It also hides the column if this process crashes.
      await startRemoval(deps, table, column_id, column.column_name);
      await hideColumn(mongo, table_id, column_id);
      return `Column ${name} is deleted; its data is being removed from the records`;
    }
    const { last_row_id } = await hideColumn(mongo, table_id, column_id);
    for (let from = 0; from < last_row_id; from += rowsPerBatch)
      await sweepRows(mongo, table_id, column_id, from, from + rowsPerBatch);
    await endRemoval(mongo, table_id, column_id);
    return `Column ${name} is deleted`;
  },
});

async function startRemoval(
  { temporal }: Deps,
  table: TableDocument,
  columnId: string,
  columnName: string,
): Promise<void> {
  const input: ColumnRemovalInput = { table_id: table._id, column_id: columnId, batch_rows: rowsPerBatch };
  await temporal.call((client) =>
    client.workflow.start(columnRemovalType, {
      taskQueue: temporal.taskQueue,
      workflowId: columnRemovalWorkflowId(table._id, columnId),
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
      args: [input],
      memo: { project: table.projectID, table: table.table_name },
      staticSummary: `Remove column ${columnName} from table ${table.table_name}`.slice(0, 200),
      typedSearchAttributes: attributePairs({ projectId: table.projectID, organizationId: table.organization_id }),
    }),
  );
}

/** Removes the column from the table and completes the inserts that contain it. @returns the updated table */
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

/** Removes the data of the column from the rows after row id `from` up to `to`. @returns the number of changed rows */
export async function sweepRows(
  mongo: Tables,
  tableId: string,
  columnId: string,
  from: number,
  to: number,
): Promise<number> {
  const { modifiedCount } = await rowsOf(mongo, tableId).updateMany(
    { row_id: { $gt: from, $lte: to }, [columnId]: { $exists: true } },
    { $unset: { [columnId]: '' } },
  );
  return modifiedCount;
}

export async function endRemoval(
  { collections }: Pick<Mongo, 'collections'>,
  tableId: string,
  columnId: string,
): Promise<void> {
  await collections.tables.updateOne({ _id: tableId }, { $pull: { removing: { column_id: columnId } } });
}
