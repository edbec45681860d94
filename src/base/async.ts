import { setMaxListeners } from 'node:events';
import type { Logger } from 'pino';

/**
 * Returns a controller that also aborts when one of the signals does. Abort it when its work ends, unless the signals
 * belong to that work. Node.js never frees the result of `AbortSignal.any` if a library leaves its listener on it, like
 * the client of Temporal, nor what this listener refers to.
 */
export function abortWith(...signals: readonly AbortSignal[]): AbortController {
  const controller = new AbortController();
  for (const signal of signals) {
    // A signal of the process has a listener for each stream.
    setMaxListeners(0, signal);
    const abort = () => controller.abort(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true, signal: controller.signal });
  }
  return controller;
}

/** Returns the result of `work`, or rejects with `late()` after `ms`. Does not stop the work. */
export async function within<T>(ms: number, work: Promise<T>, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  return Promise.race([work, over]).finally(() => clearTimeout(timer));
}

/**
 * Works on each item, at most `atOnce` of them at the same time. A failure is logged and concerns only its item, so that
 * one item never stops the work on the others.
 */
export async function eachApart<T>(
  items: readonly T[],
  {
    log,
    failed,
    about,
    atOnce = 1,
  }: { log: Pick<Logger, 'warn'>; failed: string; about(item: NoInfer<T>): object; atOnce?: number },
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const waiting = items.values();
  const worker = async () => {
    for (const item of waiting)
      await work(item).catch((error: unknown) => log.warn({ err: error, ...about(item) }, failed));
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

interface Regular {
  everyMs: number;
  /** The log message for a failed run. */
  failed: string;
  run(): Promise<void>;
}

/** Repeats work at an interval until the process stops, one run at a time. */
export function regularly(
  { everyMs, failed, run }: Regular,
  { log, stopping }: { log: Logger; stopping: AbortController },
): void {
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    running ??= run()
      .catch((error: unknown) => log.warn({ err: error }, failed))
      .finally(() => (running = undefined));
  }, everyMs);
  timer.unref();
  stopping.signal.addEventListener('abort', () => clearInterval(timer));
}
