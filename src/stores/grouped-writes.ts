import {
  MongoNetworkError,
  MongoServerSelectionError,
  type AnyBulkWriteOperation,
  type Collection,
  type Document,
} from 'mongodb';
import { createGroup, perCollection, type Waiting } from './group.js';

type Writes<T extends Document> = readonly AnyBulkWriteOperation<T>[];

/**
 * Combines unordered writes: those that arrive during a write join the next one. If the store refuses a combined write,
 * each caller's part is written alone, so that none can fail another. A part must therefore be repeatable.
 * @returns for each write of the caller whether it inserted a document
 */
export function createGroupedWrites<T extends Document>(
  collection: Collection<T>,
): (writes: Writes<T>) => Promise<boolean[]> {
  const write = async (batch: readonly Waiting<Writes<T>, boolean[]>[]) => {
    const all = batch.flatMap(({ item }) => item);
    const { upsertedIds } = await collection.bulkWrite(all, { ordered: false });
    let next = 0;
    for (const { item, resolve } of batch) resolve(item.map(() => next++ in upsertedIds));
  };
  const group = createGroup<Writes<T>, boolean[]>(async (batch) => {
    try {
      await write(batch);
    } catch (error) {
      if (batch.length === 1 || error instanceof MongoNetworkError || error instanceof MongoServerSelectionError)
        throw error;
      await Promise.all(batch.map((one) => write([one]).catch(one.reject)));
    }
  });
  return async (writes) => (writes.length === 0 ? [] : group.add(writes));
}

const writesOf = perCollection<Document, ReturnType<typeof createGroupedWrites>>(createGroupedWrites);

/** Combines one write with those of all callers of this process to the collection. The write must be repeatable. */
export async function writeTogether<T extends Document>(
  collection: Collection<T>,
  write: AnyBulkWriteOperation<T>,
): Promise<void> {
  await writesOf(collection as unknown as Collection)([write as AnyBulkWriteOperation<Document>]);
}
