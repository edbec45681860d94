import { isAppError } from '../../base/errors.js';
import type { JsonObject } from '../../base/json.js';
import type { ChatModel } from '../../models/port.js';
import type { TypedAnswer, TypedResult } from '../../models/typed-answer.js';
import type { Threads } from '../../threads/threads.js';
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
  /** For reading answers whose schema others wrote. */
  threads: Threads;
}

declare module '../../threads/threads.js' {
  interface ThreadJobs {
    readTypedAnswer(answer: TypedAnswer): TypedResult;
  }
}

interface TurnOptions {
  signal: AbortSignal;
  attempt: number;
  note: (part: ExchangePart) => void;
  /** The organization. */
  owner: string;
}

/** Takes one model turn of an agent. Each attempt streams its text from the beginning. */
export async function takeModelTurn(
  { models, knowledge: base, collections, threads }: ModelActivityDeps,
  request: ModelTurnRequest,
  { signal, attempt, note, owner }: TurnOptions,
): Promise<ModelTurn> {
  const { agent, context, tools, conversation, output_schema, idempotency_key: idempotencyKey } = request;
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
      ...(output_schema && { outputSchema: output_schema }),
      ...composePrompt({ agent, context, prompt, knowledge: knowledge?.text ?? '', output_schema }),
    };
    note({ prompt: promptSent(chat), ...(knowledge && { lifecycle_id: knowledge.lifecycle_id }) });
    const completion = await models.complete({ ...chat, signal, idempotencyKey, onText: deltas.add });
    const { echo, thinking, is_cut = false, ...turn } = completion;
    // The page of the step shows the thinking. Runs keep only what the model wants back.
    note({ output: { ...turn, ...(thinking !== undefined && { thinking }) } });
    const isTyped = output_schema && turn.tool_calls.length === 0;
    return {
      ...turn,
      ...(isTyped && { result: await resultOf(threads, { ...turn, is_cut }, output_schema, { signal, owner }) }),
      ...(echo && turn.tool_calls.length > 0 && { echo }),
      ...(knowledge && { knowledge: pick(knowledge, 'lifecycle_id', 'query', 'entities') }),
    };
  } finally {
    await deltas.end();
  }
}

const readMs = 5000;

/** The value of a final answer, or why the model has to answer again. An answer that was cut is never one. */
async function resultOf(
  threads: Threads,
  { content, is_cut }: { content: string; is_cut: boolean },
  schema: JsonObject,
  { signal, owner }: Pick<TurnOptions, 'signal' | 'owner'>,
): Promise<TypedResult> {
  if (is_cut) return { problems: ['answer: reached the token limit before its end; write a shorter one'] };
  try {
    return await threads.run('readTypedAnswer', { content, schema }, { owner, timeoutMs: readMs, signal });
  } catch (error) {
    signal.throwIfAborted();
    if (!isAppError(error) || error.code !== 'internal_error') throw error;
    return { problems: [`answer: could not be checked within ${readMs / 1000} s`] };
  }
}

function turnOf({ execution_id, after_seq, agent, idempotency_key }: ModelTurnRequest, attempt: number) {
  const step_id = idempotency_key.slice(execution_id.length + 1);
  return { execution_id, after_seq, agent_id: agent._id, step_id, attempt };
}
