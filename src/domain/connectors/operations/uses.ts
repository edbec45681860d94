import { LRUCache } from 'lru-cache';
import type { UpdateFilter } from 'mongodb';
import { noteChange } from '../../../governance/change-notes.js';
import type { Collections } from '../../../stores/collections.js';
import { epochSeconds } from '../../../time.js';
import type { ConnectorDocument } from '../record.js';

/** Connectors whose last use was noted as successful a moment ago. */
const fresh = new LRUCache<string, true>({ max: 10_000, ttl: 5000 });
const maxMessage = 500;

/**
 * Uses a connector, and notes when and how it went, for operators. Nothing waits for the note, and a connector in constant
 * use is noted every few seconds, so that a use costs no more than before. A note can be lost; records of calls cannot.
 */
export async function noted<T>(
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
    if (!fresh.has(_id)) note({ $set: { 'use.last_at': at, 'use.failures': 0 } });
    fresh.set(_id, true);
    return result;
  } catch (error) {
    fresh.delete(_id);
    const message = (error instanceof Error ? error.message : 'the call failed').slice(0, maxMessage);
    if (!signal.aborted)
      note({ $set: { 'use.last_at': at, 'use.failure': { at, message } }, $inc: { 'use.failures': 1 } });
    throw error;
  }
}
