import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { TurnMessage } from './activities.js';
import type { Preview } from './preview-messages.js';

/** What a client, an operator or another workflow needs to talk to an `agentflowExecution` (design, Workflows). */
export const agentflowExecutionType = 'agentflowExecution';

export function executionWorkflowId(executionId: string): string {
  return `execution/${executionId}`;
}

export type ExecutionStatus = 'ready' | 'running' | 'paused' | 'completed' | 'failed';

export interface SchemaField {
  field_id: string;
  label: string;
  type: string;
  required: boolean;
  description: string;
}

export interface ActionPlan {
  _id: string;
  name: string;
  description?: string;
  category: string;
  method: string;
  endpoint: string;
  is_terminal: boolean;
  next_action_id: string | null;
  input_schema: { fields: SchemaField[] };
  output_schema: { fields: SchemaField[] };
}

export interface SkillPlan {
  _id: string;
  name: string;
  /** Absent in runs that began before skills had one. */
  connector_id?: string | null;
  initial_action_id: string | null;
  actions: ActionPlan[];
}

export interface AgentPlan {
  _id: string;
  title: string;
  role: string;
  role_description: string;
  llm: { model: string; temperature: number; max_tokens: number };
  prompt: { template: string; variables: string[] };
  context: unknown[];
  /** Absent in plans that were made before it was used. */
  has_knowledge_base?: boolean;
  skills: SkillPlan[];
  next_agent: string | null;
  /** Model turns that the agent may take, and tokens that they may use together; by default `agentDefaults`. */
  max_turns?: number;
  max_total_tokens?: number;
  /** A person decides before the agent acts; `preview_timeout_seconds` is how long it waits for one. */
  is_preview_mode_enabled?: boolean;
  preview_timeout_seconds?: number;
  /** Inputs for the actions before the first model turn, and for the tool calls after it. */
  action_inputs?: { pre: Record<string, unknown>; post: Record<string, unknown> };
}

export const agentDefaults = { max_turns: 12, max_total_tokens: 500_000, preview_timeout_seconds: 7 * 24 * 3600 } as const;

/** Characters that a run keeps: they travel in the context of its steps and stand in its record, which MongoDB bounds to 16 MB. */
export const keptAtMost = 2 * 1024 * 1024;

/** A document of the execution: where its bytes lie in the file store. */
export interface DocumentReference {
  name: string;
  mime_type: string;
  location: string;
  /** `file` for an uploaded file; else what came with the request. */
  store?: 'blob' | 'file' | undefined;
}

/** Everything that a run needs, so that it never depends on a record that somebody edits meanwhile. */
export interface AgentflowExecutionInput {
  execution_id: string;
  project_id: string;
  organization_id: string;
  agentflow_id: string;
  agentflow_name: string;
  executed_by: string;
  goal: string;
  input_variables: Record<string, unknown>;
  runtime_inputs: Record<string, unknown>;
  files: DocumentReference[];
  agents: AgentPlan[];
  /** The agent to begin with: the agentflow's `initialAgent`, or the caller's `start_from_agent_id`. */
  first_agent_id: string;
  /** Absent when it is off. */
  anomaly_detection?: { instructions: string };
  /** What to do after a failure, from which agent; a template is rendered when it comes to that. */
  failover?: { goal: string | { template: string }; first_agent_id: string };
  /** Outputs of another execution that this one, its rerun, goes on from. */
  kept_outputs?: AgentOutput[];
  /** Continue as new when the history holds so many events; the server's own suggestion counts as well. */
  max_history_events: number;
  /** The `AgentflowStatus` that the run was started with; `ready` where this is left out. */
  status_indexed?: ExecutionStatus;
  /** Who cancelled the execution before anybody executed it: the run then only ends. */
  cancelled?: MoveRequest;
  /** The state of the run before, after continue-as-new. */
  resumed?: ExecutionState;
}

export type StepKind = 'documents' | 'action' | 'model' | 'preview' | 'anomaly' | 'goal';

/** One step, the unit that a killed worker repeats at most. Times are epoch seconds. */
export interface StepRecord {
  step_id: string;
  kind: StepKind;
  agent_id: string;
  skill_id: string | null;
  action_id: string | null;
  name: string;
  status: 'running' | 'completed' | 'failed' | 'cancelled';
  attempts: number;
  started_at: number;
  ended_at: number | null;
  error: string | null;
}

export interface ActionResult {
  action_id: string;
  skill_id: string;
  name: string;
  output: unknown;
}

