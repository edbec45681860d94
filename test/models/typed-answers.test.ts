import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createOfflineModel } from '../../src/models/offline.js';
import { createOpenAiModel } from '../../src/models/openai.js';
import type { ChatRequest } from '../../src/models/port.js';
import { readTypedAnswer } from '../../src/models/typed-answer.js';
import { sendJson, startFakeModel, streamText, type FakeModel } from '../support/fake-model.js';
import { verifies } from '../support/verifies.js';

const schema = {
  type: 'object',
  properties: {
    total: { type: 'number' },
    paid: { type: 'boolean' },
    note: { type: 'string' },
    items: { type: 'array', items: { type: 'integer' } },
  },
  required: ['total'],
  additionalProperties: false,
};
const closed = {
  type: 'object',
  properties: { total: { type: 'number' } },
  required: ['total'],
  additionalProperties: false,
};

describe('the value of an answer', () => {
  const fence = '```';
  test.each([
    ['alone', '{"total": 7}'],
    ['in a fence', `${fence}json\n{"total": 7}\n${fence}`],
    ['in a fence with prose', `Here it is:\n\n${fence}json\n{"total": 7}\n${fence}\nAnything else?`],
    ['in a fence without a language', `${fence}\n{"total": 7}\n${fence}`],
    ['in prose', 'The result is {"total": 7}. I hope that this helps {you}.'],
    ['as a text of JSON', JSON.stringify('{"total": 7}')],
    ['with a number as text', '{"total": "7"}'],
    ['with null for an optional field', '{"total": 7, "note": null}'],
    ['twice the same', `${fence}json\n{"total": 7}\n${fence}\n${fence}json\n{"total":7}\n${fence}`],
    ['after another object that does not match', 'From {"sum": 7} follows {"total": 7}'],
  ])('is found %s', (_how, content) => {
    verifies('flow.typed.answers');
    expect(readTypedAnswer({ content, schema })).toEqual({ value: { total: 7 } });
  });

  test('is converted where the schema permits no text, and line ends in texts are kept', () => {
    verifies('flow.typed.answers');
    const content = '{"total": "1e3", "paid": "true", "items": ["1", 2], "note": "two\nlines"}';
    expect(readTypedAnswer({ content, schema })).toEqual({
      value: { total: 1000, paid: true, items: [1, 2], note: 'two\nlines' },
    });
    const text = { type: 'string' };
    expect(readTypedAnswer({ content: '"7"', schema: text })).toEqual({ value: '7' });
    expect(readTypedAnswer({ content: 'null', schema: { type: 'null' } })).toEqual({ value: null });
  });

  test.each([
    ['no JSON', 'The total is seven.', 'answer: must be one JSON value; it is no valid JSON'],
    ['half a value', '{"total": 7, "items": [1, 2', 'it is no valid JSON'],
    ['half a value around a whole one', '{"a": {"total": 7}, "b": ', 'it is no valid JSON'],
    ['values that differ', '{"total": 7} or {"total": 8}', 'it has several that match the schema'],
    ['a missing field', '{"note": "seven"}', 'answer.total: is required'],
    ['a wrong type', '{"total": "seven"}', 'answer.total: must be a number'],
    ['an unknown field', '{"total": 7, "currency": "EUR"}', 'answer.currency: is not a field of the schema'],
    [
      'a number that would be rounded',
      '{"total": 7, "items": [12345678901234567890]}',
      'answer.items.0: must be an integer',
    ],
    ['a name that cannot be stored', '{"total": 7, "__proto__": {}}', 'answer.__proto__: is not a field of the schema'],
  ])('is refused: %s', (_what, content, problem) => {
    verifies('flow.typed.answers');
    expect(readTypedAnswer({ content, schema })).toEqual({ problems: [expect.stringContaining(problem)] });
  });
});

