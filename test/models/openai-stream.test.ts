import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createOpenAiModel } from '../../src/models/openai.js';
import type { ChatRequest } from '../../src/models/port.js';
import { toolSchemaOf } from '../../src/models/tool-schema.js';
import {
  beginStream,
  breakOff,
  chunk,
  endStream,
  send,
  sendJson,
  startFakeModel,
  streamText,
  usageChunk,
  type FakeModel,
  type Respond,
} from '../support/fake-model.js';
import { verifies } from '../support/verifies.js';

let endpoint: FakeModel;
beforeEach(async () => {
  endpoint = await startFakeModel();
});
afterEach(() => endpoint.close());

function ask(
  respond: Respond,
  change: Partial<ChatRequest> = {},
  limits: { timeoutMs?: number; idleMs?: number } = {},
) {
  endpoint.on('m', respond);
  return createOpenAiModel({ baseUrl: endpoint.url, apiKey: 'sk', ...limits }).complete({
    model: 'm',
    temperature: 0.3,
    maxTokens: 50,
    messages: [{ role: 'user', content: 'Say something.' }],
    material: { title: 'T', goal: '', prompt: '', documents: [], outputs: [], actions: [] },
    signal: new AbortController().signal,
    idempotencyKey: 'k',
    ...change,
  });
}

const call = (index: number | undefined, id: string | undefined, name: string | undefined, text: string) =>
  chunk({
    tool_calls: [
      {
        ...(index !== undefined && { index }),
        ...(id !== undefined && { id }),
        type: 'function',
        function: { ...(name !== undefined && { name }), arguments: text },
      },
    ],
  });
const stream =
  (...chunks: object[]): Respond =>
  (res) => {
    beginStream(res);
    send(res, ...chunks);
    endStream(res);
  };
const body = () => endpoint.asked('m').at(-1)?.body as Record<string, any>;

describe('a streamed answer', () => {
  test('is reported in parts and read as a whole, with the usage at the end', async () => {
    const words: string[] = [];
    const answer = await ask((res) => streamText(res, ['Half', ' and', ' half']), {
      onText: (text) => words.push(text),
    });
    expect(words).toEqual(['Half', ' and', ' half']);
    expect(answer).toEqual({
      model: 'served',
      content: 'Half and half',
      tool_calls: [],
      usage: { input_tokens: 12, output_tokens: 3 },
    });
  });

  test('is reported while the endpoint is still sending', async () => {
    const words: string[] = [];
    let release: () => void = () => undefined;
    const answer = ask(
      (res) => {
        beginStream(res);
        send(res, chunk({ content: 'first' }));
        release = () => {
          send(res, chunk({ content: ' last' }, 'stop'));
          endStream(res);
        };
      },
      {
        onText: (text) => {
          words.push(text);
          release();
        },
      },
    );
    expect((await answer).content).toBe('first last');
    expect(words).toEqual(['first', ' last']);
  });

  test('can be split into single bytes, including multi-byte characters', async () => {
    const bytes = Buffer.from(
      `data: ${JSON.stringify(chunk({ content: 'größer 🌊' }))}\r\n\r\ndata: ${JSON.stringify(chunk({}, 'stop'))}\r\n\r\ndata: [DONE]\r\n\r\n`,
    );
    const answer = await ask((res) => {
      beginStream(res);
      void (async () => {
        for (const byte of bytes) {
          res.write(Buffer.from([byte]));
          await new Promise((resolve) => setImmediate(resolve));
        }
        res.end();
      })();
    });
    expect(answer.content).toBe('größer 🌊');
  });

  test('without usage is estimated at four characters per token', async () => {
    const { usage } = await ask(stream(chunk({ content: 'x'.repeat(40) }), chunk({}, 'stop')), {
      messages: [{ role: 'user', content: 'y'.repeat(100) }],
    });
    expect(usage).toEqual({ input_tokens: 25, output_tokens: 10 });
  });

  test('that ends at its token limit is reported as truncated', async () => {
    expect((await ask((res) => streamText(res, ['A long'], 'length'))).content).toBe(
      'A long\n\n[cut: the token limit of the answer was reached]',
    );
    await expect(ask((res) => streamText(res, [], 'length'))).rejects.toMatchObject({
      code: 'model_token_limit',
      retryable: false,
    });
  });

  test.each([
    ['the content filter', (res) => streamText(res, ['Some'], 'content_filter')],
    ['a refusal', stream(chunk({ refusal: 'I will ' }), chunk({ refusal: 'not.' }), chunk({}, 'stop'))],
  ] satisfies [string, Respond][])('that ends by %s is not requested again', async (_, respond) => {
    await expect(ask(respond)).rejects.toMatchObject({ code: 'model_refused', retryable: false });
  });
});

