import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { createOpenAiModel } from '../../src/models/openai.js';
import type { ChatCompletion, ChatRequest, ConversationMessage } from '../../src/models/port.js';
import { isOutboundError, type OutboundError } from '../../src/outbound/outbound-error.js';
import { startHttpSink, type HttpSink } from '../support/http-sink.js';
import { verifies } from '../support/verifies.js';
import { expectSources, readWorld } from '../support/world.js';

/** How an endpoint answers one request. */
interface Answer {
  status?: number;
  headers?: Record<string, string>;
  /** A whole JSON body. */
  json?: unknown;
  /** The chunks of a stream. A text is sent as it is. */
  chunks?: unknown[];
  /** Whether the stream ends without `[DONE]`. */
  endsEarly?: boolean;
  /** The body as it is. */
  text?: string;
}

/** What an endpoint sent according to a public source, and what the product makes of it. */
interface Case {
  name: string;
  source: string;
  asked?: Partial<Pick<ChatRequest, 'temperature' | 'maxTokens' | 'toolChoice' | 'tools'>> & { model?: string };
  /** The answers to the requests, in order. The last one is repeated. */
  answers: Answer[];
  /** A second turn: the calls are answered with "done", and the conversation is sent back. */
  next?: { answers: Answer[]; sent: unknown };
  outcome: {
    content?: string;
    thinking?: string;
    tool_calls?: { id?: string; name: string; arguments: unknown }[];
    code?: string;
    /** Whether a later attempt may succeed, and how many there are. */
    attempts?: 'one' | 'few' | 'many';
    reason?: string;
    /** The thinking has no start tag, so viewers of the stream see it. */
    startsThinking?: true;
    /** Parts of the bodies of all requests. `null` stands for a field that is not sent. */
    sent?: Record<string, unknown>[];
    secret?: string;
    wait?: number;
  };
}

const world = readWorld<Case>('models');
const cases = world.cases.map((each) => ({ ...each, title: `${each.file}: ${each.name}` }));
const apiKey = 'key-of-this-test-1234';
const tools: ChatRequest['tools'] = [
  {
    name: 'look_up',
    description: 'Looks something up.',
    fields: [
      { field_id: 'word', label: 'word', type: 'string', required: true, description: '' },
      { field_id: 'count', label: 'count', type: 'integer', required: false, description: '' },
      { field_id: 'exact', label: 'exact', type: 'boolean', required: false, description: '' },
      { field_id: 'weight', label: 'weight', type: 'number', required: false, description: '' },
      { field_id: 'tags', label: 'tags', type: 'array', required: false, description: '' },
    ],
  },
];

let sink: HttpSink;
beforeAll(async () => {
  sink = await startHttpSink();
});
afterAll(() => sink.close());

function send(res: ServerResponse, { status = 200, headers = {}, json, chunks, endsEarly, text }: Answer): void {
  if (chunks === undefined) {
    const type = json === undefined ? 'text/plain' : 'application/json';
    res.writeHead(status, { 'content-type': type, ...headers }).end(text ?? JSON.stringify(json));
    return;
  }
  res.writeHead(status, { 'content-type': 'text/event-stream', ...headers });
  for (const chunk of chunks) res.write(typeof chunk === 'string' ? chunk : `data: ${JSON.stringify(chunk)}\n\n`);
  res.end(endsEarly ? '' : 'data: [DONE]\n\n');
}

let count = 0;

