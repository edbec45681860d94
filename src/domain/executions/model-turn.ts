import type { ChatModel } from '../../models/port.js';
import type { Collections } from '../../stores/collections.js';
import type { ModelTurn } from '../../../workflows/agentflow-execution/model-turn.js';
import type { ModelTurnRequest } from '../../../workflows/agentflow-execution/steps/model.js';
import { pick } from '../../base/pick.js';
import { createDeltaWriter } from './delta-writer.js';
import type { KnowledgeBase } from './knowledge-base.js';
import type { ExchangePart } from './exchanges.js';
import { composePrompt, renderPrompt } from './prompt.js';
import { promptSent } from './prompt-sent.js';

export interface ModelActivityDeps {
  models: ChatModel;
  knowledge: KnowledgeBase;
  collections: Pick<Collections, 'execution_deltas'>;
}

/** Takes one model turn of an agent. Each attempt streams its text from the beginning. */
export async function takeModelTurn(
  { models, knowledge: base, collections }: ModelActivityDeps,
  request: ModelTurnRequest,
  { signal, attempt, note }: { signal: AbortSignal; attempt: number; note: (part: ExchangePart) => void },
): Promise<ModelTurn> {
  const { agent, context, tools, conversation, idempotency_key: idempotencyKey } = request;
  const prompt = renderPrompt({ agent, context });
  const knowledge = agent.has_knowledge_base ? await base.ask(request, prompt, signal) : undefined;
  const deltas = createDeltaWriter(collections, turnOf(request, attempt));
  try {
    const chat = {
      model: agent.llm.model,
      temperature: agent.llm.temperature,
      maxTokens: agent.llm.max_tokens,
      tools,
      conversation,
      ...composePrompt({ agent, context, prompt, knowledge: knowledge?.text ?? '' }),
    };
    note({ prompt: promptSent(chat), ...(knowledge && { lifecycle_id: knowledge.lifecycle_id }) });
    const completion = await models.complete({ ...chat, signal, idempotencyKey, onText: deltas.add });
    const { echo, thinking, ...turn } = completion;
    // The page of the step shows the thinking. Runs keep only what the model wants back.
    note({ output: { ...turn, ...(thinking !== undefined && { thinking }) } });
    return {
      ...turn,
      ...(echo && turn.tool_calls.length > 0 && { echo }),
      ...(knowledge && { knowledge: pick(knowledge, 'lifecycle_id', 'query', 'entities') }),
    };
  } finally {
    await deltas.end();
  }
}

function turnOf({ execution_id, after_seq, agent, idempotency_key }: ModelTurnRequest, attempt: number) {
  const step_id = idempotency_key.slice(execution_id.length + 1);
  return { execution_id, after_seq, agent_id: agent._id, step_id, attempt };
}
