import type { Collection } from 'mongodb';
import { AppError } from '../../errors.js';
import type { ListQuery, Page } from '../../http/lists.js';
import { entryId, type AuditEntry, type AuditEntryDocument, type Head } from './entry.js';

/**
 * A page of a chain, newest first. Places are counted, so a page is a range of `_id`s; where entries were removed it is short.
 * @throws AppError `invalid_request` for a cursor that this product did not give
 */
export async function listEntries(entries: Collection<AuditEntryDocument>, organizationId: string, head: Head, query: ListQuery): Promise<Page<AuditEntry>> {
  const last = query.cursor === undefined ? head.seq : decodeCursor(query.cursor) - 1;
  const first = Math.max(1, last - query.limit + 1);
  const range = { $gte: entryId(organizationId, first), $lte: entryId(organizationId, last) };
  const found = last < 1 ? [] : await entries.find({ _id: range }, { projection: { _id: 0 } }).sort({ _id: -1 }).toArray();
  return { data: found, total_count: head.seq, next_cursor: first > 1 ? encodeCursor(first) : null };
}

export interface AuditedCall {
  lifecycle_id: string;
  /** Epoch seconds. */
  ended_at: number;
}

/** How far the clocks and queues of processes that append to one chain may be apart. */
const marginSeconds = 30;

/**
 * The entry of a call. Entries are not looked up by their call when they are written, so there is no index to pay for: the
 * chain is in order of time but for a margin, and so the place is found by halving.
 */
export async function entryOfCall(entries: Collection<AuditEntryDocument>, organizationId: string, head: Head, call: AuditedCall): Promise<AuditEntry | undefined> {
  const firstFrom = async (at: number): Promise<number> => {
    let [low, high] = [1, head.seq + 1];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const entry = await entries.findOne({ _id: entryId(organizationId, middle) }, { projection: { at: 1 } });
      if (entry && entry.at < at) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const [first, end] = await Promise.all([firstFrom(call.ended_at - marginSeconds), firstFrom(call.ended_at + marginSeconds)]);
  const _id = { $gte: entryId(organizationId, first), $lt: entryId(organizationId, end) };
  return (await entries.findOne({ _id, lifecycle_id: call.lifecycle_id }, { projection: { _id: 0 } })) ?? undefined;
}

function encodeCursor(seq: number): string {
  return Buffer.from(`before:${seq}`).toString('base64url');
}

function decodeCursor(cursor: string): number {
  const seq = /^before:([1-9]\d{0,11})$/.exec(Buffer.from(cursor, 'base64url').toString())?.[1];
  if (seq === undefined) throw new AppError('invalid_request', 'cursor: not a cursor of this list');
  return Number(seq);
}
