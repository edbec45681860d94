import type { StartChildRequest } from '../agentflow-execution/child-messages.js';

/** One firing of a schedule. Times are epoch seconds. */
export interface RunReference {
  schedule_id: string;
  /** The workflow's id: the same over continue-as-new, another for each firing. */
  run_id: string;
  scheduled_for: number;
  started_at: number;
}

export interface RowReference {
  _id: string;
  row_id: number;
  values: Record<string, unknown>;
}

/** What a firing is to do: nothing where the schedule is gone, one execution, or one for each row of a table. */
export type RunPlan = { kind: 'gone' } | { kind: 'once' } | { kind: 'rows'; table_id: string };

export interface ExecutionOutcome {
  /** Null where it could not be prepared. */
  execution_id: string | null;
  record_id: string | null;
  status: 'completed' | 'failed' | 'cancelled';
  conclusion: string | null;
  error: string | null;
}

/** The outside of a scheduled run; all may be repeated. */
export interface CoworkerRunActivities {
  planRun(run: RunReference): Promise<RunPlan>;
  /** Prepares the execution of a firing, or of one of its rows: the same one however often it is asked for. `at` orders them by time. */
  prepareRun(request: { run: RunReference; row: RowReference | null; at: number }): Promise<StartChildRequest>;
  /** Rows by ascending `row_id`, after a given one. */
  readRows(request: { run: RunReference; table_id: string; after: number; limit: number }): Promise<RowReference[]>;
  /** Writes how an execution ended into the run and the schedule. */
  recordExecution(request: { run: RunReference; outcome: ExecutionOutcome }): Promise<void>;
  /** Counts the run in its schedule and brings the schedule's state up to date. */
  recordRun(request: { run: RunReference; ended_at: number; status: 'completed' | 'failed' | 'cancelled'; error: string | null }): Promise<void>;
}
