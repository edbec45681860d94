import { Context } from '@temporalio/activity';
import type { ChatModel } from '../src/models/port.js';
import type { Collections } from '../src/stores/collections.js';
import type { AgentflowExecutionActivities, ModelTurn, ModelTurnRequest } from '../workflows/agentflow-execution/activities.js';
import { createDeltaWriter } from './deltas.js';
import type { KnowledgeBase } from './knowledge-base.js';
import { composePrompt, renderPrompt } from './prompt.js';
import { asStep } from './step.js';

export interface ModelActivityDeps {
  models: ChatModel;
  knowledge: KnowledgeBase;
  collections: Pick<Collections, 'execution_deltas'>;
}

/** One turn of an agent at its model. */
export function createModelActivities(deps: ModelActivityDeps): Pick<AgentflowExecutionActivities, 'takeModelTurn'> {
  return { takeModelTurn: (request) => asStep((signal) => take(deps, request, signal)) };
}

async function take({ models, knowledge: base, collections }: ModelActivityDeps, request: ModelTurnRequest, signal: AbortSignal): Promise<ModelTurn> {
  const { agent, context, tools, conversation, idempotency_key: idempotencyKey } = request;
  const prompt = renderPrompt({ agent, context });
  const knowledge = agent.has_knowledge_base ? await base.ask(request, prompt, signal) : undefined;
  const deltas = createDeltaWriter(collections, turnOf(request));
  try {
    const completion = await models.complete({
      model: agent.llm.model,
      temperature: agent.llm.temperature,
      maxTokens: agent.llm.max_tokens,
      tools,
      conversation,
      ...composePrompt({ agent, context, prompt, knowledge: knowledge?.text ?? '' }),
      signal,
      idempotencyKey,
      onText: deltas.add,
    });
    if (!knowledge) return completion;
    const { lifecycle_id, query, entities } = knowledge;
    return { ...completion, knowledge: { lifecycle_id, query, entities } };
  } finally {
    await deltas.end();
  }
}

function turnOf({ execution_id, after_seq, agent, idempotency_key }: ModelTurnRequest) {
  const step_id = idempotency_key.slice(execution_id.length + 1);
  return { execution_id, after_seq, agent_id: agent._id, step_id, attempt: Context.current().info.attempt };
}
