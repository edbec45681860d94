import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { isJsonObject } from '../base/json.js';
import { idText, parseMessage, type McpMessage, type McpReader } from './mcp-reader.js';
import { isOutboundError, OutboundError, unreachable } from './outbound-error.js';

/** What all streams of a session share. */
export interface EventContext {
  reader: McpReader;
  /** Ends the session. */
  fail: (error: OutboundError) => never;
  /** The request whose stream ended with this event so far. */
  requestOf: Map<string, unknown>;
}

interface EventStream {
  /** The id of the request that the stream answers. */
  id: unknown;
  isResumed: boolean;
  isAborted: () => boolean;
  /** The end of the stream is the end of the session. */
  mustGoOn: boolean;
}

/** Lets the reader see each message of a stream, and returns the events with the messages as the library gets them. */
export async function* readEvents(
  body: AsyncIterable<Uint8Array>,
  context: EventContext,
  stream: EventStream,
): AsyncGenerator<Uint8Array> {
  const { reader, fail, requestOf } = context;
  const { id: owner, mustGoOn, isAborted } = stream;
  const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];
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
      const message = isMessage ? parseMessage(data) : undefined;
      if (message) hasOther ||= !isExpected(message.exact, owner);
      ready.push(frameOf({ id, event, data: message ? (readText(context, message) ?? data) : data }));
    },
  });
  try {
    for await (const chunk of body) {
      events.feed(decoder.decode(chunk, { stream: true }));
      if (ready.length > 0) yield encoder.encode(ready.join(''));
      ready = [];
    }
  } catch (error) {
    if (isAborted()) throw error;
    if (isOutboundError(error) && error.code !== 'unreachable') fail(error);
    if (owner === undefined && !mustGoOn) throw error;
    if (!isResumable && reader.awaits(owner)) fail(isOutboundError(error) ? error : unreachable(error));
  }
  if (isAborted()) return;
  if (mustGoOn) fail(endedEarly());
  if (owner === undefined || !reader.awaits(owner)) return;
  if (hasOther) fail(otherAnswer());
  if (!isResumable) fail(endedEarly());
}

/** The message as the library gets it. Undefined if it is not an object. */
export function readText(
  { reader, fail }: Pick<EventContext, 'reader' | 'fail'>,
  message: McpMessage,
): string | undefined {
  if (!isJsonObject(message.exact)) return undefined;
  try {
    return JSON.stringify(reader.received(message));
  } catch (error) {
    return fail(isOutboundError(error) ? error : notMcp());
  }
}

function frameOf({ id, event, data }: EventSourceMessage): string {
  const head = [...(id === undefined ? [] : [`id: ${id}`]), ...(event === undefined ? [] : [`event: ${event}`])];
  return `${[...head, ...data.split('\n').map((line) => `data: ${line}`)].join('\n')}\n\n`;
}

/** Returns whether a message can occur on the stream of this request: its answer, or a message of the server's own. */
function isExpected(message: unknown, id: unknown): boolean {
  return (
    isJsonObject(message) && (id === undefined || message.method !== undefined || idText(message.id) === idText(id))
  );
}

const notMcp = () => new OutboundError('action_refused', 'the MCP server answered with something that is not MCP');
export const otherAnswer = () =>
  new OutboundError('action_refused', 'the MCP server answered with something that is not the answer to the request');
export const endedEarly = () => new OutboundError('unreachable', 'the MCP server ended its response without an answer');
