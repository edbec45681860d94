export interface GivenInputs {
  goal: string;
  input_variables: Record<string, unknown>;
  runtime_inputs: Record<string, unknown>;
}

/** What templates may name before a run has begun; the names of the product win over inputs of the same name. */
export function givenVariables({ goal, input_variables, runtime_inputs }: GivenInputs): Record<string, unknown> {
  return { ...runtime_inputs, ...input_variables, goal, inputs: input_variables, runtime: runtime_inputs };
}

/** What templates may name beside that: the run provides it as it goes on. */
export interface RunVariables {
  documents: unknown;
  outputs: unknown;
  previous: unknown;
  actions: unknown;
}

export const runVariableNames: ReadonlySet<string> = new Set<keyof RunVariables>(['documents', 'outputs', 'previous', 'actions']);
