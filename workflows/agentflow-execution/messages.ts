import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { McpToolPlan } from './mcp-tool-plan.js';
import type { Spending } from './model-turn.js';
import type { AgentOutput } from './agent-output.js';
import type { Anomaly } from './act-messages.js';
import type { ReceivedEvents } from './flow/received-events.js';
import type { FlowStep } from './flow/flow-steps.js';
import type { LaterBehaviour } from './later-behaviour.js';
import type { KeptItems, KeptPath, PathState } from './path-state.js';
import type { Preview } from './preview-record.js';
import type { SchemaField } from './schema-field.js';
import type { SliceOfRun } from './slice-of-run.js';
import type { StepRecord } from './step-record.js';
import type { RunTurn, TurnPlan } from './turn-messages.js';

export type { AgentOutput } from './agent-output.js';
export type { SliceOfRun } from './slice-of-run.js';

/** What clients, operators and other workflows use to work with an `agentflowExecution` (design, Workflows). */
export const agentflowExecutionType = 'agentflowExecution';

export function executionWorkflowId(executionId: string): string {
  return `execution/${executionId}`;
}

export const executionStatuses = ['ready', 'running', 'paused', 'completed', 'failed'] as const;
export type ExecutionStatus = (typeof executionStatuses)[number];

export interface ActionPlan {
  _id: string;
  name: string;
  description?: string;
  category: string;
  method: string;
  endpoint: string;
  /** The format of the body of an HTTP call; JSON by default. */
  content_type?: string;
  /** The headers of an HTTP answer that become part of the output. */
  response_headers?: string[];
  /** The template of the line that approvers read. */
  summary?: string;
  is_terminal: boolean;
  next_action_id: string | null;
  input_schema: { fields: SchemaField[] };
  output_schema: { fields: SchemaField[] };
  /** For category `mcp`. */
  tool?: McpToolPlan;
  /** For category `agentflow` without fields of its own: the JSON Schema of the arguments, which the model gets. */
  agentflow?: { input_schema: Record<string, unknown> };
  /** For category `agentflow` in a release: the release that the call starts. */
  version?: number;
}

export interface SkillPlan {
  _id: string;
  name: string;
  connector_id: string | null;
  initial_action_id: string | null;
  actions: ActionPlan[];
}

export interface AgentPlan {
  _id: string;
  title: string;
  role: string;
  role_description: string;
  llm: { model: string; temperature: number | null; max_tokens: number | null };
  prompt: { template: string; variables: string[] };
  context: unknown[];
  has_knowledge_base: boolean;
  skills: SkillPlan[];
  next_agent: string | null;
  /** The JSON Schema of the output. Without it, the output is a text. */
  output_schema?: Record<string, unknown>;
  /** For a `branch` whose case a model chooses: where the flow continues, by the name of the case in its output. */
  cases?: Record<string, string | null>;
  /** For an `action` step: its only skill has the action, and it has no model. `inputs` are expressions by field. */
  step?: { inputs: Record<string, string> };
  /** The maximum number of model turns of the agent, and of tokens in all turns. The default is `agentDefaults`. */
  max_turns?: number;
  max_total_tokens?: number;
  /** A person decides before the agent acts, within `preview_timeout_seconds`. */
  is_preview_mode_enabled?: boolean;
  preview_timeout_seconds?: number;
  /** Inputs for the actions before the first model turn, and for the tool calls after it. */
  action_inputs?: { pre: Record<string, unknown>; post: Record<string, unknown> };
}

/** The time limit of a preview is in seconds. */
export const agentDefaults = { max_turns: 12, max_total_tokens: 500_000, preview_timeout_seconds: 604_800 } as const;

/** The maximum number of characters that a run keeps: MongoDB limits its record, which contains them, to 16 MB. */
export const maxKeptCharacters = 2 * 1024 * 1024;

/** A document of the execution, with the location of its bytes in the file store. */
export interface DocumentReference {
  name: string;
  mime_type: string;
  location: string;
  /** `file` for an uploaded file; otherwise the document came with the request. */
  store?: 'blob' | 'file' | undefined;
}

/** Everything that a run needs, so that it does not depend on records that can be edited while it runs. */
export interface AgentflowExecutionInput extends LaterBehaviour {
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
  /** Absent if the flow has only agents. */
  steps?: FlowStep[];
  /** The JSON Schema of what the flow returns. */
  output_schema?: Record<string, unknown>;
  /** The agentflow's `initialAgent`, or the caller's `start_from_agent_id`. */
  first_agent_id: string;
  /** Absent if it is disabled. */
  anomaly_detection?: { instructions: string };
  /** The goal and the first agent after a failure. A template is rendered only when it is needed. */
  failover?: { goal: string | { template: string }; first_agent_id: string };
  turn?: TurnPlan;
  /** For a step that is tried alone: the outputs by id and the names that it knows, and which of the outputs are of agents, in order. */
  given?: Pick<PathState, 'outputs' | 'names'> & { agents: { agent_id: string; title: string }[] };
  /** For a rerun: outputs of the earlier execution, which this one continues from. */
  kept_outputs?: AgentOutput[];
  /** For a rerun from a step: where the paths begin, and the records of what has ended on them. */
  kept?: { paths: Record<string, KeptPath>; steps: StepRecord[]; items?: Record<string, KeptItems> };
  /** For a run that works on a slice of the items of a `map` of another run. */
  slice?: SliceOfRun;
  /** The run continues as new when its history has this many events, or when the server suggests it. */
  max_history_events: number;
  /** How long a step is retried after transient failures. */
  step_patience_seconds: number;
  /** The `AgentflowStatus` that the run was started with; `ready` by default. */
  status_indexed?: ExecutionStatus;
  started_by: 'person' | 'schedule' | 'trigger';
  /** The promoted version that is run; absent for an agentflow that was run without one. */
  agentflow_version?: number;
  /** For the run of a `flow` step: the workflow that waits for its end. */
  notifies?: string;
  /** The agentflows of the runs that started each other before this one, from the first. Absent for a run that no run has started. */
  parents?: string[];
  /** The request that cancelled the execution before it started: the run ends at once. */
  cancelled?: MoveRequest;
  /** The state of the previous run, after continue-as-new. */
  resumed?: ExecutionState;
}

