import { missingVariables } from '../../../prompts/missing-variables.js';
import type { GivenInputs } from '../../../prompts/variables.js';
import type { AgentflowDocument } from '../agentflows/schemas.js';

/** A problem for each variable that the prompt of an agent on the way from `firstAgentId` surely lacks. */
export function missingVariableProblems({ agents }: Pick<AgentflowDocument, 'agents'>, firstAgentId: string, inputs: GivenInputs): string[] {
  const problems: string[] = [];
  const met = new Set<string>();
  for (let agent = agents.find(({ _id }) => _id === firstAgentId); agent && !met.has(agent._id); ) {
    const { _id, title, prompt, next_agent } = agent;
    met.add(_id);
    const what = `the prompt of agent "${title}" (${_id})`;
    problems.push(...missingVariables(what, prompt, inputs).map((name) => `${what} needs the variable "${name}"`));
    agent = agents.find((other) => other._id === next_agent);
  }
  return problems;
}
