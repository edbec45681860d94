import type {
  ActionPlan,
  ActionResult,
  AgentOutput,
  AgentPlan,
  Anomaly,
  Document,
  DocumentReference,
  ExecutionConclusion,
  ExecutionEvent,
  ExecutionFailure,
  ExecutionStatus,
  SchemaField,
  Spending,
  StepRecord,
} from './messages.js';
import type { Preview, ProposedAction } from './preview-messages.js';

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
  /** Absent in what a run of an earlier release asks for. */
  previews?: Record<string, Preview>;
  anomaly_detected?: Anomaly[] | null;
  /** Fields of `execution_context`, apart from the failure. */
  context?: Record<string, unknown>;
  last_event_seq: number;
  steps: { index: number; value: StepRecord }[];
  agents_output: { index: number; value: AgentOutput }[];
  spent?: Spending[];
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
  /** The connector of the action's skill. */
  connector_id: string | null;
  action: ActionPlan;
  context: StepContext;
  input?: ActionInput;
}

/** Values for an action's fields beside those of the context (`activities/action-fields.ts` has their order). */
export interface ActionInput {
  /** What a person changed in the preview. */
  edits?: Record<string, unknown>;
  /** What the model asked for. */
  arguments?: Record<string, unknown>;
  /** What the agent's author gives for this phase. */
  defaults?: Record<string, unknown>;
}

export interface ComposePreviewRequest {
  calls: { call_id: string | null; skill_id: string; action: ActionPlan; input: ActionInput }[];
  context: StepContext;
}

export interface DetectAnomalyRequest {
  idempotency_key: string;
  execution_id: string;
  project_id: string;
  organization_id: string;
  instructions: string;
  goal: string;
  agent: Pick<AgentPlan, '_id' | 'title' | 'llm'>;
  output: string;
}

export interface RenderGoalRequest {
  template: string;
  failure: ExecutionFailure;
  context: StepContext;
}

/** An action as the model may call it. */
export interface ToolOffer {
  /** Unique within the turn, in the alphabet of function names: 1 to 64 of A-Z a-z 0-9 _ -. */
  name: string;
  description: string;
  fields: SchemaField[];
}

export interface ToolCall {
  id: string;
  name: string;
  /** JSON text as the model wrote it: not yet parsed, perhaps not JSON at all. */
  arguments: string;
}

/** What happened in the turns of the agent at work so far, in order. */
export type TurnMessage =
  | { role: 'assistant'; content: string; tool_calls: ToolCall[] }
  | { role: 'tool'; tool_call_id: string; content: string };

export interface ModelTurnRequest {
  idempotency_key: string;
  execution_id: string;
  project_id: string;
  organization_id: string;
  /** The person or key whose rights the execution has. */
  executed_by: string;
  /** Events of the turn's stream stand behind this event of the execution. */
  after_seq: number;
  tools: ToolOffer[];
  conversation: TurnMessage[];
  agent: Pick<AgentPlan, '_id' | 'title' | 'role' | 'role_description' | 'llm' | 'prompt' | 'context' | 'has_knowledge_base'>;
  context: StepContext;
}

export interface ModelTurn {
  model: string;
  content: string;
  /** Empty when the agent has said its last word. */
  tool_calls: ToolCall[];
  usage: { input_tokens: number; output_tokens: number };
  /** What an agent with a knowledge base was given of the context graph, and by which governed call. */
  knowledge?: { lifecycle_id: string; query: string; entities: string[] };
}

export interface AnomalyCheck {
  /** Null when the output is as the instructions want it. */
  finding: string | null;
  model: string;
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
  /** What the actions would do, without doing it. */
  composePreview(request: ComposePreviewRequest): Promise<StepResult<ProposedAction[]>>;
  detectAnomaly(request: DetectAnomalyRequest): Promise<StepResult<AnomalyCheck>>;
  renderGoal(request: RenderGoalRequest): Promise<StepResult<string>>;
}
