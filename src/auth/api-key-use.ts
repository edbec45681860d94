import type { Logger } from '../log.js';
import type { Collections } from '../stores/collections.js';
import { epochSeconds } from '../time.js';
import type { ApiKeyDocument } from './api-keys.js';

const everySeconds = 60;
const remembered = 10_000;

/** Keeps `last_used_at` true to the minute: beside the call, never failing it, at most one write a minute and key. */
export interface ApiKeyUse {
  seen(record: Pick<ApiKeyDocument, '_id' | 'id' | 'last_used_at'>): void;
}

export function createApiKeyUse(collections: Collections, log: Logger): ApiKeyUse {
  const written = new Map<string, number>();
  return {
    seen({ _id, id, last_used_at }) {
      const now = epochSeconds();
      if (Math.max(last_used_at ?? 0, written.get(_id) ?? 0) > now - everySeconds) return;
      if (written.size >= remembered) written.clear();
      written.set(_id, now);
      collections.api_keys.updateOne({ _id }, { $set: { last_used_at: now } }).catch((error: unknown) => {
        log.debug({ err: error, key: id }, 'the time of use of a key was not written');
      });
    },
  };
}
