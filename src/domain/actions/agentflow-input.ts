import type { StartFlowRequest } from '../../../workflows/agentflow-execution/steps/start-flow.js';
import { inputOf } from './action-fields.js';

/**
 * The request with the goal and the inputs of the run, which the fields of an action fill. The field `goal` is the goal, and an
 * input only if the agentflow has one of this name.
 * @throws AppError `validation_failed` for fields that are missing or have the wrong type
 */
export function withInputsOfCall({ call, ...request }: StartFlowRequest): StartFlowRequest {
  if (!call) return request;
  const { goal, ...input_variables } = inputOf(call);
  return { ...request, goal: typeof goal === 'string' ? goal : request.goal, input_variables };
}
