import { createParser } from 'eventsource-parser';
import { isJsonObject, parseJsonOrUndefined } from '../json.js';
import { OutboundError } from './outbound-error.js';

/** The maximum size of all pages of the lists of tools in a session. Everything in them is hashed and compared. */
const maxListBytes = 1024 * 1024;
/** The maximum number of requests from the server in a session. The client answers each with an HTTP request. */
const maxReplies = 500;

/**
 * Wraps the `fetch` of an MCP client. A response that ends without the answer to its request is passed to `failed`,
 * because the library would wait for that answer. So is a list of tools that is too large, because the library collects
 * all pages. `onMessage` receives the messages as the server sent them.
 */
export function createAnsweredFetch(
  send: typeof fetch,
  { failed, onMessage }: { failed(error: OutboundError): void; onMessage(text: string): void },
): typeof fetch {
  let listed = 0;
  let replies = 0;
  const fail = (error: OutboundError): never => {
    failed(error);
    throw error;
  };
  return async (url, init) => {
    const request = typeof init?.body === 'string' ? parseJsonOrUndefined(init.body) : undefined;
    if (isJsonObject(request) && request.method === undefined) replies += 1;
    if (replies > maxReplies) fail(tooManyRequests());
    const response = await send(url, init);
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    if (!isJsonObject(request) || request.id === undefined || request.method === undefined) return response;
    if (!response.ok || !response.body || !(isStream || isJson(response))) return response;
    let text = '';
    let isAnswered = false;
    let hasOther = false;
    const read = (data: string) => {
      onMessage(data);
      for (const message of [parseJsonOrUndefined(data)].flat()) {
        if (!isJsonObject(message)) hasOther = true;
        else if (message.method === undefined && String(message.id) === String(request.id)) isAnswered = true;
        else hasOther ||= message.method === undefined;
      }
    };
    const events = createParser({ onEvent: ({ data }) => read(data) });
    const decoder = new TextDecoder();
    const check = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, to) {
        if (request.method === 'tools/list') listed += chunk.byteLength;
        if (listed > maxListBytes) fail(tooLong());
        const piece = decoder.decode(chunk, { stream: true });
        if (isStream) events.feed(piece);
        else text += piece;
        to.enqueue(chunk);
      },
      flush() {
        if (text !== '') read(text);
        if (isAnswered) return;
        fail(hasOther ? otherAnswer() : endedEarly());
      },
    });
    return new Response(response.body.pipeThrough(check), response);
  };
}

const isJson = ({ headers }: Response) => headers.get('content-type')?.includes('application/json') ?? false;
const tooLong = () =>
  new OutboundError('too_large', `the tools of the MCP server are larger than ${maxListBytes} bytes in total`);
const tooManyRequests = () =>
  new OutboundError('action_refused', `the MCP server sent more than ${maxReplies} requests in one session`);
const otherAnswer = () =>
  new OutboundError('action_refused', 'the MCP server answered with something that is not the answer to the request');
const endedEarly = () => new OutboundError('unreachable', 'the MCP server ended its response without an answer');
