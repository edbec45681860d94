import { finished } from '../src/platform/resources/tables/pending.js';
import { shownRow } from '../src/platform/resources/tables/records.js';
import { readTable, rowsOf } from '../src/platform/resources/tables/store.js';
import type { Mongo } from '../src/stores/mongo.js';
import type { RowReference } from '../workflows/coworker-run/activities.js';

/**
 * Rows of a table by ascending `row_id`, their values by column id and by column name, null where a row has none.
 * @throws AppError `not_found` where the table is not the project's or is gone
 */
export async function readTableRows(mongo: Mongo, projectId: string, tableId: string, after: number, limit: number): Promise<RowReference[]> {
  const read = () => readTable(mongo, projectId, tableId);
  const table = await finished(mongo, await read(), read);
  const rows = await rowsOf(mongo, tableId).find({ row_id: { $gt: after } }).sort({ row_id: 1 }).limit(limit).toArray();
  return rows.map((row) => {
    const values = shownRow(table, row);
    const byName = Object.fromEntries(table.columns.map(({ column_id, column_name }) => [column_name, values[column_id]]));
    return { _id: row._id, row_id: row.row_id, values: { ...byName, ...values } };
  });
}
