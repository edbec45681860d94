import type { ActionResult, Document } from '../messages.js';
import type { StepRun } from './definition.js';

/** What prompts and action inputs may refer to. */
export interface StepContext {
  goal: string;
  input_variables: Record<string, unknown>;
  runtime_inputs: Record<string, unknown>;
  documents: Document[];
  /** The outputs of earlier agents, in order. */
  outputs: { agent_id: string; title: string; output: string }[];
  /** The results of the current agent's actions, in order. */
  actions: ActionResult[];
}

export function contextOf({ input, state }: StepRun): StepContext {
  return {
    goal: goalOf({ input, state }),
    input_variables: input.input_variables,
    runtime_inputs: input.runtime_inputs,
    documents: state.documents ?? [],
    outputs: state.agents_output.map(({ agent_id, title, output }) => ({ agent_id, title, output })),
    actions: state.current?.results ?? [],
  };
}

export function goalOf({ input, state }: Pick<StepRun, 'input' | 'state'>): string {
  return state.failover?.goal ?? input.goal;
}
