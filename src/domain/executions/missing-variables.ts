import { missingVariables } from '../../prompts/missing-variables.js';
import type { GivenInputs } from '../../prompts/variables.js';
import type { AgentflowDocument } from '../agentflows/record.js';

/** Lists the variables that the prompts of the agents from `firstAgentId` on require but cannot get. */
export function missingVariableProblems(
  { agents }: Pick<AgentflowDocument, 'agents'>,
  firstAgentId: string,
  inputs: GivenInputs,
): string[] {
  const problems: string[] = [];
  const visited = new Set<string>();
  for (let agent = agents.find(({ _id }) => _id === firstAgentId); agent && !visited.has(agent._id);) {
    const { _id, title, prompt, next_agent } = agent;
    visited.add(_id);
    const what = `the prompt of agent "${title}" (${_id})`;
    problems.push(...missingVariables(what, prompt, inputs).map((name) => `${what} needs the variable "${name}"`));
    agent = agents.find((other) => other._id === next_agent);
  }
  return problems;
}
