/** What clients and operators use to work with a `columnRemoval`. */
export const columnRemovalType = 'columnRemoval';

export function columnRemovalWorkflowId(tableId: string, columnId: string): string {
  return `table/${tableId}/column/${columnId}`;
}

export interface ColumnRemovalInput {
  table_id: string;
  column_id: string;
  /** The number of row ids in one update. */
  batch_rows: number;
  resumed?: ColumnRemovalState;
}

/** Plain JSON and complete: it is passed to the next run by continue-as-new. */
export interface ColumnRemovalState {
  /** Rows up to this row id are cleared. */
  reached: number;
  /** The last row that can have the column. */
  last_row_id: number;
  /** The number of records that had a value. */
  cleared: number;
}