export interface AgentOutput {
  agent_id: string;
  title: string;
  model: string;
  output: string;
  actions: ActionResult[];
  usage: { input_tokens: number; output_tokens: number };
  started_at: number;
  ended_at: number;
  /** The execution that it was taken from, in a rerun. */
  kept_from?: string;
}

export interface Document {
  name: string;
  mime_type: string;
  text: string;
}

/** Why a run ends by its own rules. */
export const endCodes = ['limit_exceeded', 'preview_rejected', 'preview_expired'] as const;
export type EndCode = (typeof endCodes)[number];

export interface ExecutionFailure {
  /** `step_failed` has the code of the step's error; of the others code and reason are the same. */
  reason: 'cancelled' | 'step_failed' | EndCode;
  code: string;
  message: string;
  by: string | null;
  at: number;
  step_id: string | null;
}

export interface ExecutionConclusion {
  conclusion: string;
  links: string[];
  created_at: number;
}

export interface ExecutionEvent {
  seq: number;
  type: string;
  at: number;
  data: Record<string, unknown>;
}

/** The agent at work: which step comes next follows from its results (`nextStep`). */
export interface AgentAtWork {
  agent_id: string;
  started_at: number;
  /** Of the actions before the first model turn. */
  results: ActionResult[];
  /** Model turns taken; what they said and were told; what their tool calls gave back. */
  turns: number;
  conversation: TurnMessage[];
  tool_results: ActionResult[];
  usage: { input_tokens: number; output_tokens: number };
  /** Of the last turn. */
  model: string | null;
  /** The last word of an agent whose output is previewed. */
  draft: { model: string; content: string } | null;
  /** Whether a person has decided on something of this agent. */
  is_previewed: boolean;
}

/** Model turns that stand in no output: a check's, or those of an agent that did not end. */
export interface Spending {
  /** The same whenever it is told again, and one in its execution. */
  key: string;
  model: string;
  input_tokens: number;
  output_tokens: number;
}

export interface Anomaly {
  agent_id: string;
  finding: string;
  at: number;
}

/** Plain JSON and complete: it is carried over continue-as-new and is what the query answers. */
export interface ExecutionState {
  status: ExecutionStatus;
  started_at: number;
  end_time: number | null;
  current: AgentAtWork | null;
  documents: Document[] | null;
  steps: StepRecord[];
  agents_output: AgentOutput[];
  conclusion: ExecutionConclusion | null;
  failure: ExecutionFailure | null;
  /** By agent, the last one asked for. */
  previews: Record<string, Preview>;
  anomalies: Anomaly[];
  /** How many outputs were checked for anomalies. */
  checked: number;
  /** What the projection has not been told of. */
  spent: Spending[];
  /** The failure after which the run went on; `goal` is null until its template is rendered. */
  failover: { from: ExecutionFailure; at: number; goal: string | null } | null;
  /** How many outputs stood before the present way through the flow: those kept, and those before a failover. */
  round_start: number;
  pause: { by: string; at: number } | null;
  last_event_seq: number;
  /** Size of the documents, answers and outputs so far, in characters of JSON. */
  kept: number;
  /** Events that the projection does not hold yet. */
  unpublished: ExecutionEvent[];
  /** How many settled steps and outputs the projection holds. */
  published: { steps: number; outputs: number };
}

export interface MoveRequest {
  /** Who asks, as it is to be shown: a user id, or `operator` when the field is left out in the Temporal UI. */
  by?: string;
  reason?: string;
}

export interface MoveResult {
  execution_id: string;
  status: ExecutionStatus;
}

/** Signals take effect where the state allows it and are otherwise noted as an event and ignored. */
export const pauseSignal = defineSignal<[MoveRequest]>('pause');
export const resumeSignal = defineSignal<[MoveRequest]>('resume');
export const cancelSignal = defineSignal<[MoveRequest]>('cancel');

/** Updates of the same moves, for callers that need the verdict; refused with type `conflict` in a wrong state. */
export const pauseUpdate = defineUpdate<MoveResult, [MoveRequest]>('pause');
export const resumeUpdate = defineUpdate<MoveResult, [MoveRequest]>('resume');
export const cancelUpdate = defineUpdate<MoveResult, [MoveRequest]>('cancel');

export const stateQuery = defineQuery<ExecutionState>('state');
/** The events that the projection does not hold yet: what a stream of events asks again and again. */
export const eventsQuery = defineQuery<ExecutionEvent[]>('events');
