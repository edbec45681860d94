import { describe, expect, test } from '@jest/globals';
import type { KnowledgeBase } from '../../activities/knowledge-base.js';
import { createModelActivities, type ModelActivityDeps } from '../../activities/model.js';
import { AppError } from '../../src/errors.js';
import { createOfflineModel } from '../../src/models/offline.js';
import type { ChatModel, ChatRequest } from '../../src/models/port.js';
import { OutboundError } from '../../src/outbound/outbound-error.js';
import type { ExecutionDeltaDocument } from '../../src/platform/resources/executions/deltas.js';
import type { Collections } from '../../src/stores/collections.js';
import type { AgentflowExecutionActivities, ModelTurn, ModelTurnRequest, StepResult } from '../../workflows/agentflow-execution/activities.js';
import { activityEnvironment } from '../support/activity-environment.js';
import { verifies } from '../support/verifies.js';

interface Change extends Partial<Pick<ModelTurnRequest, 'tools' | 'conversation'>> {
  agent?: Partial<ModelTurnRequest['agent']>;
  context?: Partial<ModelTurnRequest['context']>;
}

function request({ agent, context, ...change }: Change = {}): ModelTurnRequest {
  return {
    idempotency_key: 'execution/agent/model',
    execution_id: 'execution',
    project_id: 'project',
    organization_id: 'organization',
    executed_by: 'user',
    after_seq: 0,
    tools: [],
    conversation: [],
    ...change,
    agent: {
      _id: 'agent',
      title: 'Reader',
      role: 'an archivist',
      role_description: 'You keep the records.',
      llm: { model: 'm', temperature: 0.5, max_tokens: 100 },
      prompt: { template: '', variables: [] },
      context: [],
      ...agent,
    },
    context: {
      goal: 'Describe the harbour',
      input_variables: { city: 'Oslo' },
      runtime_inputs: {},
      documents: [{ name: 'notes.md', mime_type: 'text/markdown', text: 'The basin is deep.' }],
      outputs: [{ agent_id: 'a', title: 'Scout', output: 'I saw ships.' }],
      actions: [{ action_id: 'x', skill_id: 's', name: 'Tide', output: { level: 'rising' } }],
      ...context,
    },
  };
}

/** A model that keeps what it was asked and then does as told. */
function recording(complete: ChatModel['complete'] = async ({ model }) => ({ model, content: 'ok', tool_calls: [], usage: { input_tokens: 1, output_tokens: 1 } })) {
  const asked: ChatRequest[] = [];
  const models: ChatModel = {
    complete: (chat) => {
      asked.push(chat);
      return complete(chat);
    },
  };
  return { asked, models };
}


const noKnowledge: KnowledgeBase = { ask: () => Promise.reject(new Error('nobody has a knowledge base here')) };

/** What was written of the turn's words; `fails` from the first write on. */
function deltaStore(fails = false) {
  const written: ExecutionDeltaDocument[] = [];
  const insertOne = async (delta: ExecutionDeltaDocument) => {
    if (fails) throw new Error('the store is down');
    written.push(delta);
  };
  return { written, collections: { execution_deltas: { insertOne } as unknown as Collections['execution_deltas'] } };
}

function take(models: ChatModel, change: Change = {}, environment = activityEnvironment(), { knowledge = noKnowledge, ...store }: Partial<ModelActivityDeps> = {}) {
  const { takeModelTurn } = createModelActivities({ models, knowledge, ...deltaStore(), ...store });
  return environment.run<[ModelTurnRequest], StepResult<ModelTurn>, AgentflowExecutionActivities['takeModelTurn']>(takeModelTurn, request(change));
}

async function userMessage(change: Change): Promise<string> {
  const { asked, models } = recording();
  await take(models, change);
  return asked[0]?.messages.at(-1)?.content ?? '';
}

