import type { StartChildRequest } from '../agentflow-execution/child-messages.js';

/** One firing of a schedule. Times are epoch seconds. */
export interface RunReference {
  schedule_id: string;
  /** The workflow id: different for each firing, and unchanged by continue-as-new. */
  run_id: string;
  /** Temporal's id of the workflow's first run, which distinguishes a repeated firing from the first one. */
  first_run: string;
  scheduled_for: number;
  started_at: number;
  /** The person who triggered it; absent for a planned firing. */
  triggered_by?: string;
}

export interface RowReference {
  _id: string;
  row_id: number;
  values: Record<string, unknown>;
}

/**
 * What a firing does: nothing if the schedule is deleted or has already fired for this time, one execution, or one for each
 * row of a table.
 */
export type RunPlan = { kind: 'gone' } | { kind: 'repeated' } | { kind: 'once' } | { kind: 'rows'; table_id: string };

export interface ExecutionOutcome {
  /** Null if it could not be prepared. */
  execution_id: string | null;
  record_id: string | null;
  status: 'completed' | 'failed' | 'cancelled';
  conclusion: string | null;
  error: string | null;
}

/** The activities of a scheduled run. All are safe to repeat. */
export interface CoworkerRunActivities {
  planRun(run: RunReference): Promise<RunPlan>;
  /** Prepares the execution of a firing or of one of its rows; a repeat returns the same one. */
  prepareRun(request: { run: RunReference; row: RowReference | null }): Promise<StartChildRequest>;
  /** Rows by ascending `row_id`, after a given one. */
  readRows(request: { run: RunReference; table_id: string; after: number; limit: number }): Promise<RowReference[]>;
  /** Records the outcome of an execution in the run and the schedule. */
  recordExecution(request: { run: RunReference; outcome: ExecutionOutcome }): Promise<void>;
  /** Counts the run in its schedule and updates the schedule's state. */
  recordRun(request: {
    run: RunReference;
    ended_at: number;
    status: 'completed' | 'failed' | 'cancelled';
    error: string | null;
  }): Promise<void>;
}
