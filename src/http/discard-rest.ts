import type { IncomingMessage } from 'node:http';

const discardTimeoutMs = 5000;

/**
 * After a refusal, reads up to `maxBytes` for a few seconds so that the client receives the response, then closes the
 * connection.
 */
export function discardRest(req: IncomingMessage, maxBytes: number): void {
  if (req.complete || req.destroyed) return;
  let left = maxBytes;
  const timer = setTimeout(() => req.destroy(), discardTimeoutMs);
  timer.unref();
  req.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) req.destroy();
  });
  req
    .once('close', () => clearTimeout(timer))
    .once('end', () => clearTimeout(timer))
    .on('error', () => undefined);
  req.resume();
}
