import { OutboundError } from './outbound-error.js';

/**
 * Pauses a deadline, for time that does not count. The deadline resumes after as many calls of `start` as of `stop`.
 */
export interface Clock {
  stop(): void;
  start(): void;
}

/**
 * Runs `work` until it ends, `signal` aborts (rejects with its reason) or `timeoutMs` pass (rejects with `timeout`).
 * Settles immediately even if `work` reacts late to its signal, as a connection attempt does.
 */
export async function withDeadline<T>(
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
  work: (signal: AbortSignal, clock: Clock) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const end = new AbortController();
  const ended = new Promise<void>((resolve) => {
    end.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  const abort = () => end.abort(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  const expire = () => end.abort(new OutboundError('timeout', `no answer within ${timeoutMs / 1000} s`));
  let left = timeoutMs;
  let startedAt = performance.now();
  let timer = setTimeout(expire, left);
  let stops = 0;
  const clock: Clock = {
    stop() {
      stops += 1;
      if (stops > 1) return;
      clearTimeout(timer);
      left -= performance.now() - startedAt;
    },
    start() {
      stops -= 1;
      if (stops > 0) return;
      startedAt = performance.now();
      timer = setTimeout(expire, left);
    },
  };
  const working = work(end.signal, clock);
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
