import { describe, expect, test } from '@jest/globals';
import { createModelActivities } from '../../activities/agentflow-execution.js';
import type { ModelActivityDeps } from '../../src/domain/executions/model-turn.js';
import type { KnowledgeBase } from '../../src/domain/executions/knowledge-base.js';
import { AppError } from '../../src/base/errors.js';
import { createOfflineModel } from '../../src/models/offline.js';
import type { ChatModel, ChatRequest } from '../../src/models/port.js';
import { OutboundError } from '../../src/outbound/outbound-error.js';
import type { ExecutionDeltaDocument } from '../../src/domain/executions/deltas.js';
import type { Collections } from '../../src/stores/collections.js';
import type { AgentflowExecutionActivities } from '../../workflows/agentflow-execution/activities.js';
import type { ModelTurn } from '../../workflows/agentflow-execution/model-turn.js';
import type { StepResult } from '../../workflows/agentflow-execution/steps/definition.js';
import type { ModelTurnRequest } from '../../workflows/agentflow-execution/steps/model.js';
import { noExchanges } from '../support/exchanges.js';
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
      has_knowledge_base: false,
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

/** A model that records its requests and then follows its script. */
function recording(
  complete: ChatModel['complete'] = async ({ model }) => ({
    model,
    content: 'ok',
    tool_calls: [],
    usage: { input_tokens: 1, output_tokens: 1 },
  }),
) {
  const asked: ChatRequest[] = [];
  const models: ChatModel = {
    complete: (chat) => {
      asked.push(chat);
      return complete(chat);
    },
  };
  return { asked, models };
}

const noThreads = { run: () => Promise.reject(new Error('no answer has a schema here')), close: async () => {} };
const noKnowledge: KnowledgeBase = { ask: () => Promise.reject(new Error('nobody has a knowledge base here')) };

/** The text that was written during the turn. If `fails` is set, every write fails. */
function deltaStore(fails = false) {
  const written: ExecutionDeltaDocument[] = [];
  const insertOne = async (delta: ExecutionDeltaDocument) => {
    if (fails) throw new Error('the store is down');
    written.push(delta);
  };
  return { written, collections: { execution_deltas: { insertOne } as unknown as Collections['execution_deltas'] } };
}

function take(
  models: ChatModel,
  change: Change = {},
  environment = activityEnvironment(),
  { knowledge = noKnowledge, ...store }: Partial<ModelActivityDeps> = {},
) {
  const { takeModelTurn } = createModelActivities(
    { models, isLightModel: () => false, knowledge, threads: noThreads, ...deltaStore(), ...store },
    noExchanges,
  );
  return environment.run<[ModelTurnRequest], StepResult<ModelTurn>, AgentflowExecutionActivities['takeModelTurn']>(
    takeModelTurn,
    request(change),
  );
}

async function userMessage(change: Change): Promise<string> {
  const { asked, models } = recording();
  await take(models, change);
  return asked[0]?.messages.at(-1)?.content ?? '';
}

