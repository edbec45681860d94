import type {
  ActionPlan,
  ActionResult,
  AgentOutput,
  AgentPlan,
  Document,
  DocumentReference,
  ExecutionConclusion,
  ExecutionEvent,
  ExecutionFailure,
  ExecutionStatus,
  StepRecord,
} from './messages.js';

/** What a step gives back, with the number of attempts that it took. */
export interface StepResult<T> {
  value: T;
  attempts: number;
}

/** What is new since the last write: entries stand at their index, so that a repeated write changes nothing. */
export interface ExecutionProjection {
  execution_id: string;
  status: ExecutionStatus;
  started_at: number;
  end_time: number | null;
  conclusion: ExecutionConclusion | null;
  failure: ExecutionFailure | null;
  last_event_seq: number;
  steps: { index: number; value: StepRecord }[];
  agents_output: { index: number; value: AgentOutput }[];
  events: ExecutionEvent[];
}

export interface ReadDocumentsRequest {
  files: DocumentReference[];
}

/** What prompts and action inputs may refer to. */
export interface StepContext {
  goal: string;
  input_variables: Record<string, unknown>;
  runtime_inputs: Record<string, unknown>;
  documents: Document[];
  /** The outputs of the agents before, in order. */
  outputs: { agent_id: string; title: string; output: string }[];
  /** The results of the actions of the agent at work, in order. */
  actions: ActionResult[];
}

export interface CallActionRequest {
  /** Sent as `Idempotency-Key`: the same on every attempt. */
  idempotency_key: string;
  project_id: string;
  action: ActionPlan;
  context: StepContext;
}

export interface ModelTurnRequest {
  idempotency_key: string;
  agent: Pick<AgentPlan, '_id' | 'title' | 'role' | 'role_description' | 'llm' | 'prompt' | 'context'>;
  context: StepContext;
}

export interface ModelTurn {
  model: string;
  content: string;
  usage: { input_tokens: number; output_tokens: number };
}

/**
 * The outside of an execution. Refusals that no retry mends are non-retryable with a code as their type
 * (`validation_failed`, `target_refused`, `http_4xx`, …); everything else is retried by the step's policy.
 */
export interface AgentflowExecutionActivities {
  publishExecution(projection: ExecutionProjection): Promise<void>;
  /** Asks Temporal to cancel the workflow that calls it. */
  cancelOwnRun(): Promise<void>;
  readDocuments(request: ReadDocumentsRequest): Promise<StepResult<Document[]>>;
  callAction(request: CallActionRequest): Promise<StepResult<unknown>>;
  takeModelTurn(request: ModelTurnRequest): Promise<StepResult<ModelTurn>>;
}
