import type { Logger } from './log.js';

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
