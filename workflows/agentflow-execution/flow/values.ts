import { ApplicationFailure } from '@temporalio/workflow';
import type { AgentflowExecutionInput, ExecutionState } from '../messages.js';
import type { PathState } from '../path-state.js';
import { outputsOn } from '../paths.js';
import { goalOf, namesOn } from '../steps/context.js';
import { evaluateExpression, ExpressionError, type ExpressionType, type Work } from './expressions.js';

interface OnPath {
  input: AgentflowExecutionInput;
  state: ExecutionState;
  path: PathState;
  work: Work;
}

/** The values that expressions on the path can use. */
function valuesOn({ input, state, path }: OnPath): Record<string, unknown> {
  return {
    ...namesOn(state, path),
    inputs: { ...input.runtime_inputs, ...input.input_variables },
    outputs: outputsOn(state, path),
    goal: goalOf({ input, state }),
    execution: {
      id: input.execution_id,
      agentflow_id: input.agentflow_id,
      started_by: input.started_by,
      started_at: state.started_at,
      path: path.path,
    },
  };
}

/** The values of the `inputs` of a step, by name. @throws ApplicationFailure `validation_failed` */
export function inputValues(
  on: Omit<OnPath, 'work'>,
  inputs: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const work = { steps: 0 };
  const values = Object.entries(inputs).map(
    ([name, text]) => [name, evaluateOn({ ...on, work }, { field: `inputs.${name}`, text })] as const,
  );
  return Object.fromEntries(values);
}

/**
 * Evaluates an expression of a step of the flow. `field` is its place in the step, `also` are more names.
 * @throws ApplicationFailure `validation_failed`
 */
export function evaluateOn(
  on: OnPath,
  { field, text, type = 'any', also = {} }: { field: string; text: string; type?: ExpressionType; also?: object },
): unknown {
  const before = on.work.steps;
  try {
    return evaluateExpression(text, { ...valuesOn(on), ...also }, { type, work: on.work });
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    throw ApplicationFailure.nonRetryable(`${field}: ${error.message}`, 'validation_failed');
  } finally {
    on.state.work = (on.state.work ?? 0) + on.work.steps - before;
  }
}
