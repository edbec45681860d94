import { setTimeout as delay } from 'node:timers/promises';

const maxPauseMs = 50;

/**
 * Repeats a conditional write until no other write overtakes it, with random pauses.
 * @param attempt returns undefined if it was overtaken
 * @throws what `late` returns, if it was still overtaken after `ms`
 */
export async function untilWritten<T>(
  ms: number,
  attempt: () => Promise<T | undefined>,
  late: () => Error,
): Promise<T> {
  for (const deadline = Date.now() + ms; ;) {
    const written = await attempt();
    if (written !== undefined) return written;
    if (Date.now() > deadline) throw late();
    await delay(Math.random() * maxPauseMs);
  }
}
