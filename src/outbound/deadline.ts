import { OutboundError } from './outbound-error.js';

/**
 * Runs `work` until it ends, `signal` aborts (rejects with its reason) or `timeoutMs` pass (rejects with `timeout`).
 * Settles immediately even if `work` reacts late to its signal, as a connection attempt does.
 */
export async function withDeadline<T>(
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const end = new AbortController();
  const ended = new Promise<void>((resolve) => {
    end.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  const abort = () => end.abort(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  const timer = setTimeout(
    () => end.abort(new OutboundError('timeout', `no answer within ${timeoutMs / 1000} s`)),
    timeoutMs,
  );
  const working = work(end.signal);
  working.catch(() => undefined);
  try {
    await Promise.race([working, ended]);
    end.signal.throwIfAborted();
    return await working;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}
