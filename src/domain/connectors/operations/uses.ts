import { LRUCache } from 'lru-cache';
import type { UpdateFilter } from 'mongodb';
import { noteChange } from '../../../governance/change-notes.js';
import type { Collections } from '../../../stores/collections.js';
import { epochSeconds } from '../../../base/time.js';
import type { ConnectorDocument } from '../record.js';

/** Connectors whose successful use was recorded less than five seconds ago. */
const recentSuccesses = new LRUCache<string, true>({ max: 10_000, ttl: 5000 });
const maxMessage = 500;

/**
 * Uses a connector, and records the time and the outcome for operators. Callers do not wait for the write, and
 * successful uses are written at most every five seconds. Such a record can be lost, unlike the records of governed
 * calls.
 */
export async function recordUse<T>(
  { connectors, project_news }: Pick<Collections, 'connectors' | 'project_news'>,
  _id: string,
  signal: AbortSignal,
  use: () => Promise<T>,
): Promise<T> {
  const note = (change: UpdateFilter<ConnectorDocument>) =>
    void connectors
      .findOneAndUpdate({ _id }, change, { projection: { projectID: 1 } })
      .then((found) => found && noteChange({ project_news }, found.projectID, 'connector'))
      .catch(() => undefined);
  const at = epochSeconds();
  try {
    const result = await use();
    if (!recentSuccesses.has(_id)) note({ $set: { 'use.last_at': at, 'use.failures': 0 } });
    recentSuccesses.set(_id, true);
    return result;
  } catch (error) {
    recentSuccesses.delete(_id);
    const message = (error instanceof Error ? error.message : 'the call failed').slice(0, maxMessage);
    if (!signal.aborted)
      note({ $set: { 'use.last_at': at, 'use.failure': { at, message } }, $inc: { 'use.failures': 1 } });
    throw error;
  }
}
