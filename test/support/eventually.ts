import { setTimeout as delay } from 'node:timers/promises';

/** Repeats `check` until it does not throw; gives its value. The last error tells what never came true. */
export async function eventually<T>(check: () => Promise<T> | T, options: { timeoutMs?: number; everyMs?: number } = {}): Promise<T> {
  const deadline = Date.now() + (options.timeoutMs ?? 60_000);
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await delay(options.everyMs ?? 50);
    }
  }
}
