import type { Logger } from './log.js';

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
