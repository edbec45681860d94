import { missingVariables } from '../../prompts/missing-variables.js';
import type { GivenInputs } from '../../prompts/variables.js';

interface Prompted {
  _id: string;
  title: string;
  prompt: { template: string; variables: readonly string[] };
  next_agent: string | null;
}

/** Lists the variables that the prompts of the agents from `firstAgentId` on require but cannot get. */
export function missingVariableProblems(
  { agents }: { agents: readonly Prompted[] },
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
