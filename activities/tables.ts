import { endRemoval, hideColumn, sweepRows } from '../src/domain/tables/remove-column.js';
import type { Mongo } from '../src/stores/mongo.js';
import type { ColumnRemovalActivities } from '../workflows/column-removal/activities.js';
import { withHeartbeat } from './with-heartbeat.js';

/** Removes a column's data from a large table in batches of row ids. Heartbeats carry the current row. */
export function createTableActivities({ mongo }: { mongo: Mongo }): ColumnRemovalActivities {
  return {
    async hideTableColumn({ table_id, column_id }) {
      const { last_row_id } = await hideColumn(mongo, table_id, column_id);
      return { last_row_id };
    },
    sweepTableColumn: ({ table_id, column_id, from, to, batch_rows }) =>
      withHeartbeat({ reached: from, cleared: 0 }, async ({ cursor, reached, signal }) => {
        let at = cursor;
        while (at.reached < to) {
          signal.throwIfAborted();
          const end = Math.min(at.reached + batch_rows, to);
          const cleared = await sweepRows(mongo, table_id, column_id, at.reached, end);
          at = { reached: end, cleared: at.cleared + cleared };
          reached(at);
        }
        return { cleared: at.cleared };
      }),
    endTableColumnRemoval: ({ table_id, column_id }) => endRemoval(mongo, table_id, column_id),
  };
}
