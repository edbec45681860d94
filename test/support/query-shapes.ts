import type { Document } from 'mongodb';
import type { Index } from '../../src/stores/collections.js';
import type { SentCommand } from './mongo-wire.js';

/** The properties that decide which index serves a query: equality fields, range fields and the order. */
export interface QueryShape {
  collection: string;
  equal: string[];
  range: string[];
  sort: Record<string, 1 | -1>;
}

/** One shape for each filter of any command; none for a command without a filter. */
export function shapesOfCommand({ name, collection, body }: SentCommand): QueryShape[] {
  switch (name) {
    case 'find':
      return shapesOfFilter(collection, body.filter ?? {}, body.sort);
    case 'findAndModify':
      return shapesOfFilter(collection, body.query ?? {}, body.sort);
    case 'update':
      return (body.updates as { q: Document }[]).flatMap(({ q }) => shapesOfFilter(collection, q));
    case 'delete':
      return (body.deletes as { q: Document }[]).flatMap(({ q }) => shapesOfFilter(collection, q));
    case 'count':
    case 'distinct':
      return shapesOfFilter(collection, body.query ?? {});
    case 'aggregate':
      return shapesOfPipeline(collection, body.pipeline);
    default:
      return [];
  }
}

/** The leading `$match` and `$sort` of a pipeline decide what it reads. */
function shapesOfPipeline(collection: string, pipeline: readonly Document[]): QueryShape[] {
  const rest = [...pipeline];
  const filter = (rest[0]?.$match ? rest.shift()?.$match : {}) as Document;
  const sort = rest[0]?.$sort as Record<string, 1 | -1> | undefined;
  // The count of a whole list stops at a limit, so every document that it reads counts.
  if (Object.keys(filter).length === 0 && rest[0]?.$limit !== undefined) return [];
  return shapesOfFilter(collection, filter, sort);
}

/** One shape for each filter; a branch of `$or` is a separate filter. */
export function shapesOfFilter(collection: string, filter: Document, sort: Record<string, 1 | -1> = {}): QueryShape[] {
  const { $and = [], $or: branches, ...plain } = filter;
  const { $or = branches, ...all } = Object.assign({}, plain, ...$and) as Document;
  if ($or) return ($or as Document[]).flatMap((branch) => shapesOfFilter(collection, { ...all, ...branch }, sort));
  const fields = Object.keys(all).filter((field) => !field.startsWith('$'));
  const isRange = (field: string) => isOperators(all[field]) && !('$in' in all[field]) && !('$eq' in all[field]);
  return [{ collection, equal: fields.filter((field) => !isRange(field)), range: fields.filter(isRange), sort }];
}

function isOperators(value: unknown): value is Document {
  return typeof value === 'object' && value !== null && Object.keys(value).some((key) => key.startsWith('$'));
}

/** Fields with few values, of which most records have the same one, so an index need not contain them. */
const unselective = new Set(['is_deleted', 'revoked_at', 'type', 'category', 'isActive']);

/**
 * Whether one index finds the records of a shape in its order without reading many others: by `_id` or another unique
 * key, or by leading keys that cover every selective equality and then the order.
 */
export function isServed({ equal, range, sort }: QueryShape, indexes: readonly Index[]): boolean {
  const isOne = ({ keys, options }: Index) => options?.unique && Object.keys(keys).every((key) => equal.includes(key));
  if (equal.includes('_id') || indexes.some(isOne)) return true;
  const wanted = equal.filter((field) => !unselective.has(field));
  const order = Object.entries(sort).filter(([field]) => !equal.includes(field));
  return [{ keys: { _id: 1 } }, ...indexes].some(({ keys }) => {
    const fields = Object.entries(keys as Record<string, 1 | -1>);
    const prefix = fields.findIndex(([field]) => !wanted.includes(field));
    const rest = prefix < 0 ? [] : fields.slice(prefix);
    const covered = prefix < 0 ? fields.length : prefix;
    if (covered < wanted.length) return false;
    if (order.length > 0) return isInOrder(rest, order) && (wanted.length > 0 || rest[0]?.[0] === order[0]?.[0]);
    return covered > 0 || range.includes(rest[0]?.[0] ?? '');
  });
}

/** An index can be read in either direction. */
function isInOrder(keys: [string, 1 | -1][], order: [string, 1 | -1][]): boolean {
  const pairs = order.map(([field, direction], at) => (keys[at]?.[0] === field ? keys[at][1] * direction : 0));
  return pairs.every((pair) => pair !== 0 && pair === pairs[0]);
}
