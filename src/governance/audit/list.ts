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

function encodeCursor(seq: number): string {
  return Buffer.from(`before:${seq}`).toString('base64url');
}

function decodeCursor(cursor: string): number {
  const seq = /^before:([1-9]\d{0,11})$/.exec(Buffer.from(cursor, 'base64url').toString())?.[1];
  if (seq === undefined) throw new AppError('invalid_request', 'cursor: not a cursor of this list');
  return Number(seq);
}
