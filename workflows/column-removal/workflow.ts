import { continueAsNew, proxyActivities, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { ColumnRemovalActivities } from './activities.js';
import type { ColumnRemovalInput, ColumnRemovalState } from './messages.js';

/** Without a limit, because the record store can be unavailable for a long time. */
const retry = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' } as const;
/** Updates in one activity: few enough to show progress, and enough to keep the history short. */
const batchesPerSlice = 10;

const { hideTableColumn } = proxyActivities<ColumnRemovalActivities>({
  startToCloseTimeout: '1m',
  retry,
  summary: 'remove the column from the table',
});
const { sweepTableColumn } = proxyActivities<ColumnRemovalActivities>({
  startToCloseTimeout: '1h',
  heartbeatTimeout: '15s',
  retry,
  summary: 'remove the data of the column',
});
const { endTableColumnRemoval } = proxyActivities<ColumnRemovalActivities>({
  startToCloseTimeout: '1m',
  retry,
  summary: 'end the removal',
});

/** Removes the data of a deleted column from every row of a large table, in slices of row ids. */
export async function columnRemoval(input: ColumnRemovalInput): Promise<{ cleared: number }> {
  const { table_id, column_id, batch_rows } = input;
  const column = { table_id, column_id };
  const state: ColumnRemovalState = input.resumed ?? { reached: 0, cleared: 0, ...(await hideTableColumn(column)) };
  while (state.reached < state.last_row_id) {
    setCurrentDetails(detailsOf(column_id, state));
    const to = Math.min(state.reached + batch_rows * batchesPerSlice, state.last_row_id);
    const { cleared } = await sweepTableColumn({ ...column, from: state.reached, to, batch_rows });
    state.reached = to;
    state.cleared += cleared;
    if (workflowInfo().continueAsNewSuggested) return continueAsNew<typeof columnRemoval>({ ...input, resumed: state });
  }
  await endTableColumnRemoval(column);
  setCurrentDetails(detailsOf(column_id, state));
  return { cleared: state.cleared };
}

function detailsOf(columnId: string, { reached, last_row_id, cleared }: ColumnRemovalState): string {
  const percent = last_row_id === 0 ? 100 : Math.floor((reached / last_row_id) * 100);
  return `Column \`${columnId}\`: ${percent} %, row ${reached} of ${last_row_id}, removed from ${cleared} records`;
}