/** Plays a case on an endpoint of its own, and returns what the model client made of each turn. */
async function play({ asked, answers, next }: Case) {
  count += 1;
  const path = `/case-${count}`;
  const bodies: Record<string, unknown>[] = [];
  let left = [...answers];
  sink.answer(`${path}/chat/completions`, ({ body }, res) => {
    bodies.push(JSON.parse(body) as Record<string, unknown>);
    send(res, (left.length > 1 ? left.shift() : left[0]) ?? {});
  });
  const model = createOpenAiModel({ baseUrl: `${sink.url}${path}`, apiKey });
  const words: string[] = [];
  const ask = (conversation: ConversationMessage[]) =>
    model.complete({
      model: 'm',
      temperature: null,
      maxTokens: null,
      tools,
      messages: [
        { role: 'system', content: 'You are a test.' },
        { role: 'user', content: 'Say something.' },
      ],
      material: { title: 'T', goal: '', prompt: '', documents: [], outputs: [], actions: [] },
      signal: new AbortController().signal,
      idempotencyKey: 'k',
      onText: (text) => words.push(text),
      ...asked,
      conversation,
    });
  const first = await ask([]).catch((error: unknown) => error);
  let second: unknown;
  if (next && !(first instanceof Error)) {
    left = [...next.answers];
    const { content, tool_calls, echo } = first as ChatCompletion;
    const results = tool_calls.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: '"done"' }));
    second = await ask([{ role: 'assistant', content, tool_calls, ...(echo && { echo }) }, ...results]);
  }
  return { first, second, bodies, words: words.join('') };
}

function attemptsOf({ retryable, maxAttempts }: OutboundError): string {
  if (!retryable || maxAttempts === 1) return 'one';
  return maxAttempts === undefined ? 'many' : 'few';
}

function withoutNulls(expected: Record<string, unknown>, body: Record<string, unknown> = {}) {
  for (const [name, value] of Object.entries(expected)) if (value === null) expect(body).not.toHaveProperty(name);
  return Object.fromEntries(Object.entries(expected).filter(([, value]) => value !== null));
}

test('there are answers of many endpoints, each with its public source', () => {
  verifies('model.world');
  expectSources(world, cases, { files: 12, cases: 120 });
});

describe('an answer of an endpoint', () => {
  test.each(cases)('$title', async (each) => {
    verifies('model.world');
    const { outcome, next } = each;
    const { first, second, bodies, words } = await play(each);
    if (outcome.code !== undefined) {
      expect(first).toMatchObject({ code: outcome.code });
      if (!isOutboundError(first)) return;
      if (outcome.attempts) expect(attemptsOf(first)).toBe(outcome.attempts);
      if (outcome.reason !== undefined) expect(first.message).toContain(outcome.reason);
      if (outcome.secret !== undefined) expect(first.message).not.toContain(outcome.secret);
      if (outcome.wait !== undefined) expect(first.retryAfterMs).toBe(outcome.wait);
      expect(first.message.length).toBeLessThan(600);
    } else {
      expect(first).not.toBeInstanceOf(Error);
      const { content, thinking, tool_calls } = first as ChatCompletion;
      if (outcome.content !== undefined) expect(content).toBe(outcome.content);
      expect(thinking).toBe(outcome.thinking);
      expect(tool_calls.map(readCall)).toMatchObject(outcome.tool_calls ?? []);
      expect(tool_calls).toHaveLength(outcome.tool_calls?.length ?? 0);
      expect(new Set(tool_calls.map(({ id }) => id)).size).toBe(tool_calls.length);
      if (outcome.thinking !== undefined && !outcome.startsThinking) expect(words).not.toContain(outcome.thinking);
    }
    for (const [at, expected] of (outcome.sent ?? []).entries())
      expect(bodies[at]).toMatchObject(withoutNulls(expected, bodies[at]));
    if (outcome.sent) expect(bodies).toHaveLength(outcome.sent.length + (next ? next.answers.length : 0));
    if (!next) return;
    expect(second).not.toBeInstanceOf(Error);
    const last = bodies.at(-1)?.messages as Record<string, unknown>[];
    expect(last.find(({ role }) => role === 'assistant')).toMatchObject(next.sent as object);
  });
});

function readCall({ id, name, arguments: text }: ChatCompletion['tool_calls'][number]) {
  let values: unknown = text;
  try {
    values = text === '' ? {} : JSON.parse(text);
  } catch {
    // The text stays as the model wrote it.
  }
  return { id, name, arguments: values };
}
