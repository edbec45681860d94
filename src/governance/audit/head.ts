import type { Collection } from 'mongodb';
import { entryId, genesis, type AuditEntryDocument, type ChainHead } from './entry.js';

type Entries = Collection<AuditEntryDocument>;

const stride = 32;
const probe = 4;

/**
 * Finds the last entry by an exponential search over the gapless `_id`s: about 2·log2(n) lookups by exact `_id`. Each
 * probe reads a few positions, so that a removed entry is not taken for the end.
 */
export async function findHead(entries: Entries, organizationId: string): Promise<ChainHead> {
  const lastEntryNear = async (seq: number): Promise<ChainHead | undefined> =>
    (await readPositions(entries, organizationId, seq, probe)).at(-1);
  let low = genesis(organizationId);
  let high = 1;
  for (let found = await lastEntryNear(high); found; found = await lastEntryNear(high)) {
    low = found;
    high = found.seq * 2;
  }
  while (high - low.seq > 1) {
    const middle = Math.floor((low.seq + high) / 2);
    const found = await lastEntryNear(middle);
    if (found) low = found;
    else high = middle;
  }
  return low;
}

/** Yields the entries after `head` up to the first gap. */
export async function* entriesAfter(
  entries: Entries,
  organizationId: string,
  head: ChainHead,
): AsyncGenerator<AuditEntryDocument> {
  for (let seq = head.seq + 1; ; seq += stride) {
    const found = await readPositions(entries, organizationId, seq, stride);
    for (const [index, entry] of found.entries()) {
      if (entry.seq !== seq + index) return;
      yield entry;
    }
    if (found.length < stride) return;
  }
}

/** False if the chain no longer has this entry, for example after a restore. */
export async function isStored(entries: Entries, organizationId: string, { seq, hash }: ChainHead): Promise<boolean> {
  return seq === 0 || (await entries.findOne({ _id: entryId(organizationId, seq) }))?.hash === hash;
}

async function readPositions(
  entries: Entries,
  organizationId: string,
  from: number,
  count: number,
): Promise<AuditEntryDocument[]> {
  const ids = Array.from({ length: count }, (_, index) => entryId(organizationId, from + index));
  const found = await entries.find({ _id: { $in: ids } }).toArray();
  return found.sort((a, b) => (a._id < b._id ? -1 : 1));
}
