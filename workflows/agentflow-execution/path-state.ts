import type { ActAwaitingApproval, Elicitation, UnsettledAnomaly } from './act-messages.js';
import type { ActionResult } from './action-result.js';
import type { TurnMessage } from './model-turn.js';

/** The agent that is running. `nextStep` derives its next step from what it has done. */
export interface CurrentAgent {
  agent_id: string;
  started_at: number;
  /** Results of the actions before the first model turn. */
  results: ActionResult[];
  /** The number of model turns taken. */
  turns: number;
  conversation: TurnMessage[];
  tool_results: ActionResult[];
  usage: { input_tokens: number; output_tokens: number };
  /** The tokens of the runs that its tool calls have started. Absent before the first has ended. */
  tokens_of_children?: number;
  /** The model of the last turn. */
  model: string | null;
  /** The final answer, while it waits for a preview. */
  draft: { model: string; content: string; value?: unknown } | null;
  /** The number of answers that did not match the schema, and why the last one did not. */
  unfit?: { count: number; problems: string[] };
  /** Whether a person has decided on a preview of this agent. */
  is_previewed: boolean;
}

/** How a part of a step ended. */
export type PartResult = { output: unknown } | { error: { code: string; message: string } };

/** The parts of the step that a path is at. */
export interface StepParts {
  /** The results by branch, index or round. */
  ended: Record<string, PartResult>;
  /** The list of a `map`. */
  items?: unknown[];
  /** The runs among which a `map` over many items divides them, in the order of the items. */
  slices?: Slice[];
  /** The rounds of a `loop` that have ended, and what the next one knows as `carry`. */
  rounds?: number;
  carry?: unknown;
}

/** The items of a `map` on which one run of its own works. */
export interface Slice {
  /** The index of its first item. */
  from: number;
  count: number;
}

/** The slice of a path. The run that works on it is the child of the path. */
export interface SliceOnPath extends Slice {
  /** The `map` step. */
  step_id: string;
  /** How many items its run works on at once; 0 before it is started. */
  concurrency: number;
}

/** A run that a `flow` step, a tool call or a slice starts and waits for. */
export interface ChildRun {
  execution_id: string;
  /** The `StartChildRequest` that starts it, whose type contains this one; absent once it was started. */
  request?: unknown;
  /** The run was told to pause. */
  is_paused: boolean;
  /** How often its result was read. */
  reads: number;
  /** How it ended; null while it runs. */
  end: ChildEnd | null;
}

/** What a `wait` step waits for. Times are epoch seconds. */
export interface EventAwaited {
  step_id: string;
  name: string;
  requested_at: number;
}

/**
 * `tokens` are those of the run and of all runs that it has waited for. For the run of a slice, `step_id` is the step that has
 * failed, and `ends_run` says that the failure concerns the whole run.
 */
export type ChildEnd = { tokens?: number } & (
  { output: unknown } | { error: { code: string; message: string; step_id?: string | null; ends_run?: boolean } }
);

/** A tool call with a path of its own, so that it can wait for people by itself. */
export interface CallOnPath {
  /** The path of the agent. */
  of: string;
  agent_id: string;
  call_id: string;
  step_id: string;
}

/**
 * One line of work: the main part of the flow, a part of one of its steps, or one of several calls at once. On a path, one thing happens after the
 * other. Paths run at the same time. Times are epoch seconds.
 */
export interface PathState {
  /** Empty for the main part. Otherwise the path around it, the step, and the branch, index or round: `each/17`. */
  path: string;
  /** For one of the calls of a turn that run at once. Ids and events name the path of its agent. */
  call?: CallOnPath;
  /** For a slice of the items of a `map`. */
  slice?: SliceOnPath;
  /** The agent or step that the path is at; null at its end. */
  next: string | null;
  /** The agent or step that ended last. */
  last: string | null;
  current: CurrentAgent | null;
  /** The outputs of the path's steps by id. Those of its agents are in `agents_output`. */
  outputs: Record<string, unknown>;
  /** What expressions and templates know besides the common names. */
  names: Record<string, unknown>;
  parts: StepParts | null;
  /** The position in `steps` of the record of the current step, if the step runs in the workflow itself. */
  record_at: number | null;
  /** When the current `wait` ends. A pause moves it, unless the wait is until a time of the calendar. */
  waits_until: { at: number; is_fixed: boolean } | null;
  /** The event that the current `wait` step waits for. Absent before the first. */
  event?: EventAwaited | null;
  /** The run that the current `flow` step has started. */
  child: ChildRun | null;
  /** The output of the flow matches its schema. */
  is_output_checked?: true;
  /** The position in `agents_output` of an output that was not checked for anomalies. */
  unchecked: number | null;
  /** The last finding after which the rules have not permitted the run to continue. */
  unsettled_anomaly: UnsettledAnomaly | null;
  /** The act that waits for an approval. */
  held: ActAwaitingApproval | null;
  /** What an MCP server asks a person during the current step. */
  elicitation: Elicitation | null;
  /** The step whose failure ended the path. */
  failed_step_id: string | null;
}

/** What an earlier run has done on a path, so that a rerun continues at `next`. A path that has ended has no `next`. */
export type KeptPath = Pick<PathState, 'next' | 'last' | 'outputs'>;

/** The items of a `map` in an earlier run, with which a rerun continues. */
export interface KeptItems {
  /** The earlier run. */
  execution_id: string;
  /** The place of the step, also if the earlier run has reached it after its failover. */
  place: string;
  /** Where the rerun begins within the items, after the place of the step: `17/price`. Absent if it begins elsewhere. */
  from?: string;
}
