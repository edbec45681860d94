import { ReadableStream } from 'node:stream/web';
import { isJsonObject, parseJsonOrUndefined, type JsonObject } from '../base/json.js';
import { endedEarly, otherAnswer, readEvents, readText, type EventContext } from './mcp-events.js';
import { parseMessage, type McpReader } from './mcp-reader.js';
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

/**
 * Wraps the `fetch` of an MCP client. The reader sees each message before the library does. A response that ends without
 * the answer to its request is passed to `failed`, because the library would wait for that answer. A stream with event
 * ids may end earlier: the library then resumes it (MCP, Streamable HTTP, Resumability).
 */
export function createAnsweredFetch(send: typeof fetch, options: AnsweredFetchOptions): typeof fetch {
  const { reader, failed, hasOneStream = false } = options;
  let replies = 0;
  let failedResumes = 0;
  const fail = (error: OutboundError): never => {
    failed(error);
    throw error;
  };
  const context: EventContext = { reader, fail, requestOf: new Map() };

  function notResumed(id: unknown, mayPass: boolean): void {
    failedResumes += 1;
    if (reader.awaits(id) && (!mayPass || failedResumes >= maxFailedResumes)) failed(endedEarly());
  }

  return async (url, init) => {
    const request = typeof init?.body === 'string' ? parseJsonOrUndefined(init.body) : undefined;
    const resumedAt = init?.method === 'GET' ? new Headers(init.headers).get('last-event-id') : null;
    const resumed = resumedAt === null ? undefined : context.requestOf.get(resumedAt);
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
    if (!isStream) return asks && !hasOneStream ? wholeAnswer(context, request, response) : response;
    const events = readEvents(response.body, context, {
      id: asks ? request.id : resumed,
      isResumed: resumed !== undefined,
      isAborted: () => init?.signal?.aborted === true,
      mustGoOn: hasOneStream && !asks,
    });
    return new Response(ReadableStream.from(events), response);
  };
}

/** Reads the answer to a request that is not a stream, whatever media type the server gives it. */
async function wholeAnswer(context: EventContext, request: JsonObject, response: Response): Promise<Response> {
  const { reader, fail } = context;
  const text = await response
    .text()
    .catch((error: unknown) => fail(isOutboundError(error) ? error : unreachable(error)));
  const { exact: parsed, rounded, size } = parseMessage(text.replace(/^\uFEFF/, ''));
  const isJson = response.headers.get('content-type')?.includes('application/json') ?? false;
  if (!isJson && !isJsonObject(parsed)) return new Response(text, response);
  const read = [parsed]
    .flat()
    .map(
      (each, at) =>
        readText(context, { exact: answerTo(request, each), rounded: [rounded].flat()[at], size }) ?? 'null',
    );
  if (reader.awaits(request.id)) fail(text.trim() === '' ? endedEarly() : otherAnswer());
  const headers = new Headers(response.headers);
  headers.set('content-type', 'application/json');
  const { status, statusText } = response;
  return new Response(Array.isArray(parsed) ? `[${read.join()}]` : read[0], { status, statusText, headers });
}

/** An error without an id, which is the only answer to a request, is the answer to that request. */
function answerTo({ id }: JsonObject, message: unknown): unknown {
  if (!isJsonObject(message) || (message.id ?? null) !== null || (message.error ?? null) === null) return message;
  return { ...message, id };
}

const tooManyRequests = () =>
  new OutboundError('action_refused', `the MCP server sent more than ${maxReplies} requests in one session`);
