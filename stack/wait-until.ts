import { setTimeout as pause } from 'node:timers/promises';
import { messageOf, StackError } from './stack-error.js';

const pauseMs = 100;

/**
 * Repeats a check until it does not throw.
 * @param assertRunning throws if the process that the check needs has ended
 * @param late the message after `timeoutMs`, for the last failure of the check
 */
export async function waitUntil(
  check: () => Promise<void>,
  {
    assertRunning,
    timeoutMs,
    late,
    signal,
  }: {
    assertRunning: () => Promise<void>;
    timeoutMs: number;
    late: (failure: string) => string;
    signal: AbortSignal | undefined;
  },
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const failure = await check().then(
      () => undefined,
      (error: unknown) => messageOf(error),
    );
    await assertRunning();
    if (failure === undefined) return;
    if (Date.now() > deadline) throw new StackError(late(failure));
    await pause(pauseMs, undefined, { signal });
  }
}
