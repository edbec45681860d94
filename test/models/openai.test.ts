import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../src/config.js';
import { createModels } from '../../src/models/create-models.js';
import { createOpenAiModel } from '../../src/models/openai.js';
import type { ChatRequest } from '../../src/models/port.js';
import { startHttpSink, type HttpSink } from '../support/http-sink.js';
import { verifies } from '../support/verifies.js';
import { eventually } from '../support/eventually.js';

let server: HttpSink;
const apiKey = 'sk-test-secret';
const completion = {
  id: '1',
  object: 'chat.completion',
  model: 'served-model',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'An answer.' } }],
  usage: { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 },
};

function request(change: Partial<ChatRequest> = {}): ChatRequest {
  return {
    model: '',
    temperature: 0.2,
    maxTokens: 500,
    messages: [
      { role: 'system', content: 'You are a test.' },
      { role: 'user', content: 'Say something.' },
    ],
    material: {
      title: 'Test',
      goal: 'Say something.',
      prompt: 'Say something.',
      documents: [],
      outputs: [],
      actions: [],
    },
    signal: new AbortController().signal,
    idempotencyKey: 'execution/agent ü/model',
    ...change,
  };
}

const models = () => createModels({ baseUrl: `${server.url}/v1`, apiKey, model: 'default-model' });
function answerWith(status: number, body: unknown, headers: Record<string, string> = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  server.answer(
    '/v1',
    (_, res) => void res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text),
  );
}

beforeEach(async () => {
  server = await startHttpSink();
});
afterEach(() => server.close());

