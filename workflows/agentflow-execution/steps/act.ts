import type { ActRun } from '../act-messages.js';
import type { AgentPlan } from '../messages.js';
import { pathsOf } from '../paths.js';
import { shownPath } from '../state.js';
import type { StepRun } from './definition.js';

export function actRunOf({ input, state, path }: StepRun, { _id, title }: Pick<AgentPlan, '_id' | 'title'>): ActRun {
  const spent = [
    ...state.agents_output.map(({ usage }) => usage),
    ...pathsOf(state).flatMap(({ current }) => (current ? [current.usage] : [])),
  ];
  return {
    execution_id: input.execution_id,
    organization_id: input.organization_id,
    agentflow_id: input.agentflow_id,
    agentflow_name: input.agentflow_name,
    agentflow_version: input.agentflow_version ?? 0,
    agent_id: _id,
    agent_title: title,
    executed_by: input.executed_by,
    started_by: input.started_by ?? 'person',
    ...placeInRun(input, path),
    ...(input.slice && { part_of: input.slice.root }),
    ...(input.parents && { parents: input.parents }),
    tokens_spent: spent.reduce(
      (sum, { input_tokens, output_tokens }) => sum + input_tokens + output_tokens,
      (state.tokens_of_children ?? 0) + (input.slice?.tokens_before ?? 0),
    ),
  };
}

/** Rules see the same path whether an item has a run of its own or not. */
function placeInRun({ slice }: StepRun['input'], path: StepRun['path']): { path?: string } {
  const shown = shownPath(path);
  if (!slice || shown.path === undefined) return shown;
  const place = slice.place.replace(/^failover[/]/, '');
  return { path: `${place}${shown.path.slice(slice.step_id.length)}` };
}
