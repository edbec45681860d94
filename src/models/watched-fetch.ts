import { ReadableStream } from 'node:stream/web';
import { abortWith } from '../base/async.js';
import { isOutboundError, OutboundError } from '../outbound/outbound-error.js';

export interface AnswerBounds {
  /** The maximum time without data, counted from the request. */
  idleMs: number;
  /** The maximum body size, also of an error response. */
  maxBytes: number;
  /** The maximum size of one event of a stream. The client scans the whole event again for each chunk. */
  maxEventBytes: number;
}

/**
 * Creates a `fetch` that aborts with `timeout` or `too_large`, because an open connection does not prove that the
 * server still works.
 */
export function createWatchedFetch({ idleMs, maxBytes, maxEventBytes }: AnswerBounds): typeof fetch {
  return async (input, init) => {
    const left = abortWith(...(init?.signal ? [init.signal] : []));
    const { signal } = left;
    const timer = setTimeout(
      () => left.abort(new OutboundError('timeout', `no data was received for ${idleMs / 1000} s`)),
      idleMs,
    );
    const end = () => {
      clearTimeout(timer);
      left.abort();
    };

    async function* watched(body: AsyncIterable<Uint8Array>, isStream: boolean): AsyncGenerator<Uint8Array> {
      const eventSize = isStream ? createEventMeter() : () => 0;
      let size = 0;
      try {
        for await (const chunk of body) {
          timer.refresh();
          size += chunk.byteLength;
          if (size > maxBytes) throw new OutboundError('too_large', `the answer is larger than ${maxBytes} bytes`);
          if (eventSize(chunk) > maxEventBytes)
            throw new OutboundError('too_large', `an event of the answer is larger than ${maxEventBytes} bytes`);
          yield chunk;
        }
      } catch (error) {
        signal.throwIfAborted();
        if (isOutboundError(error)) throw error;
        throw new OutboundError(
          'model_unavailable',
          'the model endpoint closed the connection before the answer was complete',
        );
      } finally {
        end();
      }
    }

    try {
      const response = await fetch(input, { ...init, signal });
      timer.refresh();
      const { body, status, statusText, headers } = response;
      if (body)
        return new Response(ReadableStream.from(watched(body, isEventStream(response))), {
          status,
          statusText,
          headers,
        });
      end();
      return response;
    } catch (error) {
      const failure: unknown = signal.aborted ? signal.reason : error;
      end();
      throw failure;
    }
  };
}

export function isEventStream({ headers }: Response): boolean {
  return /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');
}

const eventEnds = ['\n\n', '\r\n\r\n', '\r\r'];

/** Counts the bytes since the end of the last event. An end may span two chunks. */
function createEventMeter(): (chunk: Uint8Array) => number {
  let size = 0;
  let tail: Uint8Array = Buffer.alloc(0);
  return (chunk) => {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const hasEnd = (text: Buffer) => eventEnds.some((end) => text.includes(end));
    size = hasEnd(bytes) || hasEnd(Buffer.concat([tail, bytes.subarray(0, 3)])) ? 0 : size + bytes.length;
    tail = bytes.length < 3 ? Buffer.concat([tail, bytes]).subarray(-3) : bytes.subarray(-3);
    return size;
  };
}
