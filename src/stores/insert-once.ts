import type { Collection, OptionalId } from 'mongodb';
import { AppError } from '../base/errors.js';
import { writeTogether } from './grouped-writes.js';
import { isDuplicateKey } from './mongo.js';

/** Inserts a record. If one with the same `_id` exists, as in a retry after a crash, returns the existing one. */
export async function insertOnce<T extends { _id: string }>(collection: Collection<T>, record: T): Promise<T> {
  try {
    await writeTogether(collection, { insertOne: { document: record as OptionalId<T> } });
    return record;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    const present = await collection.findOne({ _id: record._id } as never);
    if (present) return present as T;
    // The record was deleted, or a new primary does not return it yet, so the caller must retry. The caller handles
    // other unique keys.
    throw / index: _id_ /.test(error.message)
      ? new AppError('unavailable', 'the record store does not answer', { cause: error })
      : error;
  }
}
