import type { Collection } from 'mongodb';
import type { OauthGrantDocument } from './grants.js';

interface Waiting {
  resolve(isLive: boolean): void;
  reject(error: unknown): void;
}

/**
 * Asks the store once for all questions that came while it was answering the ones before. A read never begins before
 * its question, so an answer is as new as one read for each question would give.
 */
export function createLiveGrants(grants: Collection<OauthGrantDocument>): { isLive(id: string): Promise<boolean> } {
  let waiting = new Map<string, Waiting[]>();
  let reading = false;

  async function readAll(): Promise<void> {
    reading = true;
    while (waiting.size > 0) {
      const batch = waiting;
      waiting = new Map();
      await read(batch);
    }
    reading = false;
  }

  async function read(batch: Map<string, Waiting[]>): Promise<void> {
    const ids = [...batch.keys()];
    const [only] = ids;
    const filter = ids.length === 1 && only !== undefined ? { _id: only } : { _id: { $in: ids } };
    try {
      const found = await grants.find(filter).project<{ _id: string; revoked_at: number | null }>({ revoked_at: 1 }).toArray();
      const live = new Set(found.filter(({ revoked_at }) => revoked_at === null).map(({ _id }) => _id));
      for (const [id, askers] of batch) for (const asker of askers) asker.resolve(live.has(id));
    } catch (error) {
      for (const asker of [...batch.values()].flat()) asker.reject(error);
    }
  }

  return {
    isLive: (id) =>
      new Promise((resolve, reject) => {
        waiting.set(id, [...(waiting.get(id) ?? []), { resolve, reject }]);
        if (!reading) void readAll();
      }),
  };
}
