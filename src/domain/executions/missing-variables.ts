import {
  namesInPart,
  partsOf,
  successorsOf,
  type FlowStep,
} from '../../../workflows/agentflow-execution/flow/flow-steps.js';
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
  { agents, steps = [] }: { agents: readonly Prompted[]; steps?: readonly FlowStep[] | undefined },
  firstAgentId: string,
  inputs: GivenInputs,
  /** Names that the part around the first agent adds. */
  given: readonly string[] = [],
): string[] {
  const problems: string[] = [];
  const visited = new Set<string>();
  const visit = (first: string | null, names: ReadonlySet<string>): void => {
    const open = [first];
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (id === null || visited.has(id)) continue;
      visited.add(id);
      const step = steps.find(({ _id }) => _id === id);
      if (step) {
        open.push(...successorsOf(step).map(({ to }) => to));
        const inner = 'first' in step ? new Set([...names, ...namesInPart(step)]) : names;
        for (const part of partsOf(step)) visit(part.first, inner);
        continue;
      }
      const agent = agents.find(({ _id }) => _id === id);
      if (!agent) continue;
      const what = `the prompt of agent "${agent.title}" (${id})`;
      const missing = missingVariables(what, agent.prompt, inputs, names);
      problems.push(...missing.map((name) => `${what} needs the variable "${name}"`));
      open.push(agent.next_agent);
    }
  };
  visit(firstAgentId, new Set(given));
  return problems;
}
