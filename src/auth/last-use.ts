import { LRUCache } from 'lru-cache';
import type { Collection } from 'mongodb';
import type { Logger } from '../log.js';
import { epochSeconds } from '../base/time.js';

const minIntervalSeconds = 60;
const maxRemembered = 10_000;

interface Used {
  _id: string;
  last_used_at?: number | null;
}

/**
 * Returns a function that updates `last_used_at` with a precision of one minute. The write runs in the background, and its
 * failure does not fail the call.
 */
export function createLastUse<T extends Used>(collection: Collection<T>, log: Logger): (record: Used) => void {
  const written = new LRUCache<string, number>({ max: maxRemembered });
  const uses = collection as unknown as Collection<Used>;
  return ({ _id, last_used_at }) => {
    const now = epochSeconds();
    if (Math.max(last_used_at ?? 0, written.get(_id) ?? 0) > now - minIntervalSeconds) return;
    written.set(_id, now);
    uses.updateOne({ _id }, { $set: { last_used_at: now } }).catch((error: unknown) => {
      log.debug({ err: error }, 'the time of last use of a credential could not be stored');
    });
  };
}
