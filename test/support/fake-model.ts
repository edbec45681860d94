import type { ServerResponse } from 'node:http';
import { startHttpSink, type SinkRequest } from './http-sink.js';

export interface FakeRequest {
  /** The time of the request in epoch milliseconds. */
  at: number;
  headers: SinkRequest['headers'];
  body: any;
}

export type Respond = (res: ServerResponse, asked: FakeRequest, attempt: number) => void;

export interface FakeModel {
  /** The `LLM_BASE_URL`. */
  url: string;
  /** The requests to a model, in order. */
  asked(model: string): FakeRequest[];
  /** Defines the answers of a model. `attempt` counts from 1. */
  on(model: string, respond: Respond): void;
  close(): Promise<void>;
}

/** A local OpenAI-compatible endpoint. Each test uses its own model. A model without a definition answers "fine". */
export async function startFakeModel(): Promise<FakeModel> {
  const sink = await startHttpSink();
  const asked = new Map<string, FakeRequest[]>();
  const models = new Map<string, Respond>();
  sink.answer('/v1/chat/completions', ({ headers, body: text }, res) => {
    const body = JSON.parse(text) as { model: string };
    const list = asked.get(body.model) ?? [];
    asked.set(body.model, list);
    const request = { at: Date.now(), headers, body };
    list.push(request);
    (models.get(body.model) ?? ((to: ServerResponse) => streamText(to, ['fine'])))(res, request, list.length);
  });
  return {
    url: `${sink.url}/v1`,
    asked: (model) => asked.get(model) ?? [],
    on: (model, respond) => void models.set(model, respond),
    close: () => sink.close(),
  };
}

/** A chunk of a stream with one choice and this delta. */
export function chunk(delta: object, finish_reason: string | null = null): object {
  return { id: 'c', object: 'chat.completion.chunk', model: 'served', choices: [{ index: 0, delta, finish_reason }] };
}

export const usageChunk = {
  id: 'c',
  object: 'chat.completion.chunk',
  model: 'served',
  choices: [],
  usage: { prompt_tokens: 12, completion_tokens: 3 },
};

export function beginStream(res: ServerResponse): void {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.flushHeaders();
}

export function send(res: ServerResponse, ...chunks: object[]): void {
  for (const each of chunks) res.write(`data: ${JSON.stringify(each)}\n\n`);
}

/** A streamed answer that calls tools, each with its arguments. */
export function streamCalls(res: ServerResponse, calls: readonly (readonly [tool: string, values: object])[]): void {
  const tool_calls = calls.map(([name, values], index) => ({
    ...{ index, id: `c${index}`, type: 'function' },
    function: { name, arguments: JSON.stringify(values) },
  }));
  beginStream(res);
  send(res, chunk({ role: 'assistant', content: '', tool_calls }), chunk({}, 'tool_calls'), usageChunk);
  endStream(res);
}

/** Sends the chunks, and resets the connection immediately afterwards. */
export function breakOff(res: ServerResponse, ...chunks: object[]): void {
  beginStream(res);
  send(res, ...chunks);
  res.write(':\n\n', () => res.socket?.resetAndDestroy());
}

export function endStream(res: ServerResponse): void {
  res.end('data: [DONE]\n\n');
}

/** A whole streamed answer, word by word, with its usage. */
export function streamText(res: ServerResponse, words: string[], finish = 'stop'): void {
  beginStream(res);
  send(
    res,
    chunk({ role: 'assistant', content: '' }),
    ...words.map((content) => chunk({ content })),
    chunk({}, finish),
    usageChunk,
  );
  endStream(res);
}

export function sendJson(
  res: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
