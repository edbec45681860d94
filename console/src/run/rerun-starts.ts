import type { Execution, Step } from '../api.js';
import { failureOf } from '../states.js';
import { pathText, placeOf } from './flow-path.js';
import { inOrder, isStep, nodeIdOf } from './flow-states.js';

/** The maximum number of failed parts that are offered. */
const maxParts = 50;

type Start = { value: string; name: string };

/** Returns where a failed run failed, if a rerun can start there; empty for the beginning. */
export function failedStart(run: Execution, steps: readonly Step[], starts: readonly Start[]): string {
  const failure = failureOf(run);
  const failed = steps.find(({ step_id }) => step_id === failure?.step_id);
  if (!failed) return '';
  const places = [placeOf(nodeIdOf(failed), failed.path), nodeIdOf(failed)];
  return places.find((place) => starts.some(({ value }) => value === place)) ?? '';
}

/**
 * Returns where a rerun can start: the agents and steps of the main part that the run has reached, and those in parts
 * that have failed. A chain of agents can start from each of them except the first.
 */
export function startsOf(run: Execution, steps: readonly Step[]): Start[] {
  const nodes = inOrder(run);
  if (!nodes.some(isStep))
    return nodes.slice(1).map(({ _id, title }) => ({ value: _id, name: `${title} (keep earlier outputs)` }));
  const titles = new Map(nodes.map(({ _id, title }) => [_id, title || _id]));
  const kept = run.agents_output.filter(({ path }) => path === undefined).map(({ agent_id }) => agent_id);
  const reached = new Set([...kept, ...steps.filter(({ path }) => path === undefined).map(nodeIdOf)]);
  const failed = new Map(
    steps
      .filter(({ path, status }) => path !== undefined && status === 'failed')
      .flatMap((step) => {
        const title = titles.get(nodeIdOf(step));
        return title === undefined
          ? []
          : [[placeOf(nodeIdOf(step), step.path), `${title} in ${pathText(step.path, run)}`]];
      }),
  );
  return [
    ...nodes
      .filter(({ _id }) => reached.has(_id))
      .map(({ _id }) => ({ value: _id, name: `${titles.get(_id) ?? _id} (keep what ended before)` })),
    ...[...failed]
      .slice(0, maxParts)
      .map(([value = '', name = '']) => ({ value, name: `${name} (keep the other parts)` })),
  ];
}
