import type { AgentflowExecutionInput, AgentPlan } from './messages.js';
import type { CurrentAgent, PathState } from './path-state.js';

/** How often an agent may correct an answer that does not match its schema. */
const maxRepairs = 2;

/** An agent whose output is that of the flow has the schema of the flow, unless it has one of its own. */
export function withOutputSchema(
  { output_schema }: Pick<AgentflowExecutionInput, 'output_schema'>,
  { path }: Pick<PathState, 'path'>,
  agent: AgentPlan,
): AgentPlan {
  const endsFlow = path === '' && agent.next_agent === null && !agent.step;
  return endsFlow && output_schema && !agent.output_schema ? { ...agent, output_schema } : agent;
}

/** What the model gets after an answer that does not match. Some endpoints ignore the schema of a request, so it is repeated. */
export function repairRequest(problems: readonly string[], schema: Record<string, unknown>): string {
  return [
    'This answer cannot be used:',
    ...problems.map((problem) => `- ${problem}`),
    'Answer again with one JSON value that matches this JSON Schema, and nothing else:',
    JSON.stringify(schema),
  ].join('\n');
}

/** Why the agent has failed; undefined while it may correct its answer. */
export function unfitProblem({ unfit }: Pick<CurrentAgent, 'unfit'>, { title }: AgentPlan): string | undefined {
  if (!unfit || unfit.count <= maxRepairs) return undefined;
  return `the output of "${title}" does not match its schema: ${unfit.problems.join('; ')}`.slice(0, 700);
}