describe('an endpoint with fewer features', () => {
  test.each([
    [
      'stream_options',
      "Unknown parameter: 'stream_options'.",
      [{ stream: true, stream_options: expect.anything() }, { stream: true }],
    ],
    [
      'streaming',
      'Streaming is not supported by this model',
      [{ stream: true, stream_options: expect.anything() }, {}],
    ],
  ])('than %s is called without them, and later calls omit them immediately', async (_, message, ways) => {
    const streaming = ({ stream, stream_options }: any) =>
      JSON.parse(JSON.stringify({ stream, stream_options })) as object;
    endpoint.on('m', (res, { body: asked }) => {
      const isRefused = message.includes('options') ? asked.stream_options : asked.stream;
      if (isRefused) sendJson(res, 400, { error: { message } });
      else if (asked.stream) streamText(res, ['ok']);
      else sendJson(res, 200, { choices: [{ message: { content: 'ok' } }] });
    });
    const model = createOpenAiModel({ baseUrl: endpoint.url, apiKey: 'sk' });
    const request = {
      model: 'm',
      temperature: 0,
      maxTokens: 1,
      messages: [],
      material: { title: '', goal: '', prompt: '', documents: [], outputs: [], actions: [] },
      signal: new AbortController().signal,
      idempotencyKey: 'k',
    };
    expect((await model.complete(request)).content).toBe('ok');
    expect((await model.complete(request)).content).toBe('ok');
    expect(endpoint.asked('m').map((asked) => streaming(asked.body))).toEqual([...ways, ways[1]]);
  });

  test('that answers a streamed request with JSON is still read', async () => {
    const words: string[] = [];
    const answer = await ask(
      (res) =>
        sendJson(res, 200, { model: 'whole', choices: [{ finish_reason: 'stop', message: { content: 'At once.' } }] }),
      { onText: (text) => words.push(text) },
    );
    expect(answer).toMatchObject({ model: 'whole', content: 'At once.' });
    expect(words).toEqual(['At once.']);
  });
});

