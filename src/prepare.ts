import { setTimeout as delay } from 'node:timers/promises';
import type { Deps } from './domain/deps.js';

interface Preparation {
  name: string;
  run(): Promise<unknown>;
}

/** Repeats each preparation until it succeeds, because this process may start before its servers. */
export async function prepare(
  { log, stopping }: Pick<Deps, 'log' | 'stopping'>,
  steps: readonly Preparation[],
): Promise<void> {
  for (const { name, run } of steps) {
    for (let waitMs = 500; !stopping.signal.aborted; waitMs = Math.min(waitMs * 2, 10_000)) {
      try {
        await run();
        break;
      } catch (error) {
        if (stopping.signal.aborted) return;
        log.warn({ err: error, preparation: name }, 'not ready yet');
        await delay(waitMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
  }
}
