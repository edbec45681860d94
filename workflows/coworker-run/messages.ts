/** What a schedule starts (design, Workflows). */
export const coworkerRunType = 'coworkerRun';

/** The id of the Temporal Schedule. */
export function scheduleId(id: string): string {
  return `schedule/${id}`;
}

/** The beginning of the ids of its runs; Temporal adds the time. */
export function coworkerRunId(id: string): string {
  return `coworker-run/${id}`;
}

export interface CoworkerRunInput {
  schedule_id: string;
  project_id: string;
  organization_id: string;
  /** Continue as new when the history holds so many events; the server's own suggestion counts as well. */
  max_history_events: number;
  /** How far the rows of a table have come, after continue-as-new. */
  resumed?: RowsState;
}

/** Plain JSON and complete: it is carried over continue-as-new. */
export interface RowsState {
  run_id: string;
  scheduled_for: number;
  started_at: number;
  /** The table that the run began with, whatever becomes of its schedule. Absent in what an earlier release carried over. */
  table_id?: string;
  /** The `row_id` of the last row that was taken up. */
  after: number;
  executions: number;
  failed: number;
  /** Of the last execution that failed. */
  error: string | null;
}

export interface CoworkerRunResult {
  outcome: 'completed' | 'gone';
  executions: number;
}
