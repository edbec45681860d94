import type { Collection, Document, Filter, WithId } from 'mongodb';
import { z } from 'zod';
import { AppError } from '../errors.js';

/** Paging of every list (contract, Conventions): newest first, at most 200, stable while rows are added. */
export const ListQuery = z.object({
  limit: z.coerce.number().int().min(1).max(200).default(50).meta({ description: 'Page size, 1 to 200.' }),
  cursor: z.string().max(200).regex(/^[\w-]*$/, 'not a cursor of this list').optional().meta({ description: '`next_cursor` of the page before.' }),
});
export type ListQuery = z.infer<typeof ListQuery>;

export function listOf<S extends z.ZodType>(item: S) {
  return z.object({
    data: z.array(item),
    total_count: z.int(),
    next_cursor: z.string().nullable().meta({ description: 'Null on the last page.' }),
  });
}

export interface Page<T> {
  data: T[];
  total_count: number;
  next_cursor: string | null;
}

/**
 * One page by `_id`, which is a UUIDv7 and so sorts by the time a record was made.
 * @throws AppError `invalid_request` for a cursor that this product did not give
 */
export async function listPage<T extends Document & { _id: string }>(
  collection: Collection<T>,
  filter: Filter<T>,
  query: ListQuery,
): Promise<Page<WithId<T>>> {
  const after = query.cursor === undefined ? {} : { _id: { $lt: decodeCursor(query.cursor) } };
  const [total, found] = await Promise.all([
    collection.countDocuments(filter),
    collection.find({ ...filter, ...after } as Filter<T>).sort({ _id: -1 }).limit(query.limit + 1).toArray(),
  ]);
  const data = found.slice(0, query.limit);
  const last = data.at(-1);
  return { data, total_count: total, next_cursor: found.length > query.limit && last ? encodeCursor(last._id) : null };
}

/** The cursor behind the record `id`, for a page that is put together of several. */
export function encodeCursor(id: string): string {
  return Buffer.from(`after:${id}`).toString('base64url');
}

/** @throws AppError `invalid_request` for a cursor that this product did not give */
export function decodeCursor(cursor: string): string {
  const text = Buffer.from(cursor, 'base64url').toString();
  if (!text.startsWith('after:')) throw new AppError('invalid_request', 'cursor: not a cursor of this list');
  return text.slice('after:'.length);
}
