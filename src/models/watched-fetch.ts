import { ReadableStream } from 'node:stream/web';
import { OutboundError } from '../outbound/outbound-error.js';

export interface AnswerBounds {
  /** How long nothing of the answer may come, from the request on. */
  idleMs: number;
  /** Of the answer's body, of a refusal as well. */
  maxBytes: number;
}

/** `fetch` that gives an answer up with `timeout` or `too_large`: an open connection alone is no sign of life. */
export function createWatchedFetch({ idleMs, maxBytes }: AnswerBounds): typeof fetch {
  return async (input, init) => {
    const silence = new AbortController();
    const late = () => silence.abort(new OutboundError('timeout', `nothing of the answer came within ${idleMs / 1000} s`));
    const timer = setTimeout(late, idleMs);
    const signal = init?.signal ? AbortSignal.any([init.signal, silence.signal]) : silence.signal;

    async function* watched(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      let size = 0;
      try {
        for await (const chunk of body) {
          timer.refresh();
          size += chunk.byteLength;
          if (size > maxBytes) throw new OutboundError('too_large', `the answer is larger than ${maxBytes} bytes`);
          yield chunk;
        }
      } catch (error) {
        throw silence.signal.aborted ? silence.signal.reason : error;
      } finally {
        clearTimeout(timer);
      }
    }

    try {
      const response = await fetch(input, { ...init, signal });
      timer.refresh();
      const { body, status, statusText, headers } = response;
      if (body) return new Response(ReadableStream.from(watched(body)), { status, statusText, headers });
      clearTimeout(timer);
      return response;
    } catch (error) {
      clearTimeout(timer);
      throw silence.signal.aborted ? silence.signal.reason : error;
    }
  };
}