describe('takeModelTurn', () => {
  test('asks the model with the agent\'s role, settings, prompt and material', async () => {
    verifies('execution.agents.prompt');
    const { asked, models } = recording();
    const change = { agent: { prompt: { template: 'Write of {{ city }}: {{ goal }}', variables: ['city'] }, context: ['House style: short.', { tone: 'dry' }] } };
    const { value, attempts } = await take(models, change, activityEnvironment(2));
    expect(value).toMatchObject({ model: 'm', content: 'ok' });
    expect(attempts).toBe(2);
    expect(asked[0]).toMatchObject({ model: 'm', temperature: 0.5, maxTokens: 100, idempotencyKey: 'execution/agent/model' });
    expect(asked[0]?.messages[0]).toMatchObject({ role: 'system', content: expect.stringMatching(/Reader, an archivist[^]+You keep the records/) });
    const user = asked[0]?.messages[1]?.content ?? '';
    expect(user).toMatch(/^Write of Oslo: Describe the harbour\n/);
    for (const part of ['House style: short.', '"tone": "dry"', '<document name="notes.md">\nThe basin is deep.\n</document>', 'I saw ships.', '"level": "rising"']) {
      expect(user).toContain(part);
    }
  });

  test('asks for the goal where the agent has no template', async () => {
    expect(await userMessage({})).toMatch(/^Describe the harbour\n/);
  });

  test('adds what the template does not insert itself, once', async () => {
    const user = await userMessage({ agent: { prompt: { template: '{{ documents[0].text }}', variables: [] } } });
    expect(user.match(/The basin is deep/g)).toHaveLength(1);
    expect(user).toContain('<goal>\nDescribe the harbour\n</goal>');
  });

  test('cuts a huge document and says so', async () => {
    const user = await userMessage({ context: { documents: [{ name: 'a', mime_type: 'text/plain', text: 'x'.repeat(1_000_000) }] } });
    expect(user.length).toBeLessThan(210_000);
    expect(user).toContain('[cut: 1000000 characters in all]');
  });

  test('is refused for good when the prompt misses a variable', async () => {
    const { asked, models } = recording();
    const failure = take(models, { agent: { prompt: { template: '{{ unknown }}', variables: [] } } });
    await expect(failure).rejects.toMatchObject({ type: 'validation_failed', nonRetryable: true, message: expect.stringContaining('"unknown"') });
    expect(asked).toHaveLength(0);
  });

  test('answers by rule with the offline model', async () => {
    verifies('execution.model.offline');
    const { value } = await take(createOfflineModel());
    expect(value.model).toBe('offline');
    for (const part of ['offline model', 'Describe the harbour', 'The basin is deep.', 'level: rising', 'I saw ships.']) {
      expect(value.content).toContain(part);
    }
  });

  test.each([
    [new OutboundError('model_unavailable', 'busy', { status: 429, retryAfterMs: 5000 }), { type: 'model_unavailable', nonRetryable: false, nextRetryDelay: 5000 }],
    [new OutboundError('model_refused', 'no', { status: 401 }), { type: 'model_refused', nonRetryable: true }],
    [new OutboundError('timeout', 'late'), { type: 'timeout', nonRetryable: false }],
    [new AppError('S3:rate-quota', 'used up', { headers: { 'Retry-After': '7' } }), { type: 'S3:rate-quota', nonRetryable: false, nextRetryDelay: 7000 }],
    [new AppError('unconfigured', 'no model'), { type: 'unconfigured', nonRetryable: true }],
    [new AppError('too_many_requests', 'wait'), { type: 'too_many_requests', nonRetryable: false }],
    [new AppError('unavailable', 'down'), { type: 'unavailable', nonRetryable: false }],
    [new Error('sk-secret'), { type: 'internal_error', nonRetryable: false, message: 'the step failed for an internal reason' }],
  ])('turns %s into a failure of the step', async (error, expected) => {
    const { models } = recording(() => Promise.reject(error));
    const failure = take(models, {}, activityEnvironment(5));
    await expect(failure).rejects.toMatchObject({ ...expected, details: [expect.objectContaining({ attempt: 5 })] });
    await expect(failure).rejects.not.toHaveProperty('cause', error);
  });

  test('hands tools and conversation to the model, and gives back what it calls', async () => {
    const tools = [{ name: 'look_up', description: 'Looks up.', fields: [] }];
    const tool_calls = [{ id: 'c1', name: 'look_up', arguments: '{}' }];
    const conversation = [{ role: 'assistant' as const, content: '', tool_calls }, { role: 'tool' as const, tool_call_id: 'c1', content: '42' }];
    const { asked, models } = recording(async ({ model }) => ({ model, content: '', tool_calls, usage: { input_tokens: 1, output_tokens: 1 } }));
    const { value } = await take(models, { tools, conversation });
    expect(asked[0]).toMatchObject({ tools, conversation });
    expect(value).toMatchObject({ content: '', tool_calls });
  });

  test('writes the words as they come, in batches that tell turn and attempt, and the last before it ends', async () => {
    const words = Array.from({ length: 500 }, (_, at) => `word ${at} `);
    const { models } = recording(async ({ model, onText }) => {
      for (const word of words) onText?.(word);
      return { model, content: words.join(''), tool_calls: [], usage: { input_tokens: 1, output_tokens: 1 } };
    });
    const { written, collections } = deltaStore();
    await take(models, {}, activityEnvironment(3), { collections });
    expect(written.map(({ text }) => text).join('')).toBe(words.join(''));
    expect(written.length).toBeLessThan(10);
    for (const [at, delta] of written.entries()) expect(delta).toMatchObject({ after_seq: 0, agent_id: 'agent', step_id: 'agent/model', attempt: 3, n: at + 1 });
    expect(written.map(({ _id }) => _id)).toEqual(written.map(({ _id }) => _id).sort());
  });

  test('is not hindered by words that cannot be written', async () => {
    const { models } = recording(async ({ model, onText }) => {
      onText?.('lost');
      return { model, content: 'lost', tool_calls: [], usage: { input_tokens: 1, output_tokens: 1 } };
    });
    expect((await take(models, {}, activityEnvironment(), deltaStore(true))).value.content).toBe('lost');
  });

  test('gives an agent with a knowledge base what that knows, in the prompt and in the record of the turn', async () => {
    const found = { query: 'about: harbour', lifecycle_id: 'l1', entities: ['quay'], text: '- Quay (Place): length: 12' };
    const questions: string[] = [];
    const knowledge: KnowledgeBase = {
      ask: async (_, prompt) => {
        questions.push(prompt);
        return found;
      },
    };
    const { asked, models } = recording();
    const { value } = await take(models, { agent: { has_knowledge_base: true } }, activityEnvironment(), { knowledge });
    expect(questions).toEqual(['Describe the harbour']);
    expect(asked[0]?.messages[1]?.content).toContain('<knowledge>\n- Quay (Place): length: 12\n</knowledge>');
    expect(value.knowledge).toEqual({ lifecycle_id: 'l1', query: 'about: harbour', entities: ['quay'] });
    const offline = await take(createOfflineModel(), { agent: { has_knowledge_base: true } }, activityEnvironment(), { knowledge });
    expect(offline.value.content).toContain('length: 12 *(knowledge base)*');
  });

  test.each([
    [new AppError('plan_limit', 'not in the plan'), { type: 'plan_limit', nonRetryable: true }],
    [new AppError('S5:policy', 'forbidden'), { type: 'S5:policy', nonRetryable: true }],
    [new AppError('data_service_unreachable', 'down'), { type: 'data_service_unreachable', nonRetryable: false }],
  ])('asks no model when the knowledge base answers with %s', async (error, expected) => {
    const { asked, models } = recording();
    const knowledge: KnowledgeBase = { ask: () => Promise.reject(error) };
    await expect(take(models, { agent: { has_knowledge_base: true } }, activityEnvironment(), { knowledge })).rejects.toMatchObject(expected);
    expect(asked).toHaveLength(0);
  });

  test('keeps failure messages short', async () => {
    const { models } = recording(() => Promise.reject(new OutboundError('model_refused', 'x'.repeat(5000))));
    const failure: unknown = await take(models).catch((error: unknown) => error);
    expect((failure as Error).message).toHaveLength(200);
  });

  test('heartbeats, hands the cancellation to the model and ends as cancelled', async () => {
    const environment = activityEnvironment();
    let beats = 0;
    environment.on('heartbeat', () => {
      beats += 1;
      if (beats === 2) environment.cancel();
    });
    const { models } = recording(({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))));
    await expect(take(models, {}, environment)).rejects.toMatchObject({ name: 'CancelledFailure' });
    expect(beats).toBe(2);
  });
});
