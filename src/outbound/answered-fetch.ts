import { ReadableStream } from 'node:stream/web';
import { createParser } from 'eventsource-parser';
import { isJsonObject, parseJsonOrUndefined, type JsonObject } from '../json.js';
import type { McpReader } from './mcp-reader.js';
import { isOutboundError, OutboundError, unreachable } from './outbound-error.js';
import { isTransientStatus } from './retry-hints.js';

/** The maximum number of requests from the server in a session. The client answers each with an HTTP request. */
const maxReplies = 500;
/** How often in a row a stream can fail to be resumed. The library tries as often. */
export const maxFailedResumes = 3;

export interface AnsweredFetchOptions {
  reader: McpReader;
  /** Receives what the library would hide, or would wait for. */
  failed: (error: OutboundError) => void;
  /** Whether all answers arrive on one GET stream (HTTP with SSE, revision 2024-11-05). */
  hasOneStream?: boolean;
}

type RequestId = unknown;

/**
 * Wraps the `fetch` of an MCP client. The reader sees each message before the library does. A response that ends without
 * the answer to its request is passed to `failed`, because the library would wait for that answer. A stream with event
 * ids may end earlier: the library then resumes it (MCP, Streamable HTTP, Resumability).
 */
export function createAnsweredFetch(send: typeof fetch, options: AnsweredFetchOptions): typeof fetch {
  const { reader, failed, hasOneStream = false } = options;
  let replies = 0;
  let failedResumes = 0;
  /** The request whose stream had this event. */
  const requestOf = new Map<string, RequestId>();
  const fail = (error: OutboundError): never => {
    failed(error);
    throw error;
  };

  function notResumed(id: RequestId, mayPass: boolean): void {
    failedResumes += 1;
    if (reader.awaits(id) && (!mayPass || failedResumes >= maxFailedResumes)) failed(endedEarly());
  }

  return async (url, init) => {
    const request = typeof init?.body === 'string' ? parseJsonOrUndefined(init.body) : undefined;
    const resumedAt = init?.method === 'GET' ? new Headers(init.headers).get('last-event-id') : null;
    const resumed = resumedAt === null ? undefined : requestOf.get(resumedAt);
    if (isJsonObject(request) && request.method === undefined) replies += 1;
    if (replies > maxReplies) fail(tooManyRequests());
    if (isJsonObject(request)) reader.sent(request);
    const response = await send(url, init).catch((error: unknown) => {
      if (init?.signal?.aborted) throw error;
      if (resumed === undefined) return fail(isOutboundError(error) ? error : unreachable(error));
      notResumed(resumed, true);
      throw error;
    });
    if (!response.ok || !response.body) {
      if (resumed !== undefined) notResumed(resumed, isTransientStatus(response.status) || response.status === 409);
      return response;
    }
    if (resumed !== undefined) failedResumes = 0;
    const asks = isJsonObject(request) && request.id !== undefined && request.method !== undefined;
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    if (isStream) {
      const id = asks ? request.id : resumed;
      const isAborted = () => init?.signal?.aborted === true;
      const stream = { id, isResumed: resumed !== undefined, isAborted, mustGoOn: hasOneStream && !asks };
      return new Response(ReadableStream.from(eventsOf(response.body, stream)), response);
    }
    return asks && !hasOneStream ? wholeAnswer(request, response) : response;
  };

  interface Stream {
    /** The request that the stream answers. */
    id: RequestId;
    isResumed: boolean;
    isAborted: () => boolean;
    /** The end of the stream is the end of the session. */
    mustGoOn: boolean;
  }

  async function* eventsOf(body: AsyncIterable<Uint8Array>, stream: Stream): AsyncGenerator<Uint8Array> {
    const { id: owner, mustGoOn } = stream;
    const encoder = new TextEncoder();
    const decoder = new TextDecoder();
    let isResumable = stream.isResumed;
    let hasOther = false;
    let lastId: string | undefined;
    let ready: string[] = [];
    const events = createParser({
      onRetry: (ms) => ready.push(`retry: ${ms}\n\n`),
      onEvent({ id, event, data }) {
        if (id !== undefined && owner !== undefined) {
          if (lastId !== undefined) requestOf.delete(lastId);
          requestOf.set(id, owner);
          [lastId, isResumable] = [id, true];
        }
        const isMessage = data !== '' && (event === undefined || event === 'message');
        const message = isMessage ? parseJsonOrUndefined(data) : undefined;
        if (isMessage) hasOther ||= !isExpected(message, owner);
        const text = isJsonObject(message) ? readText(message, data.length) : data;
        ready.push(
          [...(id === undefined ? [] : [`id: ${id}`]), ...(event === undefined ? [] : [`event: ${event}`])]
            .concat(text.split('\n').map((line) => `data: ${line}`))
            .join('\n') + '\n\n',
        );
      },
    });
    try {
      for await (const chunk of body) {
        events.feed(decoder.decode(chunk, { stream: true }));
        if (ready.length > 0) yield encoder.encode(ready.join(''));
        ready = [];
      }
    } catch (error) {
      if (stream.isAborted()) throw error;
      if (isOutboundError(error) && error.code !== 'unreachable') fail(error);
      if (owner === undefined && !mustGoOn) throw error;
      if (!isResumable && reader.awaits(owner)) fail(isOutboundError(error) ? error : unreachable(error));
    }
    if (stream.isAborted()) return;
    if (mustGoOn) fail(endedEarly());
    if (owner === undefined || !reader.awaits(owner)) return;
    if (hasOther) fail(otherAnswer());
    if (!isResumable) fail(endedEarly());
  }

  /** The message as the library gets it. */
  function readText(message: JsonObject, size: number): string {
    try {
      return JSON.stringify(reader.received(message, size));
    } catch (error) {
      return fail(isOutboundError(error) ? error : notMcp());
    }
  }

  /** Reads the answer to a request that is not a stream, whatever media type the server gives it. */
  async function wholeAnswer(request: JsonObject, response: Response): Promise<Response> {
    const text = await response
      .text()
      .catch((error: unknown) => fail(isOutboundError(error) ? error : unreachable(error)));
    const parsed = parseJsonOrUndefined(text.replace(/^\uFEFF/, ''));
    const isJson = response.headers.get('content-type')?.includes('application/json') ?? false;
    if (!isJson && !isJsonObject(parsed)) return new Response(text, response);
    const read = [parsed].flat().map((each) => {
      const message = answerTo(request, each);
      return isJsonObject(message) ? readText(message, text.length) : 'null';
    });
    if (reader.awaits(request.id)) fail(text.trim() === '' ? endedEarly() : otherAnswer());
    const headers = new Headers(response.headers);
    headers.set('content-type', 'application/json');
    const { status, statusText } = response;
    return new Response(Array.isArray(parsed) ? `[${read.join()}]` : read[0], { status, statusText, headers });
  }
}

/** An error without an id, which is the only answer to a request, is the answer to that request. */
function answerTo({ id }: JsonObject, message: unknown): unknown {
  if (!isJsonObject(message) || (message.id ?? null) !== null || (message.error ?? null) === null) return message;
  return { ...message, id };
}

/** Returns whether a message can occur on the stream of this request: its answer, or a message of the server's own. */
function isExpected(message: unknown, id: RequestId): boolean {
  return (
    isJsonObject(message) && (id === undefined || message.method !== undefined || String(message.id) === String(id))
  );
}

const tooManyRequests = () =>
  new OutboundError('action_refused', `the MCP server sent more than ${maxReplies} requests in one session`);
const otherAnswer = () =>
  new OutboundError('action_refused', 'the MCP server answered with something that is not the answer to the request');
const notMcp = () => new OutboundError('action_refused', 'the MCP server answered with something that is not MCP');
const endedEarly = () => new OutboundError('unreachable', 'the MCP server ended its response without an answer');
