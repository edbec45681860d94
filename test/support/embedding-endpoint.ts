import { createHash } from 'node:crypto';
import { afterAll, beforeEach } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { startHttpSink, type HttpSink, type SinkRequest } from './http-sink.js';

interface Asked {
  model: string;
  input: string[];
  dimensions?: number;
}

interface EmbeddingEndpoint {
  /** Ends in `/v1`. */
  baseUrl: string;
  sink: HttpSink;
  /** The texts of all answered requests, without the one that checks the endpoint. */
  texts(): string[];
  /** Answers the next requests this way. Undefined restores the usual answer. */
  answer(respond: ((asked: Asked, res: ServerResponse) => void) | undefined): void;
}

/**
 * A small OpenAI-compatible endpoint. Its vectors count the words of a text, so they say nothing about quality: tests of
 * quality use `startEmbeddingServer`.
 */
export async function useEmbeddingEndpoint(dimensions = 16): Promise<EmbeddingEndpoint> {
  const sink = await startHttpSink();
  afterAll(() => sink.close());
  let special: ((asked: Asked, res: ServerResponse) => void) | undefined;
  let answered: string[] = [];
  beforeEach(() => {
    special = undefined;
    answered = [];
  });
  sink.answer('/v1/embeddings', ({ body }: SinkRequest, res) => {
    const asked = JSON.parse(body) as Asked;
    if (special) return special(asked, res);
    answered.push(...asked.input);
    sendVectors(asked, res, asked.dimensions ?? dimensions);
  });
  return {
    baseUrl: `${sink.url}/v1`,
    sink,
    texts: () => answered.filter((text) => text !== 'test'),
    answer: (respond) => void (special = respond),
  };
}

export function sendVectors({ input, model }: Asked, res: ServerResponse, dimensions: number): void {
  const data = input.map((text, index) => ({ object: 'embedding', index, embedding: vectorOf(text, dimensions) }));
  res
    .setHeader('content-type', 'application/json')
    .end(JSON.stringify({ object: 'list', model, data, usage: { prompt_tokens: input.length * 3, total_tokens: 0 } }));
}

export function sendError(res: ServerResponse, status: number, headers: Record<string, string> = {}): void {
  res.writeHead(status, { 'content-type': 'application/json', ...headers }).end('{"error": {"message": "no"}}');
}

function vectorOf(text: string, dimensions: number): number[] {
  const vector = Array.from({ length: dimensions }, () => 0.01);
  for (const word of text.toLowerCase().split(/\W+/)) {
    const at = createHash('sha256').update(word).digest().readUInt16BE() % dimensions;
    vector[at] = (vector[at] ?? 0) + 1;
  }
  return vector;
}
