import { setTimeout as delay } from 'node:timers/promises';

/** Repeats `check` until it does not throw; returns its value. The last error explains the failure. */
export async function eventually<T>(
  check: () => Promise<T> | T,
  options: { timeoutMs?: number; everyMs?: number } = {},
): Promise<T> {
  const deadline = Date.now() + (options.timeoutMs ?? 120_000);
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await delay(options.everyMs ?? 50);
    }
  }
}
