import type { ColumnRemovalInput } from './messages.js';

export type ColumnOfTable = Pick<ColumnRemovalInput, 'table_id' | 'column_id'>;

/** Each may be repeated. */
export interface ColumnRemovalActivities {
  /** Takes the column out of the table, so that no new row can have it. */
  hideTableColumn(column: ColumnOfTable): Promise<{ last_row_id: number }>;
  /** Takes the column's data out of the rows after `from` up to `to`; goes on where a killed worker left it. */
  sweepTableColumn(slice: ColumnOfTable & { from: number; to: number; batch_rows: number }): Promise<{ cleared: number }>;
  endTableColumnRemoval(column: ColumnOfTable): Promise<void>;
}
