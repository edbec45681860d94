import { setTimeout as delay } from 'node:timers/promises';

/**
 * Repeats `check` until it does not throw; returns its value. The last error explains the failure. By default, the pauses
 * grow with the time that has passed, because each check takes processor time from what it waits for.
 */
export async function eventually<T>(
  check: () => Promise<T> | T,
  { timeoutMs = 120_000, everyMs }: { timeoutMs?: number; everyMs?: number } = {},
): Promise<T> {
  const begun = Date.now();
  for (;;) {
    try {
      return await check();
    } catch (error) {
      const passed = Date.now() - begun;
      if (passed > timeoutMs) throw error;
      await delay(everyMs ?? Math.min(Math.max(passed / 5, 50), 250));
    }
  }
}
