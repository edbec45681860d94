import type { Collection, Filter } from 'mongodb';
import { createGroup } from './group.js';

/**
 * Point reads by `_id` that share round trips: what is asked while a read is under way goes into the next one. Each
 * answer comes from a read that began after it was asked for, so it is as fresh as a read of its own.
 */
export function createFreshReads<T extends { _id: string }>(collection: Collection<T>): (id: string) => Promise<T | null> {
  const group = createGroup<string, T | null>(async (batch) => {
    const ids = [...new Set(batch.map(({ item }) => item))];
    const found = await collection.find({ _id: { $in: ids } } as unknown as Filter<T>).toArray();
    const byId = new Map(found.map((each) => [each._id as string, each as unknown as T]));
    for (const { item, resolve } of batch) resolve(byId.get(item) ?? null);
  });
  return (id) => group.add(id);
}
