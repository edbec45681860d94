import type { ErrorCode } from '../error-catalog.js';
import { AppError } from '../errors.js';

export type Turns = ReturnType<typeof createTurns>;

interface Line {
  running: number;
  waiting: (() => void)[];
}

/** Limits concurrency per project, so that no project takes all connections of a process. */
export function createTurns(limits: {
  what: string;
  maxRunning: number;
  maxWaiting: number;
  waitTimeoutMs: number;
  /** The owner of the limit, named in the message of the refusal. The default is `the project`. */
  whose?: string;
  code?: ErrorCode;
}) {
  const lines = new Map<string, Line>();
  const retryLater = () =>
    new AppError(
      limits.code ?? 'quota_exceeded',
      `${limits.whose ?? 'the project'} has too many ${limits.what} at once: ${limits.maxRunning} run and at most ${limits.maxWaiting} wait; retry in 1 s`,
      { retryAfterSeconds: 1 },
    );

  const disconnected = () => new AppError('call_timed_out', 'the caller disconnected');

  function enter(line: Line, signal: AbortSignal | undefined): Promise<void> {
    // Its event has passed, so the call would wait for nothing.
    if (signal?.aborted) return Promise.reject(disconnected());
    if (line.running < limits.maxRunning) {
      line.running += 1;
      return Promise.resolve();
    }
    if (line.waiting.length >= limits.maxWaiting) return Promise.reject(retryLater());
    return new Promise((resolve, reject) => {
      const settle = (how: () => void) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        how();
      };
      const leave = (error: AppError) => {
        line.waiting.splice(line.waiting.indexOf(begin), 1);
        settle(() => reject(error));
      };
      const begin = () => settle(resolve);
      const onAbort = () => leave(disconnected());
      const timer = setTimeout(() => leave(retryLater()), limits.waitTimeoutMs);
      line.waiting.push(begin);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  function exit(projectId: string, line: Line): void {
    const next = line.waiting.shift();
    if (next) return next();
    line.running -= 1;
    if (line.running === 0) lines.delete(projectId);
  }

  return {
    /**
     * Runs `work` when the project has a free slot.
     * @throws AppError `quota_exceeded`, or the code of the limits, if too many callers wait or no slot becomes free in time
     */
    async take<T>(projectId: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
      const line = lines.get(projectId) ?? { running: 0, waiting: [] };
      lines.set(projectId, line);
      await enter(line, signal).catch((error: unknown) => {
        if (line.running === 0) lines.delete(projectId);
        throw error;
      });
      try {
        return await work();
      } finally {
        exit(projectId, line);
      }
    },
  };
}