describe('tools', () => {
  const tools = [
    {
      name: 'look_up',
      description: 'Looks something up.',
      fields: [
        { field_id: 'word', label: 'The word', type: 'string', required: true, description: 'What to look up.' },
        { field_id: 'depth', label: 'depth', type: 'Integer', required: false, description: '' },
        { field_id: 'tags', label: 'tags', type: 'array', required: false, description: '' },
        { field_id: 'more', label: 'more', type: 'any', required: false, description: '' },
      ],
    },
  ];

  test('are offered with a schema of their fields', async () => {
    await ask((res) => streamText(res, ['ok']), { tools });
    expect(body().tools).toEqual([
      {
        type: 'function',
        function: {
          name: 'look_up',
          description: 'Looks something up.',
          parameters: toolSchemaOf(tools[0] ?? { fields: [] }),
        },
      },
    ]);
    expect(body().tools[0].function.parameters).toEqual({
      type: 'object',
      properties: {
        word: { type: 'string', title: 'The word', description: 'What to look up.' },
        depth: { type: 'integer' },
        tags: { type: 'array', items: {} },
        more: {},
      },
      required: ['word'],
      additionalProperties: false,
    });
  });

  test('are omitted if there are none', async () => {
    await ask((res) => streamText(res, ['ok']), { tools: [] });
    expect(body()).not.toHaveProperty('tools');
  });

  const two = [
    { id: 'a', name: 'look_up', arguments: '{"word":"x"}' },
    { id: 'b', name: 'look_up', arguments: '{"word":"y"}' },
  ];
  test.each([
    [
      'in pieces, by index',
      [
        call(0, 'a', 'look_up', ''),
        call(1, 'b', 'look_up', ''),
        call(0, undefined, undefined, '{"word"'),
        call(1, undefined, undefined, '{"word":'),
        call(0, undefined, undefined, ':"x"}'),
        call(1, undefined, undefined, '"y"}'),
      ],
      two,
    ],
    [
      'whole, all with the same index',
      [call(0, 'a', 'look_up', '{"word":"x"}'), call(0, 'b', 'look_up', '{"word":"y"}')],
      two,
    ],
    [
      'without an index',
      [call(undefined, 'a', 'look_up', '{"word":"x"}'), call(undefined, 'b', 'look_up', '{"word":"y"}')],
      two,
    ],
    [
      'without ids',
      [call(0, undefined, 'look_up', '{}'), call(1, undefined, 'look_up', '{}')],
      [
        { id: 'call_1', name: 'look_up', arguments: '{}' },
        { id: 'call_2', name: 'look_up', arguments: '{}' },
      ],
    ],
    [
      'with arguments that are not JSON',
      [call(0, 'a', 'look_up', 'the word x')],
      [{ id: 'a', name: 'look_up', arguments: 'the word x' }],
    ],
  ])('are called %s', async (_, chunks, calls) => {
    const answer = await ask(stream(...chunks, chunk({}, 'tool_calls'), usageChunk), { tools });
    expect(answer).toMatchObject({ content: '', tool_calls: calls });
  });

  test('are called in a complete answer with an object as arguments', async () => {
    const message = {
      content: null,
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'look_up', arguments: { word: 'x' } } }],
    };
    const answer = await ask((res) => sendJson(res, 200, { choices: [{ finish_reason: 'tool_calls', message }] }), {
      tools,
    });
    expect(answer.tool_calls).toEqual([{ id: 'a', name: 'look_up', arguments: '{"word":"x"}' }]);
  });

  test('return their results with arguments that an endpoint can parse', async () => {
    await ask((res) => streamText(res, ['ok']), {
      tools,
      conversation: [
        { role: 'assistant', content: '', tool_calls: [{ id: 'a', name: 'look_up', arguments: 'nonsense' }] },
        { role: 'tool', tool_call_id: 'a', content: '{"error":{}}' },
        { role: 'assistant', content: 'Again.', tool_calls: [{ id: 'b', name: 'look_up', arguments: '{"word":"y"}' }] },
        { role: 'tool', tool_call_id: 'b', content: '42' },
      ],
    });
    expect(body().messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'look_up', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'a', content: '{"error":{}}' },
      {
        role: 'assistant',
        content: 'Again.',
        tool_calls: [{ id: 'b', type: 'function', function: { name: 'look_up', arguments: '{"word":"y"}' } }],
      },
      { role: 'tool', tool_call_id: 'b', content: '42' },
    ]);
  });
});

