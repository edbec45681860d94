import { shownRow } from '../src/platform/resources/tables/records.js';
import { readTable, rowsOf } from '../src/platform/resources/tables/store.js';
import type { Mongo } from '../src/stores/mongo.js';
import type { RowReference } from '../workflows/coworker-run/activities.js';

/**
 * Rows of a table by ascending `row_id`, their values by column id and by column name; of the columns that it has now.
 * @throws AppError `not_found` where the table is not the project's or is gone
 */
export async function readTableRows(mongo: Pick<Mongo, 'db' | 'collections'>, projectId: string, tableId: string, after: number, limit: number): Promise<RowReference[]> {
  const table = await readTable(mongo, projectId, tableId);
  const rows = await rowsOf(mongo, tableId).find({ row_id: { $gt: after } }).sort({ row_id: 1 }).limit(limit).toArray();
  return rows.map((row) => {
    const byId = shownRow(table, row);
    const byName = Object.fromEntries(table.columns.map(({ column_id, column_name }) => [column_name, byId[column_id]]));
    return { _id: row._id, row_id: row.row_id, values: { ...byName, ...byId } };
  });
}
