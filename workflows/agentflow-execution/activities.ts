import type { Anomaly } from './act-messages.js';
import type {
  AgentOutput,
  ExecutionConclusion,
  ExecutionEvent,
  ExecutionFailure,
  ExecutionStatus,
} from './messages.js';
import type { LightAnswer, LightRequest } from './light-messages.js';
import type { Spending } from './model-turn.js';
import type { TurnRequest } from './turn-messages.js';
import type { StepRecord } from './step-record.js';
import type { Preview } from './preview-record.js';
import type { StepActivities } from './steps/index.js';

/** Changes since the last write. Each entry has its index, so that a repeated write changes nothing. */
export interface ExecutionProjection {
  execution_id: string;
  organization_id: string;
  project_id: string;
  agentflow_id: string;
  /** Workflow time, later in each write of the execution. */
  projected_at: number;
  status: ExecutionStatus;
  started_at: number;
  end_time: number | null;
  conclusion: ExecutionConclusion | null;
  failure: ExecutionFailure | null;
  previews: Record<string, Preview>;
  anomaly_detected: Anomaly[] | null;
  /** Fields of `execution_context`, apart from the failure. */
  context: Record<string, unknown>;
  last_event_seq: number;
  steps: { index: number; value: StepRecord }[];
  agents_output: { index: number; value: AgentOutput }[];
  spent: Spending[];
  events: ExecutionEvent[];
  /** For a run that works on a slice of the items of another run: that run, which is charged. */
  part_of?: string;
  /** Whether the run has prepared runs that work on slices. */
  has_slices?: true;
}

/** The step is identified by the key of its act. */
export interface WithdrawActRequest {
  project_id: string;
  execution_id: string;
  idempotency_key: string;
}

/**
 * All activities of an execution. A refusal that a retry cannot resolve is non-retryable and has a code as its type
 * (`validation_failed`, `target_refused`, `http_4xx`, …). The step's policy retries everything else.
 */
export interface AgentflowExecutionActivities extends StepActivities {
  publishExecution(projection: ExecutionProjection): Promise<void>;
  /** Asks for the turn of the run. A run that has to wait gets the signal `turnGiven`. Refused with `too_many_waiting`. */
  takeRunTurn(request: TurnRequest): Promise<'given' | 'waiting'>;
  /** Gives the turn of the run, which has ended, to the next one. */
  endRunTurn(request: TurnRequest): Promise<void>;
  /** Takes a question that nobody has answered out of the inbox. */
  withdrawQuestion(questionId: string): Promise<void>;
  /** Withdraws what the act of a step that was cancelled has asked people. */
  withdrawAct(request: WithdrawActRequest): Promise<void>;
  /** Runs light steps one after the other, and answers them in order. Fails only if none of them may run. */
  runLightSteps(steps: LightRequest[]): Promise<LightAnswer[]>;
  /** Does nothing. Other runs get the worker meanwhile. */
  giveWay(): Promise<void>;
  /** Asks Temporal to cancel the workflow that calls it. */
  cancelOwnRun(): Promise<void>;
}
