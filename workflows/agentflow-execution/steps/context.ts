import type { ActionResult } from '../action-result.js';
import type { AgentOutput, Document } from '../messages.js';
import { agentAtWork, agentOutputsOn, outputsOn, pathsAround, valueOf } from '../paths.js';
import type { StepRun } from './definition.js';

/** What prompts and action inputs may refer to. */
export interface StepContext {
  goal: string;
  input_variables: Record<string, unknown>;
  runtime_inputs: Record<string, unknown>;
  documents: Document[];
  /** The outputs of earlier agents that the path knows, in order. */
  outputs: { agent_id: string; title: string; output: unknown }[];
  /** In a flow with steps: the outputs of agents and steps by id, and the names of the part, such as `item`. */
  outputs_by_id?: Record<string, unknown>;
  names?: Record<string, unknown>;
  /** The results of the current agent's actions, in order. */
  actions: ActionResult[];
}

export function contextOf({ input, state, path }: StepRun): StepContext {
  const ofSteps = input.steps && { outputs_by_id: outputsOn(state, path), names: namesOn(state, path) };
  return {
    goal: goalOf({ input, state }),
    input_variables: input.input_variables,
    runtime_inputs: input.runtime_inputs,
    documents: state.documents ?? [],
    outputs: [...outputsGiven(input), ...agentOutputsOn(state, path).map(shown)],
    actions: agentAtWork(state, path)?.results ?? [],
    ...ofSteps,
  };
}

function shown(output: AgentOutput): StepContext['outputs'][number] {
  return { agent_id: output.agent_id, title: output.title, output: valueOf(output) };
}

function outputsGiven({ given }: StepRun['input']): StepContext['outputs'] {
  return given ? given.agents.map((agent) => ({ ...agent, output: given.outputs[agent.agent_id] })) : [];
}

/** The names of the parts around a path. Those of an inner part take precedence. */
export function namesOn(state: StepRun['state'], path: StepRun['path']): Record<string, unknown> {
  return Object.assign({}, ...pathsAround(state, path).map(({ names }) => names)) as Record<string, unknown>;
}

export function goalOf({ input, state }: Pick<StepRun, 'input' | 'state'>): string {
  return state.failover?.goal ?? input.goal;
}
