import { setTimeout as delay } from 'node:timers/promises';
import type { Deps } from '../deps.js';
import { prepareMongo } from './mongo.js';

/** Makes collections' indexes, again and again until the store answers; a process that starts first must not fail. */
export async function prepareStores({ mongo, log, stopping }: Pick<Deps, 'mongo' | 'log' | 'stopping'>): Promise<void> {
  for (let waitMs = 500; !stopping.signal.aborted; waitMs = Math.min(waitMs * 2, 15_000)) {
    try {
      await prepareMongo(mongo);
      return;
    } catch (error) {
      if (stopping.signal.aborted) return;
      log.warn({ err: error }, 'the record store is not ready yet');
      await delay(waitMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }
}
