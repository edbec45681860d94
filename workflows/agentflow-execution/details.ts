import type { AgentflowExecutionInput, ExecutionState } from './messages.js';
import type { PathState } from './path-state.js';
import { pathsOf } from './paths.js';
import { isWaitingForTurn } from './view.js';

function heldText({ held }: PathState): string[] {
  if (!held) return [];
  return [
    held.is_question ? 'Waiting for an answer to a question' : `Waiting for approval ${held.approval_id} of a call`,
  ];
}

/** The Markdown that the Temporal UI shows as the run's current details. */
export function detailsOf(input: AgentflowExecutionInput, state: ExecutionState): string {
  const done = state.agents_output.length;
  const of = input.steps ? '' : ` of ${input.agents.length}`;
  const step = state.steps.at(-1);
  return [
    `**${state.status}**: ${input.agentflow_name}`,
    `Agents: ${done}${of} completed`,
    ...(step ? [`Last step: ${step.name} (${step.status})`] : []),
    ...(isWaitingForTurn(state) ? ['Waiting for its turn: other runs of the agentflow go on first'] : []),
    ...Object.values(state.previews)
      .filter(({ status }) => status === 'waiting')
      .map(({ title }) => `Waiting for a decision on the preview of "${title}"`),
    ...pathsOf(state).flatMap(heldText),
    ...(state.failover ? [`Continued with the failover goal after: ${state.failover.from.message}`] : []),
    ...(state.pause ? [`Paused by ${state.pause.by}`] : []),
    ...(state.failure ? [`Ended by ${state.failure.reason}: ${state.failure.message}`] : []),
  ].join('\n\n');
}
