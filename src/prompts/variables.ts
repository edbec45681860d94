export interface GivenInputs {
  goal: string;
  input_variables: Record<string, unknown>;
  runtime_inputs: Record<string, unknown>;
}

/**
 * Returns the variables that templates can use before a run starts. The product's own names take precedence over inputs
 * with the same name.
 */
export function givenVariables({ goal, input_variables, runtime_inputs }: GivenInputs): Record<string, unknown> {
  return { ...runtime_inputs, ...input_variables, goal, inputs: input_variables, runtime: runtime_inputs };
}

/** The values that templates can use during a run: its inputs and its results so far. */
interface RunInputs extends GivenInputs {
  documents: unknown;
  outputs: readonly { output: unknown }[];
  actions: unknown;
  /** In a flow with steps: the outputs of its agents and steps by id. */
  outputs_by_id?: Readonly<Record<string, unknown>>;
  /** In a part of a flow: `item`, `index` or `carry`, and the name that a `map` gives to its items. */
  names?: Readonly<Record<string, unknown>>;
}

/** Returns the variables of a template: the inputs of the execution and the results of the run so far. */
export function variablesOf(run: RunInputs): Record<string, unknown> {
  const { documents, outputs, actions, outputs_by_id = {}, names } = run;
  const added: RunVariables = { documents, outputs, outputs_by_id, previous: outputs.at(-1)?.output ?? '', actions };
  return { ...givenVariables(run), ...names, ...added };
}

/** The variables that the run adds. */
interface RunVariables {
  documents: unknown;
  outputs: unknown;
  outputs_by_id: unknown;
  previous: unknown;
  actions: unknown;
}

export const runVariableNames: ReadonlySet<string> = new Set<keyof RunVariables>([
  'documents',
  'outputs',
  'outputs_by_id',
  'previous',
  'actions',
]);