export interface Document {
  name: string;
  mime_type: string;
  text: string;
}

/** Why a run ends its execution by itself. */
export const endCodes = ['limit_exceeded', 'preview_rejected', 'preview_expired'] as const;
type EndCode = (typeof endCodes)[number];

/** Why a run ended without its workflow being able to report it, in the execution's record. */
type LostReason = 'terminated' | 'timed_out' | 'lost';

export interface ExecutionFailure {
  /** For `step_failed`, `code` is the code of the step's error; otherwise it equals the reason. */
  reason: 'cancelled' | 'step_failed' | EndCode | LostReason;
  code: string;
  message: string;
  by: string | null;
  at: number;
  step_id: string | null;
}

export interface ExecutionConclusion {
  conclusion: string;
  /** The output of the flow, unless it is a text. */
  output?: unknown;
  links: string[];
  created_at: number;
}

export interface ExecutionEvent {
  seq: number;
  type: string;
  at: number;
  data: Record<string, unknown>;
}

/** Plain JSON and complete: it is passed to the next run by continue-as-new, and the query returns it. */
export interface ExecutionState {
  status: ExecutionStatus;
  started_at: number;
  end_time: number | null;
  /** By `path`. A path that has ended is removed, except the main one. */
  paths: Record<string, PathState>;
  /** In a rerun from a step: where the parts of steps begin, until they do. */
  kept_paths?: Record<string, KeptPath>;
  documents: Document[] | null;
  steps: StepRecord[];
  agents_output: AgentOutput[];
  conclusion: ExecutionConclusion | null;
  failure: ExecutionFailure | null;
  /** The last preview requested for each agent, by its id on its path. */
  previews: Record<string, Preview>;
  anomalies: Anomaly[];
  /** Usage that is not yet in the projection. */
  spent: Spending[];
  /** The failure after which the run continued. `goal` is null until its template is rendered. */
  failover: { from: ExecutionFailure; at: number; goal: string | null } | null;
  pause: { by: string; at: number } | null;
  /** Absent in runs that need no turn. */
  turn?: RunTurn;
  /** The evaluation steps that all expressions of the run have taken. Absent before the first. */
  work?: number;
  /** The tokens of all runs that this one has started and waited for. Absent before the first has ended. */
  tokens_of_children?: number;
  /** The ids of runs of `flow` steps that have ended recently. */
  ended_children?: string[];
  /** The events that were sent to the run. Absent before the first. */
  events?: ReceivedEvents;
  /** Whether the run has divided the items of a `map` among runs of their own. */
  has_slices?: true;
  /** A local activity lets other runs go first. */
  is_giving_way?: true;
  /** A batch of light steps is being filled or runs. */
  runs_light_steps?: true;
  /** Whether the run has waited for a person or its turn. */
  has_waited?: boolean;
  /** Steps that are not light, because they took too long once. Absent before the first. */
  slow_steps?: string[];
  /** The ids of recently settled approvals. */
  settled_approvals?: string[];
  last_event_seq: number;
  /** The size of the documents, answers and outputs so far, in characters of JSON. */
  kept: number;
  /** What is left of `room_in_record`. */
  room?: number;
  /** Events that are not yet in the projection. */
  unpublished: ExecutionEvent[];
  /** The numbers of steps and outputs that are in the projection, and the positions of those steps that had not ended. */
  published: { steps: number; open?: number[]; outputs: number };
  /** The time of the last write of the projection; 0 before the first. */
  projected_at: number;
}

export interface MoveRequest {
  /** Who makes the request: a user id. Defaults to `operator`, for requests from the Temporal UI. */
  by?: string;
  reason?: string;
  /** The caller of the update writes the new status to the record, so the run writes later. Not for `cancel`. */
  is_recorded_by_caller?: true;
}

export interface MoveResult {
  execution_id: string;
  status: ExecutionStatus;
  /** The number of the move's event, for a caller that writes the status. */
  seq?: number;
}

/** A signal that the state does not allow is recorded as an event and has no other effect. */
export const pauseSignal = defineSignal<[MoveRequest]>('pause');
export const resumeSignal = defineSignal<[MoveRequest]>('resume');
export const cancelSignal = defineSignal<[MoveRequest]>('cancel');
/** The signals that an operator may send with the Temporal UI or CLI. What such a signal contains is ignored. */
export const operatorSignals: readonly string[] = [pauseSignal.name, resumeSignal.name, cancelSignal.name];

/** The same moves as updates, for callers that need the result. Refused with type `conflict` if the state does not allow them. */
export const pauseUpdate = defineUpdate<MoveResult, [MoveRequest]>('pause');
export const resumeUpdate = defineUpdate<MoveResult, [MoveRequest]>('resume');
export const cancelUpdate = defineUpdate<MoveResult, [MoveRequest]>('cancel');

export const stateQuery = defineQuery<ExecutionState>('state');
/** Events that are not yet in the projection. Event streams poll this query. */
export const eventsQuery = defineQuery<ExecutionEvent[]>('events');
