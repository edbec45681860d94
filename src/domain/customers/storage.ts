import { AppError } from '../../base/errors.js';
import { defineCollection, expiring, type Collections } from '../../stores/collections.js';
import { insertOnce } from '../../stores/insert-once.js';
import { isDuplicateKey } from '../../stores/mongo.js';
import { untilWritten } from '../../stores/until-written.js';
import { epochSeconds } from '../../base/time.js';
import { planLimit } from './rules.js';

/** `_id` is the file id. After a release, the record stays for an hour with 0 bytes, so that a late write cannot reserve them again. */
interface StoredBytesDocument {
  _id: string;
  organization_id: string;
  bytes: number;
  /** The revision of the total that includes these bytes. */
  revision: number;
  expires_at: Date | null;
}

interface Change {
  id: string;
  bytes: number;
  revision: number;
  at: number;
}

/** `_id` is the organization id. `bytes` includes `changes`, which may not have been written to the file records yet. */
interface StorageTotalDocument {
  _id: string;
  bytes: number;
  revision: number;
  changes: Change[];
}

const mebibyte = 1024 * 1024;
const retryTimeoutMs = 10_000;
/** After this time, the process that made a change is considered dead, and another one completes the change. */
const graceSeconds = 10;
const tombstoneMs = 3600 * 1000;

/**
 * Counts storage in bytes, exactly, across any number of processes. One conditional update of the total admits a change
 * and adds it to `changes`. The change is then written to its file record and removed from `changes`. If a process crashes
 * in between, another one completes the change.
 */
export function createStorage({ stored_bytes, storage_totals }: Pick<Collections, 'stored_bytes' | 'storage_totals'>) {
  const enqueue = createQueue();

  async function totalOf(_id: string): Promise<StorageTotalDocument> {
    return (
      (await storage_totals.findOne({ _id })) ?? insertOnce(storage_totals, { _id, bytes: 0, revision: 0, changes: [] })
    );
  }

  async function finish(organization_id: string, { id, bytes, revision }: Change): Promise<void> {
    try {
      // A duplicate key means that the record has a newer revision, so this change is already complete.
      await stored_bytes.updateOne(
        { _id: id, revision: { $lt: revision } },
        {
          $set: {
            organization_id,
            bytes,
            revision,
            expires_at: bytes === 0 ? new Date(Date.now() + tombstoneMs) : null,
          },
        },
        { upsert: true },
      );
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    await storage_totals.updateOne({ _id: organization_id }, { $pull: { changes: { id, revision } } });
  }

  /** @returns undefined if there was a concurrent change */
  async function change(_id: string, id: string, bytes: number, maximum: number): Promise<true | undefined> {
    const total = await totalOf(_id);
    const noted = total.changes.find((each) => each.id === id);
    if (noted && noted.at > epochSeconds() - graceSeconds) return undefined;
    for (const each of total.changes) if (each.at <= epochSeconds() - graceSeconds) await finish(_id, each);
    const delta = bytes - ((await stored_bytes.findOne({ _id: id }))?.bytes ?? 0);
    if (delta === 0) return true;
    if (delta > 0 && total.bytes + delta > maximum) throw storageLimit(maximum, total.bytes);
    const next: Change = { id, bytes, revision: total.revision + 1, at: epochSeconds() };
    const { matchedCount } = await storage_totals.updateOne(
      { _id, revision: total.revision },
      { $inc: { bytes: delta, revision: 1 }, $push: { changes: next } },
    );
    if (matchedCount === 0) return undefined;
    await finish(_id, next);
    return true;
  }

  const late = () =>
    new AppError('unavailable', 'too many concurrent changes to the storage of the organization; try again');
  const changeInTurn = (organizationId: string, id: string, bytes: number, maximum: number) =>
    enqueue(organizationId, async () => {
      await untilWritten(retryTimeoutMs, () => change(organizationId, id, bytes, maximum), late);
    });

  return {
    reserve: changeInTurn,
    release: (organizationId: string, id: string) => changeInTurn(organizationId, id, 0, 0),
    used: async (organizationId: string) => (await totalOf(organizationId)).bytes,
  };
}

/** Runs the changes of each organization in sequence, so that only other processes can cause conflicts. */
function createQueue(): (organizationId: string, work: () => Promise<void>) => Promise<void> {
  const lastOf = new Map<string, Promise<void>>();
  return (organizationId, work) => {
    const result = (lastOf.get(organizationId) ?? Promise.resolve()).then(work);
    const settled = result
      .catch(() => undefined)
      .finally(() => lastOf.get(organizationId) === settled && lastOf.delete(organizationId));
    lastOf.set(organizationId, settled);
    return result;
  };
}

function storageLimit(maximum: number, used: number): AppError {
  const inMegabytes = (bytes: number) => Math.round((bytes / mebibyte) * 100) / 100;
  return planLimit('storage_space_in_mb', inMegabytes(maximum), inMegabytes(used), ' MB');
}

export const storedBytesCollection = defineCollection('stored_bytes', { indexes: [expiring], majorityRead: true });
export const storageTotalsCollection = defineCollection('storage_totals', { majorityRead: true });

declare module '../../stores/collections.js' {
  interface Documents {
    stored_bytes: StoredBytesDocument;
    storage_totals: StorageTotalDocument;
  }
}