describe('an OpenAI-compatible endpoint', () => {
  test('replaces a negative number of tokens by an estimate, so that no credits are refunded', async () => {
    verifies('execution.model.endpoint');
    answerWith(200, { ...completion, usage: { prompt_tokens: -1e9, completion_tokens: -1 } });
    const { usage } = await models().complete(request());
    expect(usage.input_tokens).toBeGreaterThan(0);
    expect(usage.output_tokens).toBeGreaterThan(0);
  });

  test('is called once with model, settings, messages, key and idempotency key, and its answer is read', async () => {
    verifies('execution.model.endpoint');
    answerWith(200, completion);
    const answer = await models().complete(request({ model: 'agent-model' }));
    expect(answer).toEqual({
      model: 'served-model',
      content: 'An answer.',
      tool_calls: [],
      usage: { input_tokens: 12, output_tokens: 3 },
    });
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]).toMatchObject({
      path: '/v1/chat/completions',
      key: 'execution/agent%20%C3%BC/model',
      headers: { authorization: `Bearer ${apiKey}` },
    });
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual({
      model: 'agent-model',
      temperature: 0.2,
      max_tokens: 500,
      messages: request().messages,
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  test('gets the configured model if the agent names none, and no limit if the agent sets none', async () => {
    answerWith(200, completion);
    await models().complete(request({ maxTokens: 0 }));
    const sent: unknown = JSON.parse(server.requests[0]?.body ?? '');
    expect(sent).toMatchObject({ model: 'default-model' });
    expect(sent).not.toHaveProperty('max_tokens');
  });

  test('is by default the one in the environment, with its key and model', async () => {
    verifies('env.llm');
    answerWith(200, completion);
    const { llm } = loadConfig({ LLM_BASE_URL: `${server.url}/v1`, LLM_API_KEY: apiKey, LLM_MODEL: 'env-model' });
    await createModels(llm).complete(request());
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${apiKey}`);
    expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({ model: 'env-model' });
  });

  test('is not called for an agent that uses the offline model', async () => {
    expect(await models().complete(request({ model: 'offline' }))).toMatchObject({ model: 'offline' });
    expect(server.requests).toHaveLength(0);
  });

  test('gets no credential if none is configured', async () => {
    answerWith(200, completion);
    await createOpenAiModel({ baseUrl: `${server.url}/v1`, apiKey: undefined }).complete(request({ model: 'local' }));
    expect(server.requests[0]?.headers).not.toHaveProperty('authorization');
  });

  test('requires a model from the agent or from the configuration', async () => {
    const unnamed = createModels({ baseUrl: server.url, apiKey, model: undefined });
    await expect(unnamed.complete(request())).rejects.toMatchObject({ code: 'unconfigured' });
  });

  test.each([400, 401, 403, 404, 409, 422])('refuses permanently with %d', async (status) => {
    answerWith(status, { error: { message: `bad key ${apiKey}` } });
    const failure = models().complete(request());
    await expect(failure).rejects.toMatchObject({ code: 'model_refused', retryable: false, status });
    await expect(failure).rejects.not.toThrow(apiKey);
    expect(server.requests).toHaveLength(1);
  });

  test.each([429, 500, 502, 503])('is called again after %d at the time that it names', async (status) => {
    answerWith(status, { error: { message: 'busy' } }, { 'retry-after': '7' });
    const failure = { code: 'model_unavailable', retryable: true, status, retryAfterMs: 7000 };
    await expect(models().complete(request())).rejects.toMatchObject(failure);
    expect(server.requests).toHaveLength(1);
  });

  test.each(['before its answer', 'within its answer'])('that hangs %s is aborted at the deadline', async (when) => {
    server.answer('/v1', (_, res) => {
      if (when === 'within its answer') res.writeHead(200, { 'content-type': 'application/json' }).write('{"choices":');
    });
    const model = createOpenAiModel({ baseUrl: `${server.url}/v1`, apiKey, timeoutMs: 200 });
    await expect(model.complete(request({ model: 'm' }))).rejects.toMatchObject({ code: 'timeout', retryable: true });
  });

  test('is aborted when the caller cancels', async () => {
    server.hold('/v1');
    const abort = new AbortController();
    const answer = models().complete(request({ signal: abort.signal }));
    await eventually(() => expect(server.seen('/v1')).toHaveLength(1));
    abort.abort(new Error('cancelled by us'));
    await expect(answer).rejects.toThrow('cancelled by us');
  });

  test.each([
    ['text', '<html>welcome</html>', 'text/html'],
    ['half an answer', '{"choices": [{"mess', 'application/json'],
    ['null', 'null', 'application/json'],
    ['no choices', '{}', 'application/json'],
    ['choices that are not a list', '{"choices": "many"}', 'application/json'],
    ['empty content', '{"choices": [{"message": {"content": " "}}]}', 'application/json'],
    ['no content', '{"choices": [{"message": {"content": null}}]}', 'application/json'],
  ])('that sends %s counts as failed', async (_, body, type) => {
    answerWith(200, body, { 'content-type': type });
    await expect(models().complete(request())).rejects.toMatchObject({
      code: 'model_answer_unusable',
      retryable: true,
    });
  });

  test('that asks for very many tools at once is refused', async () => {
    verifies('execution.model.endpoint');
    const tool_calls = Array.from({ length: 300_000 }, (_, index) => ({ index }));
    const message = { role: 'assistant', content: null, tool_calls };
    answerWith(200, { ...completion, choices: [{ index: 0, finish_reason: 'tool_calls', message }] });
    await expect(models().complete(request())).rejects.toMatchObject({
      code: 'too_large',
      message: expect.stringContaining('tool calls'),
    });
  });

  test('that closes the connection or does not exist is unavailable', async () => {
    server.answer('/v1', (_, res) => void res.socket?.resetAndDestroy());
    await expect(models().complete(request())).rejects.toMatchObject({ code: 'model_unavailable', retryable: true });
    const absent = createOpenAiModel({ baseUrl: 'http://127.0.0.1:1/v1', apiKey });
    await expect(absent.complete(request({ model: 'm' }))).rejects.toMatchObject({
      code: 'model_unavailable',
      retryable: true,
    });
  });

  test('is not called again if its model refuses', async () => {
    answerWith(200, { choices: [{ message: { content: null, refusal: 'I will not.' } }] });
    await expect(models().complete(request())).rejects.toMatchObject({ code: 'model_refused', retryable: false });
  });
});
