import { runParts, type Stop } from './flow/run-parts.js';
import type { ExecutionState } from './messages.js';
import type { ReadsDue } from './next-step.js';
import type { PathState } from './path-state.js';
import { idInPath } from './paths.js';
import { stepIdOf } from './steps/index.js';
import { sortAnswers } from './tools.js';

/** How many calls of one turn run at once. */
const maxAtOnce = 8;

interface AgentOnPath {
  state: ExecutionState;
  path: PathState;
  runPath: (path: PathState) => Promise<Stop>;
}

/**
 * Runs the calls of a turn that only read, each on a path of its own: a call that waits for an approval or a person holds
 * only itself, and nothing that another call gets can release it.
 */
export async function runReads({ state, path, runPath }: AgentOnPath, { agent, calls }: ReadsDue): Promise<Stop> {
  const place = idInPath(path, agent._id);
  const runCall = (inner: PathState): Promise<Stop> => {
    const call = calls.find(({ index }) => inner.path === `${place}/${index}`);
    if (!call || !path.current) return Promise.resolve('done');
    const { skill, action } = call;
    const step = { kind: 'tool', agent, skill, action, turn: path.current.turns, call } as const;
    inner.call ??= {
      ...{ of: path.path, agent_id: agent._id, call_id: call.id },
      step_id: stepIdOf(step, state, path),
    };
    return runPath(inner);
  };
  const parts = calls.map(({ index }) => ({ name: String(index), first: agent._id }));
  const rules = { concurrency: maxAtOnce, keepsErrors: false };
  const stop = await runParts({ state, path, place, runPath: runCall }, parts, rules);
  if (stop === 'history is full') return stop;
  path.parts = null;
  if (path.current) sortAnswers(agent, path.current);
  return 'done';
}
