import {
  MongoBulkWriteError,
  MongoNetworkError,
  MongoServerSelectionError,
  type AnyBulkWriteOperation,
  type Collection,
  type Document,
} from 'mongodb';
import { createGroup, perCollection, type Waiting } from './group.js';

type Writes<T extends Document> = readonly AnyBulkWriteOperation<T>[];
type Part<T extends Document> = Waiting<Writes<T>, boolean[]>;

/**
 * Combines unordered writes: those that arrive during a write join the next one. If the store refuses a write, the part
 * of its caller is written again alone, so that no caller can fail another. A part must therefore be repeatable.
 * @returns for each write of the caller whether it upserted a document
 */
export function createGroupedWrites<T extends Document>(
  collection: Collection<T>,
): (writes: Writes<T>) => Promise<boolean[]> {
  const write = (writes: Writes<T>) => collection.bulkWrite(writes, { ordered: false });

  async function writeAlone({ item, resolve, reject }: Part<T>): Promise<void> {
    await write(item).then(({ upsertedIds }) => resolve(item.map((_, at) => at in upsertedIds)), reject);
  }

  /** Writes all parts with one command. Returns the parts that the store refused. */
  async function writeCombined(batch: readonly Part<T>[]): Promise<readonly Part<T>[]> {
    const { upsertedIds, isRefused } = await write(batch.flatMap(({ item }) => item)).then(
      ({ upsertedIds }) => ({ upsertedIds, isRefused: () => false }),
      refusedWrites,
    );
    let next = 0;
    return batch.filter(({ item, resolve }) => {
      const positions = item.map(() => next++);
      if (positions.some(isRefused)) return true;
      resolve(positions.map((position) => position in upsertedIds));
      return false;
    });
  }

  const group = createGroup<Writes<T>, boolean[]>(async (batch) => {
    const alone = batch.length === 1 ? batch : await writeCombined(batch);
    await Promise.all(alone.map(writeAlone));
  });
  return async (writes) => (writes.length === 0 ? [] : group.add(writes));
}

/** @throws the error if it does not say what the store has written */
function refusedWrites(error: unknown) {
  if (error instanceof MongoNetworkError || error instanceof MongoServerSelectionError) throw error;
  if (!(error instanceof MongoBulkWriteError)) return { upsertedIds: {}, isRefused: () => true };
  if (error.result.getWriteConcernError()) throw error;
  const refused = new Set([error.writeErrors].flat().map(({ index }) => index));
  return { upsertedIds: error.upsertedIds, isRefused: (position: number) => refused.has(position) };
}

const writesOf = perCollection<Document, ReturnType<typeof createGroupedWrites>>(createGroupedWrites);

/** Combines one write with those of all callers of this process to the collection. The write must be repeatable. */
export async function writeTogether<T extends Document>(
  collection: Collection<T>,
  write: AnyBulkWriteOperation<T>,
): Promise<void> {
  await writesOf(collection as unknown as Collection)([write as AnyBulkWriteOperation<Document>]);
}