describe('a bad endpoint', () => {
  const half = chunk({ content: 'Half an' });
  test.each([
    ['that says nothing', () => undefined],
    ['that says nothing after its headers', (res) => beginStream(res)],
    ['that falls silent in its answer', (res) => (beginStream(res), send(res, half))],
    [
      'that falls silent in a refusal',
      (res) => res.writeHead(500, { 'content-type': 'application/json' }).write('{"err'),
    ],
  ] satisfies [string, Respond][])('%s is aborted after its time, whatever the deadline', async (_, respond) => {
    verifies('agent.bad-endpoint');
    const begun = performance.now();
    const failure = ask(respond, {}, { idleMs: 300, timeoutMs: 60_000 });
    await expect(failure).rejects.toMatchObject({
      retryable: true,
      code: expect.stringMatching(/^(timeout|model_unavailable)$/),
    });
    expect(performance.now() - begun).toBeLessThan(50_000);
  });

  test('that sends slowly does not count as silent and is aborted at the deadline', async () => {
    let drip: NodeJS.Timeout | undefined;
    const failure = ask(
      (res) => (beginStream(res), (drip = setInterval(() => res.write(': drip\n\n'), 50))),
      {},
      { idleMs: 2500, timeoutMs: 5000 },
    );
    await expect(failure).rejects.toMatchObject({ code: 'timeout', message: 'no answer within 5 s' });
    clearInterval(drip);
  });

  test.each([
    ['breaks off', 'model_unavailable', (res) => breakOff(res, half)],
    ['ends without an end', 'model_answer_unusable', (res) => (beginStream(res), send(res, half), res.end())],
    ['says only that it is done', 'model_answer_unusable', (res) => (beginStream(res), endStream(res))],
    [
      'sends broken JSON',
      'model_answer_unusable',
      (res) => (beginStream(res), send(res, half), res.end('data: {"choices": [{"del\n\n')),
    ],
    ['sends null', 'model_answer_unusable', (res) => (beginStream(res), res.end('data: null\n\n'))],
    ['sends choices that are not a list', 'model_answer_unusable', stream({ choices: 'many' })],
    [
      'sends HTML as a stream',
      'model_answer_unusable',
      (res) => (beginStream(res), res.end('<html>welcome</html>\n\n')),
    ],
    [
      'sends HTML',
      'model_answer_unusable',
      (res) => res.writeHead(200, { 'content-type': 'text/html' }).end('<html>welcome</html>'),
    ],
    [
      'sends nothing',
      'model_answer_unusable',
      (res) => res.writeHead(200, { 'content-type': 'application/json' }).end(),
    ],
    ['sends no choices', 'model_answer_unusable', (res) => sendJson(res, 200, { choices: [] })],
    [
      'sends a body that is not gzip',
      'model_unavailable',
      (res) => res.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end('plain'),
    ],
    [
      'reports an error in its stream',
      'model_unavailable',
      stream(half, { error: { message: 'overloaded', type: 'server_error' } }),
    ],
    [
      'reports a status in its stream',
      'model_unavailable',
      stream(half, { error: { message: 'slow down', code: 429 } }),
    ],
  ] satisfies [string, string, Respond][])('that %s fails the turn with a retry', async (_, code, respond) => {
    await expect(ask(respond)).rejects.toMatchObject({ name: 'OutboundError', code, retryable: true });
  });

  test.each([
    ['JSON', (res) => res.writeHead(200, { 'content-type': 'application/json' })],
    ['a refusal', (res) => res.writeHead(400, { 'content-type': 'application/json' })],
    ['one event', (res) => (beginStream(res), res.write('data: '))],
  ] satisfies [string, Respond][])('that sends %s without end is aborted', async (_, begin) => {
    const block = Buffer.alloc(256 * 1024, 'x');
    const failure = ask((res) => {
      begin(res);
      const pour = () => {
        while (!res.destroyed && res.write(block));
        if (!res.destroyed) res.once('drain', pour);
      };
      pour();
    });
    await expect(failure).rejects.toMatchObject({
      name: 'OutboundError',
      code: expect.stringMatching(/^(too_large|model_refused)$/),
    });
  });

  test('that never stops sending is aborted', async () => {
    const chatter = JSON.stringify(chunk({ content: 'bla '.repeat(5000) }));
    const failure = ask((res) => {
      beginStream(res);
      for (let at = 0; at < 60; at += 1) res.write(`data: ${chatter}\n\n`);
    });
    await expect(failure).rejects.toMatchObject({ code: 'too_large', retryable: false });
  });

  test.each([
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after-ms': '350', 'retry-after': '7' }, 350],
    [{ 'retry-after': '999999' }, 300_000],
    [{ 'retry-after': 'soon' }, undefined],
    [{}, undefined],
  ])('that is busy is called again at the time that it names: %j', async (headers, retryAfterMs) => {
    await expect(
      ask((res) => sendJson(res, 429, { error: {} }, headers as unknown as Record<string, string>)),
    ).rejects.toMatchObject({ code: 'model_unavailable', status: 429, retryAfterMs });
  });

  test('that is busy until a date is called again then', async () => {
    const asked = Date.now();
    const until = Math.ceil(asked / 1000) * 1000 + 60_000;
    const failure: unknown = await ask((res) =>
      sendJson(res, 503, {}, { 'retry-after': new Date(until).toUTCString() }),
    ).catch((error: unknown) => error);
    const { retryAfterMs = 0 } = failure as { retryAfterMs?: number };
    expect(until - retryAfterMs).toBeGreaterThanOrEqual(asked);
    expect(until - retryAfterMs).toBeLessThanOrEqual(Date.now());
  });
});
