import type { Collection, Document, Filter } from 'mongodb';
import { createGroup, perCollection } from './group.js';

/**
 * Combines reads by `_id`: requests that arrive during a read join the next one. A read starts after its requests have
 * arrived, so its results are as fresh as those of separate reads.
 */
export function createFreshReads<T extends { _id: string }>(
  collection: Collection<T>,
  projection?: Document,
): (id: string) => Promise<T | null> {
  const group = createGroup<string, T | null>(async (batch) => {
    const ids = [...new Set(batch.map(({ item }) => item))];
    const found = await collection
      .find({ _id: { $in: ids } } as unknown as Filter<T>, { ...(projection && { projection }) })
      .toArray();
    const byId = new Map(found.map((each) => [each._id as string, each as unknown as T]));
    for (const { item, resolve } of batch) resolve(byId.get(item) ?? null);
  });
  return (id) => group.add(id);
}

const readsOf = perCollection((collection: Collection<{ _id: string }>) => createFreshReads(collection));

/**
 * Reads a record by `_id`, together with other reads of this process. Several callers may get the same object, so it must
 * not be changed.
 */
export function readFresh<T extends { _id: string }>(
  collection: Collection<T>,
  id: string,
): Promise<Readonly<T> | null> {
  return readsOf(collection as unknown as Collection<{ _id: string }>)(id) as Promise<T | null>;
}
