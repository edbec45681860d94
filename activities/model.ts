import type { ChatModel } from '../src/models/port.js';
import type { AgentflowExecutionActivities } from '../workflows/agentflow-execution/activities.js';
import { composePrompt } from './prompt.js';
import { asStep } from './step.js';

/** One turn of an agent at its model. */
export function createModelActivities({ models }: { models: ChatModel }): Pick<AgentflowExecutionActivities, 'takeModelTurn'> {
  return {
    takeModelTurn: ({ agent, context, idempotency_key: idempotencyKey }) =>
      asStep(async (signal) => {
        const { model, temperature, max_tokens: maxTokens } = agent.llm;
        const completion = await models.complete({ model, temperature, maxTokens, signal, idempotencyKey, ...composePrompt({ agent, context }) });
        return { ...completion, tool_calls: [] };
      }),
  };
}
