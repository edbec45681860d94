import { ReadableStream } from 'node:stream/web';
import { fetch as send, type Dispatcher, type RequestInit as SendInit } from 'undici';
import { isOutboundError, OutboundError, unreachable } from './outbound-error.js';

interface GuardedFetchOptions {
  maxBytes: number;
  failed(error: OutboundError): void;
}

/**
 * Implements `HttpClient.fetchWith`. `dispatcherFor` refuses forbidden URLs. Redirects are not followed, because they
 * would not be checked.
 */
export function createGuardedFetch(
  dispatcherFor: (url: URL) => Dispatcher,
  { maxBytes, failed }: GuardedFetchOptions,
): typeof fetch {
  return async (input, init) => {
    const reported = (error: unknown): unknown => {
      if (init?.signal?.aborted) return error;
      const cause = error instanceof Error && !isOutboundError(error) ? error.cause : error;
      const known = isOutboundError(cause) ? cause : unreachable(cause);
      failed(known);
      return known;
    };

    async function* bounded(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      let size = 0;
      try {
        for await (const chunk of body) {
          size += chunk.byteLength;
          if (size > maxBytes) throw new OutboundError('too_large', `the answer is larger than ${maxBytes} bytes`);
          yield chunk;
        }
      } catch (error) {
        // A GET stream, on which the client only listens, may end at any time.
        throw init?.method === 'POST' || isOutboundError(error) ? reported(error) : error;
      }
    }

    try {
      const url = new URL(input instanceof Request ? input.url : input);
      const redirect = init?.redirect === 'error' ? 'error' : 'manual';
      const answer = await send(url, { ...(init as SendInit), redirect, dispatcher: dispatcherFor(url) });
      const body = answer.body ? ReadableStream.from(bounded(answer.body)) : null;
      const { status, statusText } = answer;
      return new Response(body, { status, statusText, headers: Object.fromEntries(answer.headers) });
    } catch (error) {
      throw reported(error);
    }
  };
}
