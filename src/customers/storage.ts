import type { Collections } from '../stores/collections.js';
import { insertOnce } from '../stores/mongo.js';
import { planLimit } from './places.js';

/** `_id` is the file. What each file holds of the storage is the truth; the total is a sum of it. */
export interface StoredBytesDocument {
  _id: string;
  organization_id: string;
  bytes: number;
}

/** `_id` is the organization. */
export interface StorageTotalDocument {
  _id: string;
  bytes: number;
  revision: number;
}

export interface Storage {
  reserve(organizationId: string, id: string, bytes: number, maximum: number): Promise<void>;
  release(organizationId: string, id: string): Promise<void>;
  used(organizationId: string): Promise<number>;
}

const mebibyte = 1024 * 1024;

/**
 * Storage in bytes. What a file holds is written first, then the total is admitted by one conditional update; before
 * anybody is refused the total is summed up anew, since a process that died between the two left it wrong. It may be too
 * high for a moment, never too low, so that concurrent uploads never exceed the plan.
 */
export function createStorage({ stored_bytes, storage_totals }: Pick<Collections, 'stored_bytes' | 'storage_totals'>): Storage {
  async function used(organizationId: string): Promise<number> {
    const sums = await stored_bytes
      .aggregate<{ bytes: number }>([{ $match: { organization_id: organizationId } }, { $group: { _id: null, bytes: { $sum: '$bytes' } } }])
      .toArray();
    return sums[0]?.bytes ?? 0;
  }

  async function add(_id: string, delta: number, atMost: number): Promise<boolean> {
    const room = delta > 0 ? { bytes: { $lte: atMost - delta } } : {};
    return (await storage_totals.updateOne({ _id, ...room }, { $inc: { bytes: delta, revision: 1 } })).matchedCount === 1;
  }

  async function sumUp(_id: string): Promise<number> {
    for (;;) {
      const { revision } = await insertOnce(storage_totals, { _id, bytes: 0, revision: 0 });
      const bytes = await used(_id);
      const { matchedCount } = await storage_totals.updateOne({ _id, revision }, { $set: { bytes }, $inc: { revision: 1 } });
      if (matchedCount === 1) return bytes;
    }
  }

  return {
    used,
    async reserve(organizationId, id, bytes, maximum) {
      const before = await stored_bytes.findOneAndUpdate({ _id: id }, { $set: { organization_id: organizationId, bytes } }, { upsert: true });
      const delta = bytes - (before?.bytes ?? 0);
      if (await add(organizationId, delta, maximum)) return;
      const total = await sumUp(organizationId);
      if (total <= maximum || delta <= 0) return;
      if (before) await stored_bytes.updateOne({ _id: id }, { $set: { bytes: before.bytes } });
      else await stored_bytes.deleteOne({ _id: id });
      await add(organizationId, -delta, maximum);
      throw planLimit('storage_space_in_mb', maximum / mebibyte, Math.round(((total - delta) / mebibyte) * 100) / 100, ' MB');
    },
    async release(organizationId, id) {
      const gone = await stored_bytes.findOneAndDelete({ _id: id, organization_id: organizationId });
      if (gone) await add(organizationId, -gone.bytes, 0);
    },
  };
}
