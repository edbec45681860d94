import type { Collection } from 'mongodb';
import { entryId, genesis, type AuditEntryDocument, type Head } from './entry.js';

type Entries = Collection<AuditEntryDocument>;

const stride = 32;
const probe = 4;

/**
 * The last entry, found by galloping over the gapless `_id`s: some 2·log2(n) lookups of exact `_id`s, which every store
 * answers from its one index. Each probe takes a few places, so that a removed entry does not pass for the end.
 */
export async function findHead(entries: Entries, organizationId: string): Promise<Head> {
  const at = async (seq: number): Promise<Head | undefined> => (await places(entries, organizationId, seq, probe)).at(-1);
  let low = genesis(organizationId);
  let high = 1;
  for (let found = await at(high); found; found = await at(high)) {
    low = found;
    high = found.seq * 2;
  }
  while (high - low.seq > 1) {
    const middle = Math.floor((low.seq + high) / 2);
    const found = await at(middle);
    if (found) low = found;
    else high = middle;
  }
  return low;
}

/** The entries after `head`, as far as they follow without a gap. */
export async function* entriesAfter(entries: Entries, organizationId: string, head: Head): AsyncGenerator<AuditEntryDocument> {
  for (let seq = head.seq + 1; ; seq += stride) {
    const found = await places(entries, organizationId, seq, stride);
    for (const [index, entry] of found.entries()) {
      if (entry.seq !== seq + index) return;
      yield entry;
    }
    if (found.length < stride) return;
  }
}

async function places(entries: Entries, organizationId: string, from: number, count: number): Promise<AuditEntryDocument[]> {
  const ids = Array.from({ length: count }, (_, index) => entryId(organizationId, from + index));
  const found = await entries.find({ _id: { $in: ids } }).toArray();
  return found.sort((a, b) => (a._id < b._id ? -1 : 1));
}
