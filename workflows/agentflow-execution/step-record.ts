/** One attempt of a step. `ended_at` is null while it runs. Times are epoch seconds. */
export interface StepAttempt {
  attempt: number;
  started_at: number;
  ended_at: number | null;
  error: string | null;
}

/** One step. Times are epoch seconds. */
export interface StepRecord {
  step_id: string;
  /** As in the table of steps (`steps/index.ts`); a tool call is shown as `action`. */
  kind: string;
  agent_id: string;
  /** Where in the flow; absent for the main part. */
  path?: string;
  skill_id: string | null;
  action_id: string | null;
  name: string;
  /** `waiting`: for a decision on the step's act. */
  status: 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled';
  attempts: number;
  started_at: number;
  ended_at: number | null;
  error: string | null;
  /** The last attempts of a step that failed or needed several attempts. */
  attempt_details?: StepAttempt[];
  /** What a step of the flow returned that is not an agent. A rerun reads it. */
  output?: unknown;
  /** The fields of the act that an approver edited. */
  edited_fields?: string[];
  /** In a rerun: the execution that the record was taken from. */
  kept_from?: string;
}