describe('a request with a schema', () => {
  let endpoint: FakeModel;
  beforeEach(async () => {
    endpoint = await startFakeModel();
  });
  afterEach(() => endpoint.close());

  const request = (change: Partial<ChatRequest> = {}): ChatRequest => ({
    model: 'm',
    temperature: null,
    maxTokens: null,
    messages: [
      { role: 'system', content: 'You count.' },
      { role: 'user', content: 'Count.' },
    ],
    outputSchema: closed,
    material: { title: '', goal: '', prompt: '', documents: [], outputs: [], actions: [] },
    signal: new AbortController().signal,
    idempotencyKey: 'k',
    ...change,
  });
  const ask = (change: Partial<ChatRequest> = {}) =>
    createOpenAiModel({ baseUrl: endpoint.url, apiKey: undefined }).complete(request(change));
  const bodies = () => endpoint.asked('m').map(({ body }) => body);

  test('sends it as response_format, strictly where strict mode knows it', async () => {
    verifies('flow.typed.answers');
    await ask();
    await ask({ outputSchema: schema });
    expect(bodies().map(({ response_format }) => response_format)).toEqual([
      { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema: closed } },
      { type: 'json_schema', json_schema: { name: 'answer', strict: false, schema } },
    ]);
  });

  test('puts it into the prompt if its value is no object', async () => {
    verifies('flow.typed.answers');
    const list = { type: 'array', items: { type: 'string' } };
    await ask({ outputSchema: list });
    const [body] = bodies();
    expect(body.response_format).toBeUndefined();
    expect(body.messages.at(-1).content).toContain(JSON.stringify(list));
  });

  const refusals: [string, object][] = [
    ['DeepSeek', { error: { message: 'This response_format type is unavailable now', type: 'invalid_request_error' } }],
    [
      'OpenAI',
      {
        error: {
          message: "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
          type: 'invalid_request_error',
          param: null,
          code: null,
        },
      },
    ],
    [
      'Gemini',
      [
        {
          error: {
            code: 400,
            message: "Function calling with a response mime type: 'application/json' is unsupported",
            status: 'INVALID_ARGUMENT',
          },
        },
      ],
    ],
  ];
  test.each(refusals)('puts it into the prompt if the endpoint refuses it as %s does', async (_who, refusal) => {
    verifies('flow.typed.answers');
    endpoint.on('m', (res, { body }) =>
      'response_format' in body ? sendJson(res, 400, refusal) : streamText(res, ['{"total": 7}']),
    );
    expect(await ask()).toMatchObject({ content: '{"total": 7}' });
    const last = bodies().at(-1);
    expect(last.messages.at(-1).content).toContain(JSON.stringify(closed));
  });

  test('asks without the guarantee before it gives up the schema, and keeps what was accepted for that schema', async () => {
    verifies('flow.typed.answers');
    const message = "Invalid schema for response_format 'answer': In context=(), 'x' is not permitted.";
    endpoint.on('m', (res, { body }) =>
      body.response_format?.json_schema.strict === true
        ? sendJson(res, 400, { error: { message, type: 'invalid_request_error', param: 'response_format' } })
        : streamText(res, ['{"total": 7}']),
    );
    const models = createOpenAiModel({ baseUrl: endpoint.url, apiKey: undefined });
    const other = { ...closed, description: 'another schema' };
    for (const outputSchema of [closed, closed, other]) await models.complete(request({ outputSchema }));
    const strict = bodies().map(({ response_format }) => response_format.json_schema.strict);
    expect(strict).toEqual([true, false, false, true, false]);
  });

  test('says that an answer was cut', async () => {
    verifies('flow.typed.repairs');
    endpoint.on('m', (res) => streamText(res, ['{"total": 7', '}'], 'length'));
    expect(await ask()).toMatchObject({ content: '{"total": 7}', is_cut: true });
  });

  test('gets a value that matches from the offline model', async () => {
    verifies('flow.typed.outputs');
    const outputSchema = {
      type: 'object',
      properties: {
        text: { type: 'string', maxLength: 20 },
        stars: { type: 'integer', minimum: 1 },
        tone: { enum: ['kind', 'strict'] },
        lines: { type: 'array', items: { $ref: '#/$defs/line' }, minItems: 1 },
        more: { type: 'string' },
      },
      required: ['text', 'stars', 'tone', 'lines'],
      $defs: { line: { type: 'object', properties: { n: { type: ['number', 'null'] } }, required: ['n'] } },
    };
    const { content } = await createOfflineModel().complete(request({ outputSchema }));
    expect(readTypedAnswer({ content, schema: outputSchema })).toEqual({
      value: { text: expect.stringMatching(/^# Result/), stars: 1, tone: 'kind', lines: [{ n: 0 }] },
    });
  });
});
