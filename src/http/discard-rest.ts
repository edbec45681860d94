import type { IncomingMessage } from 'node:http';

const restMs = 5000;

/** Reads on for a while after a refusal, so that the sender sees it, and then cuts a sender that does not stop. */
export function discardRest(req: IncomingMessage, atMost: number): void {
  if (req.complete || req.destroyed) return;
  let left = atMost;
  const late = setTimeout(() => req.destroy(), restMs);
  late.unref();
  req.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) req.destroy();
  });
  req.once('close', () => clearTimeout(late)).once('end', () => clearTimeout(late)).on('error', () => undefined);
  req.resume();
}
