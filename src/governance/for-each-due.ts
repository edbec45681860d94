import type { Collection, Filter, MatchKeysAndValues } from 'mongodb';

const maxPerPass = 100;

/**
 * Ends records that are due. Any number of processes can do so: one atomic update leases a record, which is not due again
 * until the lease ends. If this process dies, another one continues then.
 */
export async function forEachDue<Doc extends { _id: string }>(
  collection: Collection<Doc>,
  { due, lease }: { due: Filter<Doc>; lease: MatchKeysAndValues<Doc> },
  end: (record: Doc) => Promise<void>,
): Promise<void> {
  for await (const record of collection.find<Doc>(due).limit(maxPerPass)) {
    const { matchedCount } = await collection.updateOne({ ...due, _id: record._id }, { $set: lease });
    if (matchedCount === 1) await end(record);
  }
}
