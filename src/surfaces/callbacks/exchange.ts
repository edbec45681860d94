import type { Dispatcher } from 'undici';
import { OutboundError } from '../../outbound/outbound-error.js';

interface Exchanged {
  status: number;
  contentType: string;
  /** Empty if the response is longer than `maxBytes`. */
  body: Buffer;
}

/**
 * Sends one request and reads its small response with undici's handler interface. A stream and an abort signal per call
 * would take a quarter of the forwarder's time.
 * @throws OutboundError `timeout` after `timeoutMs` for the whole exchange; undici's own errors
 */
export function exchange(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  { timeoutMs, maxBytes }: { timeoutMs: number; maxBytes: number },
): Promise<Exchanged> {
  return new Promise((resolve, reject) => {
    let started: Dispatcher.DispatchController | undefined;
    let over = false;
    const settle = (end: () => void) => {
      if (over) return;
      over = true;
      clearTimeout(timer);
      end();
    };
    const timer = setTimeout(() => {
      const late = new OutboundError('timeout', `no answer within ${timeoutMs / 1000} s`);
      settle(() => reject(late));
      started?.abort(late);
    }, timeoutMs);
    const chunks: Buffer[] = [];
    let size = 0;
    let status = 0;
    let contentType = '';
    dispatcher.dispatch(options, {
      onRequestStart(controller) {
        started = controller;
        if (over) controller.abort(new OutboundError('timeout', 'the caller no longer waits for the answer'));
      },
      onResponseStart(_controller, statusCode, headers) {
        status = statusCode;
        const type = headers['content-type'];
        contentType = typeof type === 'string' ? type : '';
      },
      onResponseData(controller, chunk) {
        size += chunk.length;
        if (size <= maxBytes) return void chunks.push(chunk);
        settle(() => resolve({ status, contentType, body: Buffer.alloc(0) }));
        controller.abort(new OutboundError('too_large', 'the rest is not read'));
      },
      onResponseEnd: () => settle(() => resolve({ status, contentType, body: Buffer.concat(chunks) })),
      onResponseError: (_controller, error) => settle(() => reject(error)),
    });
  });
}
