/** What a client or an operator needs of a `columnRemoval`. */
export const columnRemovalType = 'columnRemoval';

export function columnRemovalWorkflowId(tableId: string, columnId: string): string {
  return `table/${tableId}/column/${columnId}`;
}

export interface ColumnRemovalInput {
  table_id: string;
  column_id: string;
  /** Row ids of one update. */
  batch_rows: number;
  resumed?: ColumnRemovalState;
}

/** Plain JSON and complete: it is carried over continue-as-new. */
export interface ColumnRemovalState {
  /** Rows up to this row id are done. */
  reached: number;
  /** The last row that can have the column. */
  last_row_id: number;
  /** Records that had a value. */
  cleared: number;
}
