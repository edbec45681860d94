import type { IncomingMessage } from 'node:http';
import { AppError } from '../../base/errors.js';

type ByteBudget = ReturnType<typeof createByteBudget>;

/**
 * Limits the bytes of the bodies that this process holds concurrently, so that many large senders cannot exhaust its
 * memory. `take` throws AppError `unavailable` with `Retry-After` if they are exhausted.
 */
export function createByteBudget(maxBytes: number) {
  let held = 0;
  return {
    take(bytes: number): void {
      if (held + bytes > maxBytes) {
        throw new AppError('unavailable', 'too many large callbacks are being received; retry later', {
          retryAfterSeconds: 1,
        });
      }
      held += bytes;
    },
    give: (bytes: number) => void (held -= bytes),
  };
}

/**
 * Reads the body exactly as received, whatever its type, encoding or transfer coding. The caller must return its length
 * to the budget.
 * @throws AppError `payload_too_large` as soon as the limit is exceeded, `invalid_request` for a truncated body
 */
export async function readRawBody(req: IncomingMessage, limit: number, budget: ByteBudget): Promise<Buffer> {
  if (Number(req.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise<Buffer>((resolve, reject) => {
    const settle = (error: unknown) => {
      req.off('data', onData).off('end', onEnd).off('close', onCutOff).off('error', onCutOff);
      if (error === undefined) return resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
      budget.give(size);
      reject(error);
    };
    const onData = (chunk: Buffer) => {
      try {
        if (size + chunk.length > limit) throw tooLarge(limit);
        budget.take(chunk.length);
      } catch (error) {
        return settle(error);
      }
      size += chunk.length;
      chunks.push(chunk);
    };
    const onCutOff = () => settle(new AppError('invalid_request', 'the request body was truncated'));
    // A body longer than announced closes the connection immediately, so nobody waits for the response.
    const onEnd = () => (req.socket.destroyed ? onCutOff() : settle(undefined));
    req.on('data', onData).on('end', onEnd).on('close', onCutOff).on('error', onCutOff);
  });
}

function tooLarge(limit: number): AppError {
  return new AppError('payload_too_large', `the body is larger than ${limit} bytes`);
}
