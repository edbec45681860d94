import { notFound } from '../src/errors.js';
import type { Mongo } from '../src/stores/mongo.js';
import type { RowReference } from '../workflows/coworker-run/activities.js';

interface RowDocument {
  _id: string;
  row_id: number;
  [column: string]: unknown;
}

interface TableRecord {
  _id: string;
  projectID: string;
  columns: { column_id: string; column_name: string }[];
}

/**
 * Rows of a table by ascending `row_id`, their values by column id and by column name. 
 * @throws AppError `not_found` where the table is not the project's or is gone
 */
export async function readTableRows({ db }: Pick<Mongo, 'db'>, projectId: string, tableId: string, after: number, limit: number): Promise<RowReference[]> {
  const table = await db.collection<TableRecord>('tables').findOne({ _id: tableId });
  if (table?.projectID !== projectId) throw notFound('the table of the schedule');
  const rows = await db.collection<RowDocument>(`table_${tableId}`).find({ row_id: { $gt: after } }).sort({ row_id: 1 }).limit(limit).toArray();
  return rows.map(({ _id, row_id, ...values }) => {
    const byName = Object.fromEntries(table.columns.map(({ column_id, column_name }) => [column_name, values[column_id] ?? null]));
    return { _id, row_id, values: { ...byName, ...values, row_id } };
  });
}
