import type { AgentOutput, ExecutionState } from './messages.js';
import type { CurrentAgent, PathState } from './path-state.js';

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
    child: null,
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

/** `name` after its path: the same name for the main part, so that the ids of a chain of agents have no prefix. */
export function inPath(path: string, name: string): string {
  return path === mainPath ? name : `${path}/${name}`;
}

/** `name` within the path of a state. */
export function idInPath(path: Pick<PathState, 'path' | 'call'>, name: string): string {
  return inPath(placeOf(path), name);
}

/** Where in the flow the path is: that of its agent for a call. */
export function placeOf({ path, call }: Pick<PathState, 'path' | 'call'>): string {
  return call?.of ?? path;
}

/** The agent that runs on the path, or that has made the call of the path. */
export function agentAtWork({ paths }: Paths, path: PathState): CurrentAgent | null {
  return path.call ? (paths[path.call.of]?.current ?? null) : path.current;
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

/** The JSON value of an output: a text, unless it has a schema. */
export function valueOf(output: Pick<AgentOutput, 'output' | 'value'>): unknown {
  return 'value' in output ? output.value : output.output;
}

/** The outputs by the id of their agent or step that a path knows. */
export function outputsOn(
  state: Paths & Pick<ExecutionState, 'agents_output'>,
  path: Pick<PathState, 'path'>,
): Record<string, unknown> {
  const ofAgents = agentOutputsOn(state, path).map((output) => [output.agent_id, valueOf(output)] as const);
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
  return ofAgent ? valueOf(ofAgent) : null;
}
