/** The workflow that a schedule starts (design, Workflows). */
export const coworkerRunType = 'coworkerRun';

/** The id of the Temporal Schedule. */
export function scheduleId(id: string): string {
  return `schedule/${id}`;
}

/** The prefix of the ids of its runs; Temporal appends the time. */
export function coworkerRunId(id: string): string {
  return `coworker-run/${id}`;
}

/** The id of a triggered run, which differs from that of every planned run. */
export function triggeredRunId(id: string, requestId: string): string {
  return `${coworkerRunId(id)}${triggered}${requestId}`;
}

const triggered = '-trigger-';

export function isTriggeredRun(runId: string): boolean {
  return runId.includes(triggered);
}

export interface CoworkerRunInput {
  schedule_id: string;
  project_id: string;
  organization_id: string;
  /** The person who triggered the run; absent for a planned one. */
  triggered_by?: string;
  /** The run continues as new when its history has this many events, or when the server suggests it. */
  max_history_events: number;
  /** The progress through the rows of a table, after continue-as-new. */
  resumed?: RowsState;
}

/** Plain JSON and complete: it is passed to the next run by continue-as-new. */
export interface RowsState {
  run_id: string;
  scheduled_for: number;
  started_at: number;
  /** The table that the run began with, even if its schedule changes; absent before the first row. */
  table_id?: string;
  /** The `row_id` of the last row that was started. */
  after: number;
  executions: number;
  failed: number;
  /** The error of the last failed execution. */
  error: string | null;
}

export interface CoworkerRunResult {
  outcome: 'completed' | 'gone' | 'repeated';
  executions: number;
}
