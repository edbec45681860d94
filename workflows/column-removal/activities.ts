import type { ColumnRemovalInput } from './messages.js';

type ColumnOfTable = Pick<ColumnRemovalInput, 'table_id' | 'column_id'>;

/** All are safe to repeat. */
export interface ColumnRemovalActivities {
  /** Removes the column from the table, so that new rows cannot have it. */
  hideTableColumn(column: ColumnOfTable): Promise<{ last_row_id: number }>;
  /** Removes the column's data from the rows after `from`, up to and including `to`. Resumes where a killed worker stopped. */
  sweepTableColumn(
    slice: ColumnOfTable & { from: number; to: number; batch_rows: number },
  ): Promise<{ cleared: number }>;
  endTableColumnRemoval(column: ColumnOfTable): Promise<void>;
}
