import { ReadableStream } from 'node:stream/web';
import { isOutboundError, OutboundError } from '../outbound/outbound-error.js';

export interface AnswerBounds {
  /** How long nothing of the answer may come, from the request on. */
  idleMs: number;
  /** Of the answer's body, of a refusal as well. */
  maxBytes: number;
  /** Of one event of a stream: the client looks through all of an event again with each piece of it. */
  maxEventBytes: number;
}

/** `fetch` that gives an answer up with `timeout` or `too_large`: an open connection alone is no sign of life. */
export function createWatchedFetch({ idleMs, maxBytes, maxEventBytes }: AnswerBounds): typeof fetch {
  return async (input, init) => {
    const silence = new AbortController();
    const late = () => silence.abort(new OutboundError('timeout', `nothing of the answer came within ${idleMs / 1000} s`));
    const timer = setTimeout(late, idleMs);
    const signal = init?.signal ? AbortSignal.any([init.signal, silence.signal]) : silence.signal;

    async function* watched(body: AsyncIterable<Uint8Array>, isStream: boolean): AsyncGenerator<Uint8Array> {
      const eventSize = isStream ? createEventMeter() : () => 0;
      let size = 0;
      try {
        for await (const chunk of body) {
          timer.refresh();
          size += chunk.byteLength;
          if (size > maxBytes) throw new OutboundError('too_large', `the answer is larger than ${maxBytes} bytes`);
          if (eventSize(chunk) > maxEventBytes) throw new OutboundError('too_large', `an event of the answer is larger than ${maxEventBytes} bytes`);
          yield chunk;
        }
      } catch (error) {
        if (silence.signal.aborted) throw silence.signal.reason;
        if (signal.aborted || isOutboundError(error)) throw error;
        throw new OutboundError('model_unavailable', 'the model endpoint broke off within its answer');
      } finally {
        clearTimeout(timer);
      }
    }

    try {
      const response = await fetch(input, { ...init, signal });
      timer.refresh();
      const { body, status, statusText, headers } = response;
      if (body) return new Response(ReadableStream.from(watched(body, isEventStream(response))), { status, statusText, headers });
      clearTimeout(timer);
      return response;
    } catch (error) {
      clearTimeout(timer);
      throw silence.signal.aborted ? silence.signal.reason : error;
    }
  };
}

export function isEventStream({ headers }: Response): boolean {
  return /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');
}

/** Bytes since the last chunk in which an event ended. */
function createEventMeter(): (chunk: Uint8Array) => number {
  let size = 0;
  let tail = Buffer.alloc(0);
  return (chunk) => {
    const text = Buffer.concat([tail, chunk]);
    tail = text.subarray(-3);
    const hasEnd = ['\n\n', '\r\n\r\n', '\r\r'].some((end) => text.includes(end));
    size = hasEnd ? 0 : size + chunk.byteLength;
    return size;
  };
}
