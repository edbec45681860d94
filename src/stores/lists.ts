import type { Collection, Document, Filter, WithId } from 'mongodb';
import { z } from 'zod';
import { AppError } from '../base/errors.js';
import { literalPattern } from '../base/text.js';
import { queryNumber } from '../base/validation.js';

/**
 * The paging parameters of every list (contract, Conventions): newest first, at most 200 per page, stable while
 * records are added.
 */
export const ListQuery = z.object({
  limit: queryNumber(z.int().min(1).max(200)).default(50).describe('Page size, 1 to 200.'),
  cursor: z
    .string()
    .max(200)
    .regex(/^[\w-]*$/, 'not a cursor of this list')
    .optional()
    .describe('`next_cursor` of the page before.')
    .meta({ example: 'YWZ0ZXI6MDE5OWE2ZjA' }),
});
export type ListQuery = z.infer<typeof ListQuery>;

/** The search text of a list. */
export const SearchText = z
  .string()
  .min(1)
  .max(100)
  // A NUL character ends the regular expressions of MongoDB.
  .refine((text) => !text.includes('\0'), 'must not contain a NUL character');

/** Returns a filter for records with this id, or with this text in one of the fields. Ignores case. */
export function containing(text: string, ...fields: string[]): { $or: Document[] } {
  const like = { $regex: literalPattern(text), $options: 'i' };
  return { $or: [{ _id: text }, ...fields.map((field) => ({ [field]: like }))] };
}

/** The count fields of a list; spread them into its schema. */
export const Total = z.object({
  total_count: z.int().describe('Counted up to 10,000.').meta({ example: 1 }),
  total_is_lower_bound: z.literal(true).optional().describe('Present when there are more than 10,000.'),
});
export type Total = z.infer<typeof Total>;

export const NextCursor = z.string().nullable().meta({ example: null });

export function listOf<S extends z.ZodType>(item: S) {
  return z.object({ data: z.array(item), ...Total.shape, next_cursor: NextCursor.describe('Null on the last page.') });
}

export interface Page<T> extends Total {
  data: T[];
  next_cursor: string | null;
}

/** Counting stops here, because an unselective filter matches a whole collection. */
export const maxCount = 10_000;

/** Counts matching documents up to 10,000 (contract, Conventions). */
export async function countUpTo<T extends Document>(collection: Collection<T>, filter: Filter<T>): Promise<Total> {
  const count = await collection.countDocuments(filter, { limit: maxCount + 1 });
  return count > maxCount ? { total_count: maxCount, total_is_lower_bound: true } : { total_count: count };
}

/**
 * Returns one page, newest first. Without `by`, sorts by `_id`, which must be a UUIDv7. `by` is the dotted path of a
 * time that every record in the list has and that does not change. Records with equal times are sorted by `_id`. With a
 * projection, the records lack the fields that it leaves out.
 * @throws AppError `invalid_request` for an invalid cursor
 */
export async function listPage<T extends Document & { _id: string }>(
  collection: Collection<T>,
  filter: Filter<T>,
  query: ListQuery,
  by?: string,
  projection?: Document,
): Promise<Page<WithId<T>>> {
  // Combine the filters with `$and`, because both can contain `$or`.
  const pageFilter = query.cursor === undefined ? filter : { $and: [filter, filterAfter(query.cursor, by)] };
  const [total, found] = await Promise.all([
    countUpTo(collection, filter),
    collection
      .find(pageFilter as Filter<T>, { ...(projection && { projection }) })
      .sort(by === undefined ? { _id: -1 } : { [by]: -1, _id: -1 })
      .limit(query.limit + 1)
      .toArray(),
  ]);
  const data = found.slice(0, query.limit);
  const last = data.at(-1);
  return { data, ...total, next_cursor: found.length > query.limit && last ? cursorAfter(last, by) : null };
}

function cursorAfter(record: Document & { _id: string }, by: string | undefined): string {
  return by === undefined ? encodeCursor(record._id) : encodePosition({ at: timeAt(record, by), id: record._id });
}

/** The end of a page in a list that is sorted by a time. */
export interface ListPosition {
  at: number;
  id: string;
}

/** Compares positions in the order of MongoDB: newest first, then by `_id`. */
function comparePositions(a: ListPosition, b: ListPosition): number {
  if (a.at !== b.at) return b.at - a.at;
  return a.id === b.id ? 0 : a.id < b.id ? 1 : -1;
}

/** Merges pages of several lists. All of them were read from the same position and are sorted by the same time. */
export function mergePages<T>(limit: number, pages: readonly Page<ListPosition & { item: T }>[]): Page<T> {
  const entries = pages.flatMap(({ data }) => data).sort(comparePositions);
  const returned = entries.slice(0, limit);
  const last = returned.at(-1);
  const isMore = entries.length > limit || pages.some(({ next_cursor }) => next_cursor !== null);
  return {
    data: returned.map(({ item }) => item),
    total_count: pages.reduce((sum, { total_count }) => sum + total_count, 0),
    ...(pages.some(({ total_is_lower_bound }) => total_is_lower_bound) && { total_is_lower_bound: true as const }),
    next_cursor: isMore && last ? encodePosition(last) : null,
  };
}

/** Returns one page of a list that was read completely. */
export function pageOf<T>(all: readonly (ListPosition & { item: T })[], { limit, cursor }: ListQuery): Page<T> {
  const from = cursor === undefined ? undefined : decodePosition(cursor);
  const left = from ? all.filter((entry) => comparePositions(entry, from) > 0) : [...all];
  return mergePages(limit, [{ data: left, total_count: all.length, next_cursor: null }]);
}

export function encodePosition({ at, id }: ListPosition): string {
  return encodeCursor(`${at}:${id}`);
}

/** @throws AppError `invalid_request` for an invalid cursor */
export function decodePosition(cursor: string): ListPosition {
  const [, at, id] = /^(\d+(?:\.\d+)?):(.*)$/s.exec(decodeCursor(cursor)) ?? [];
  if (at === undefined || id === undefined) throw invalidCursor();
  return { at: Number(at), id };
}

function filterAfter(cursor: string, by: string | undefined): Document {
  if (by === undefined) return { _id: { $lt: decodeCursor(cursor) } };
  const { at, id } = decodePosition(cursor);
  return { $or: [{ [by]: { $lt: at } }, { [by]: at, _id: { $lt: id } }] };
}

function timeAt(record: Document, by: string): number {
  return Number(by.split('.').reduce<unknown>((part, name) => (part as Document | null)?.[name], record));
}

export function encodeCursor(id: string): string {
  return Buffer.from(`after:${id}`).toString('base64url');
}

function decodeCursor(cursor: string): string {
  const text = Buffer.from(cursor, 'base64url').toString();
  if (!text.startsWith('after:')) throw invalidCursor();
  return text.slice('after:'.length);
}

function invalidCursor(): AppError {
  return new AppError('invalid_request', 'cursor: not a cursor of this list');
}
