import type { AgentflowExecutionInput, AgentPlan } from '../messages.js';

/** Whether the model of the agent writes by rules, within milliseconds. */
export function hasLightModel(
  { llm }: Pick<AgentPlan, 'llm'>,
  { light_steps }: Pick<AgentflowExecutionInput, 'light_steps'>,
): boolean {
  return light_steps?.models.includes(llm.model) === true;
}
