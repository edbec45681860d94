import type { Collection, Filter, MatchKeysAndValues } from 'mongodb';
import type { Logger } from '../log.js';

const maxPerPass = 100;
const firstPauseSeconds = 60;
const longestPauseSeconds = 3600;

interface Due<Doc extends { _id: string }> {
  collection: Collection<Doc>;
  /** The records that are due. It excludes records whose time `at` is in the future. */
  due: Filter<Doc>;
  /** The field with the time at which a record is due again. An index on it serves the query. */
  at: string;
  /** The value of that field for a time in epoch seconds. The default is the time itself. */
  toStored?: (seconds: number) => unknown;
  /** What the lease changes in addition. */
  set?: object;
  /** How many seconds after its nth attempt a record is due again, if its work has failed. */
  pause?: (attempts: number) => number;
  log: Pick<Logger, 'warn'>;
  now: number;
}

/**
 * Works on records that are due, the longest waiting first. Any number of processes can do so: one atomic update leases a
 * record, which is not due again until the lease ends. If this process dies, another one continues then. A failure is
 * logged and concerns only its record, which is due again after a pause that grows with each attempt.
 */
export async function forEachDue<Doc extends { _id: string; attempts?: number }>(
  { collection, due, at, toStored = (seconds) => seconds, set = {}, pause = growingPause, log, now }: Due<Doc>,
  work: (record: Doc) => Promise<void>,
): Promise<void> {
  const found = await collection
    .find<Doc>(due)
    .sort({ [at]: 1 })
    .limit(maxPerPass)
    .toArray();
  for (const record of found) {
    const { _id, attempts = 0 } = record;
    const lease = { ...set, [at]: toStored(now + pause(attempts)), attempts: attempts + 1 };
    const { matchedCount } = await collection.updateOne(
      { ...due, _id },
      { $set: lease as unknown as MatchKeysAndValues<Doc> },
    );
    if (matchedCount === 0) continue;
    const about = { collection: collection.collectionName, id: _id, attempts: attempts + 1 };
    await work(record).catch((error: unknown) =>
      log.warn({ err: error, ...about }, 'the work on a record failed, and is tried again later'),
    );
  }
}

function growingPause(attempts: number): number {
  return Math.min(firstPauseSeconds * 2 ** Math.min(attempts, 10), longestPauseSeconds);
}