describe('takeModelTurn', () => {
  test("asks the model with the agent's role, settings, prompt and material", async () => {
    verifies('execution.agents.prompt');
    const { asked, models } = recording();
    const change = {
      agent: {
        prompt: { template: 'Write of {{ city }}: {{ goal }}', variables: ['city'] },
        context: ['House style: short.', { tone: 'dry' }],
      },
    };
    const { value, attempts } = await take(models, change, activityEnvironment(2));
    expect(value).toMatchObject({ model: 'm', content: 'ok' });
    expect(attempts).toBe(2);
    expect(asked[0]).toMatchObject({
      model: 'm',
      temperature: 0.5,
      maxTokens: 100,
      idempotencyKey: 'execution/agent/model',
    });
    expect(asked[0]?.messages[0]).toMatchObject({
      role: 'system',
      content: expect.stringMatching(/Reader, an archivist[^]+You keep the records/),
    });
    const user = asked[0]?.messages[1]?.content ?? '';
    expect(user).toMatch(/^Write of Oslo: Describe the harbour\n/);
    for (const part of [
      'House style: short.',
      '"tone": "dry"',
      '<document name="notes.md">\nThe basin is deep.\n</document>',
      'I saw ships.',
      '"level": "rising"',
    ]) {
      expect(user).toContain(part);
    }
  });

  test('asks for the goal if the agent has no template', async () => {
    expect(await userMessage({})).toMatch(/^Describe the harbour\n/);
  });

  test('appends material that the template does not insert, once', async () => {
    const user = await userMessage({ agent: { prompt: { template: '{{ documents[0].text }}', variables: [] } } });
    expect(user.match(/The basin is deep/g)).toHaveLength(1);
    expect(user).toContain('<goal>\nDescribe the harbour\n</goal>');
  });

  test('truncates a huge document and states that it did', async () => {
    const user = await userMessage({
      context: { documents: [{ name: 'a', mime_type: 'text/plain', text: 'x'.repeat(1_000_000) }] },
    });
    expect(user.length).toBeLessThan(210_000);
    expect(user).toContain('[cut: 1000000 characters in all]');
  });

  test('is refused permanently if the prompt lacks a variable', async () => {
    const { asked, models } = recording();
    const failure = take(models, { agent: { prompt: { template: '{{ unknown }}', variables: [] } } });
    await expect(failure).rejects.toMatchObject({
      type: 'validation_failed',
      nonRetryable: true,
      message: expect.stringContaining('"unknown"'),
    });
    expect(asked).toHaveLength(0);
  });

  test('answers by rules with the offline model', async () => {
    verifies('execution.model.offline');
    const { value } = await take(createOfflineModel());
    expect(value.model).toBe('offline');
    for (const part of [
      'offline model',
      'Describe the harbour',
      'The basin is deep.',
      'level: rising',
      'I saw ships.',
    ]) {
      expect(value.content).toContain(part);
    }
  });

  test.each([
    [
      new OutboundError('model_unavailable', 'busy', { status: 429, retryAfterMs: 5000 }),
      { type: 'model_unavailable', nonRetryable: false, nextRetryDelay: 5000 },
    ],
    [new OutboundError('model_refused', 'no', { status: 401 }), { type: 'model_refused', nonRetryable: true }],
    [new OutboundError('timeout', 'late'), { type: 'timeout', nonRetryable: false }],
    [
      new AppError('quota_exceeded', 'used up', { retryAfterSeconds: 7 }),
      { type: 'S3:rate-quota', nonRetryable: false, nextRetryDelay: 7000 },
    ],
    [new AppError('unconfigured', 'no model'), { type: 'unconfigured', nonRetryable: true }],
    [new AppError('too_many_requests', 'wait'), { type: 'too_many_requests', nonRetryable: false }],
    [new AppError('unavailable', 'down'), { type: 'unavailable', nonRetryable: false }],
    [
      new Error('sk-secret'),
      { type: 'internal_error', nonRetryable: false, message: 'the step failed for an internal reason' },
    ],
  ])('turns %s into a failure of the step', async (error, expected) => {
    const { models } = recording(() => Promise.reject(error));
    const failure = take(models, {}, activityEnvironment(5));
    await expect(failure).rejects.toMatchObject({ ...expected, details: [expect.objectContaining({ attempt: 5 })] });
    await expect(failure).rejects.not.toHaveProperty('cause', error);
  });

  test('passes tools and conversation to the model, and returns its tool calls', async () => {
    const tools = [{ name: 'look_up', description: 'Looks up.', fields: [] }];
    const tool_calls = [{ id: 'c1', name: 'look_up', arguments: '{}' }];
    const conversation = [
      { role: 'assistant' as const, content: '', tool_calls },
      { role: 'tool' as const, tool_call_id: 'c1', content: '42' },
    ];
    const { asked, models } = recording(async ({ model }) => ({
      model,
      content: '',
      tool_calls,
      usage: { input_tokens: 1, output_tokens: 1 },
    }));
    const { value } = await take(models, { tools, conversation });
    expect(asked[0]).toMatchObject({ tools, conversation });
    expect(value).toMatchObject({ content: '', tool_calls });
  });

  test('writes the text while it arrives, in batches with turn and attempt, and the last batch before the turn ends', async () => {
    const words = Array.from({ length: 500 }, (_, at) => `word ${at} `);
    const { models } = recording(async ({ model, onText }) => {
      for (const word of words) onText?.(word);
      return { model, content: words.join(''), tool_calls: [], usage: { input_tokens: 1, output_tokens: 1 } };
    });
    const { written, collections } = deltaStore();
    await take(models, {}, activityEnvironment(3), { collections });
    expect(written.map((delta) => ('text' in delta ? delta.text : '')).join('')).toBe(words.join(''));
    expect(written.length).toBeLessThan(10);
    for (const [at, delta] of written.entries())
      expect(delta).toMatchObject({ after_seq: 0, agent_id: 'agent', step_id: 'agent/model', attempt: 3, n: at + 1 });
    expect(written.map(({ _id }) => _id)).toEqual(written.map(({ _id }) => _id).sort());
  });

  test('completes even if the streamed text cannot be written', async () => {
    const { models } = recording(async ({ model, onText }) => {
      onText?.('lost');
      return { model, content: 'lost', tool_calls: [], usage: { input_tokens: 1, output_tokens: 1 } };
    });
    expect((await take(models, {}, activityEnvironment(), deltaStore(true))).value.content).toBe('lost');
  });

  test('adds what the knowledge base knows to the prompt and to the record of the turn', async () => {
    const found = {
      query: 'about: harbour',
      lifecycle_id: 'l1',
      entities: ['quay'],
      text: '- Quay (Place): length: 12',
    };
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
    const offline = await take(createOfflineModel(), { agent: { has_knowledge_base: true } }, activityEnvironment(), {
      knowledge,
    });
    expect(offline.value.content).toContain('length: 12 *(knowledge base)*');
  });

  test.each([
    [new AppError('plan_limit', 'not in the plan'), { type: 'plan_limit', nonRetryable: true }],
    [new AppError('policy_denied', 'forbidden'), { type: 'S5:policy', nonRetryable: true }],
    [new AppError('data_service_unreachable', 'down'), { type: 'data_service_unreachable', nonRetryable: false }],
  ])('does not call a model if the knowledge base answers with %s', async (error, expected) => {
    const { asked, models } = recording();
    const knowledge: KnowledgeBase = { ask: () => Promise.reject(error) };
    await expect(
      take(models, { agent: { has_knowledge_base: true } }, activityEnvironment(), { knowledge }),
    ).rejects.toMatchObject(expected);
    expect(asked).toHaveLength(0);
  });

  test('keeps failure messages short', async () => {
    const { models } = recording(() => Promise.reject(new OutboundError('model_refused', 'x'.repeat(5000))));
    const failure: unknown = await take(models).catch((error: unknown) => error);
    expect((failure as Error).message).toHaveLength(700);
  });

  test('heartbeats, passes the cancellation to the model and ends as cancelled', async () => {
    const environment = activityEnvironment();
    let beats = 0;
    environment.on('heartbeat', () => {
      beats += 1;
      // The first two beats report that the attempt has begun.
      if (beats === 3) environment.cancel();
    });
    const { models } = recording(
      ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
    );
    await expect(take(models, {}, environment)).rejects.toMatchObject({ name: 'CancelledFailure' });
    expect(beats).toBe(3);
  });
});
