import type { ActAwaitingApproval, Elicitation, UnsettledAnomaly } from './act-messages.js';
import type { ActionResult, ExecutionState } from './messages.js';
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

const mainPath = '';

export function newPath(path: string, next: string | null, names: Record<string, unknown> = {}): PathState {
  return {
    path,
    next,
    last: null,
    current: null,
    outputs: {},
    names,
    parts: null,
    record_at: null,
    waits_until: null,
    unchecked: null,
    unsettled_anomaly: null,
    held: null,
    elicitation: null,
    failed_step_id: null,
  };
}

export function newMainPath(next: string | null): PathState {
  return newPath(mainPath, next);
}

type Paths = Pick<ExecutionState, 'paths'>;

export function mainPathOf({ paths }: Paths): PathState {
  const main = paths[mainPath];
  if (!main) throw new Error('the run has no main path');
  return main;
}

export function pathsOf({ paths }: Paths): PathState[] {
  return Object.values(paths);
}

/** The paths that do something themselves, and do not only wait for the parts of a step. */
export function activePathsOf({ paths }: Paths): PathState[] {
  return Object.values(paths).filter(({ parts }) => parts === null);
}

/** `name` within a path: the same name for the main part, so that the ids of a chain of agents have no prefix. */
export function idInPath({ path }: Pick<PathState, 'path'>, name: string): string {
  return path === mainPath ? name : `${path}/${name}`;
}

/** Whether `outer` is the path `inner`, or a path around it. */
function encloses(outer: string, inner: string): boolean {
  return outer === mainPath || outer === inner || inner.startsWith(`${outer}/`);
}

/** The paths around a path, from the main part to the path itself. */
export function pathsAround({ paths }: Paths, { path }: Pick<PathState, 'path'>): PathState[] {
  // A path consists of pairs: a step, and one of its parts.
  const names = path === mainPath ? [] : path.split('/');
  const ends = Array.from({ length: names.length / 2 + 1 }, (_one, at) => names.slice(0, 2 * at).join('/'));
  return ends.flatMap((end) => paths[end] ?? []);
}

/** The outputs of agents that a path knows: its own and those of the paths around it, in order. */
export function agentOutputsOn(
  { agents_output }: Pick<ExecutionState, 'agents_output'>,
  { path }: Pick<PathState, 'path'>,
) {
  return agents_output.filter((output) => encloses(output.path ?? mainPath, path));
}

/** The outputs by the id of their agent or step that a path knows. */
export function outputsOn(
  state: Paths & Pick<ExecutionState, 'agents_output'>,
  path: Pick<PathState, 'path'>,
): Record<string, unknown> {
  const ofAgents = agentOutputsOn(state, path).map(({ agent_id, output }) => [agent_id, output] as const);
  const ofSteps = pathsAround(state, path).flatMap(({ outputs }) => Object.entries(outputs));
  return Object.fromEntries([...ofAgents, ...ofSteps]);
}

/** What the last agent or step of the path returned; null if there was none. */
export function outputOfPath(
  state: Pick<ExecutionState, 'agents_output'>,
  { path, last, outputs }: PathState,
): unknown {
  if (last === null) return null;
  if (Object.hasOwn(outputs, last)) return outputs[last];
  const ofAgent = state.agents_output.findLast(
    (output) => output.agent_id === last && (output.path ?? mainPath) === path,
  );
  return ofAgent?.output ?? null;
}
