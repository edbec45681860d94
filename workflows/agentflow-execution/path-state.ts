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
  /** The model of the last turn. */
  model: string | null;
  /** The final answer, while it waits for a preview. */
  draft: { model: string; content: string } | null;
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
  /** The rounds of a `loop` that have ended, and what the next one knows as `carry`. */
  rounds?: number;
  carry?: unknown;
}

/** A run that a `flow` step starts and waits for. */
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

export type ChildEnd = { output: unknown } | { error: { code: string; message: string } };

/**
 * One line of work: the main part of the flow, or a part of one of its steps. On a path, one thing happens after the
 * other. Paths run at the same time. Times are epoch seconds.
 */
export interface PathState {
  /** Empty for the main part. Otherwise the path around it, the step, and the branch, index or round: `each/17`. */
  path: string;
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
  /** The run that the current `flow` step has started. */
  child: ChildRun | null;
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
