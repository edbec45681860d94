import { StackError } from './stack-error.js';

/**
 * Runs the work of a process. SIGINT and SIGTERM abort the signal. An error that the user can fix is shown without a
 * stack trace.
 */
export async function runInterruptibly(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const interruption = new AbortController();
  process.once('SIGINT', () => interruption.abort());
  process.once('SIGTERM', () => interruption.abort());
  try {
    await work(interruption.signal);
  } catch (error) {
    if (interruption.signal.aborted) process.exit(130);
    process.stderr.write(`${error instanceof StackError ? error.message : String((error as Error).stack)}\n`);
    // Exit explicitly because a running build would keep the event loop alive. The guard of the build ends it when this
    // process ends.
    process.exit(1);
  }
}

export function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined));
  });
}
