import type { Collection, Filter } from 'mongodb';
import { AppError } from '../../base/errors.js';
import { parseJsonObject } from '../../base/json.js';
import { unknownColumn } from './system-columns.js';
import type { Column } from './schemas.js';
import type { RowDocument } from './record.js';

export interface Order {
  column: Column;
  direction: 1 | -1;
}

/** The end of a page: the value of the sorted column and the row id of its last record. */
export interface Position {
  value: unknown;
  rowId: number;
}

/** In bytes of JSON. Cursors omit longer values, which are read from the record again. */
const maxCursorValueBytes = 1000;

/** @throws AppError `invalid_request` for an unknown column */
export function orderOf(columns: readonly Column[], sort: string): Order {
  const id = sort.replace(/^-/, '');
  const column = columns.find(({ column_id }) => column_id === id);
  if (!column) throw new AppError('invalid_request', `sort: ${JSON.stringify(id)} ${unknownColumn(columns, id)}`);
  return { column, direction: sort.startsWith('-') ? -1 : 1 };
}

/** The rows after a position, sorted by the column and then by row id, so that the order is total and pages are stable. */
export async function findRows(
  rows: Collection<RowDocument>,
  filter: Filter<RowDocument>,
  order: Order,
  position: Position | undefined,
  limit: number,
): Promise<RowDocument[]> {
  const { column, direction } = order;
  const id = column.column_id;
  if (isExpressed(column)) return findByExpression(rows, filter, order, position, limit);
  const conditions = [filter, ...(position ? [after(id, direction, position)] : [])].filter(
    (each) => Object.keys(each).length > 0,
  );
  const both: Filter<RowDocument> = conditions.length > 1 ? { $and: conditions } : (conditions[0] ?? {});
  return rows
    .find(both)
    .sort(id === 'row_id' ? { row_id: direction } : { [id]: direction, row_id: direction })
    .limit(limit)
    .toArray();
}

/** MongoDB sorts records without a value first in ascending order. */
function after(id: string, direction: 1 | -1, { value, rowId }: Position): Filter<RowDocument> {
  const beyond = direction === 1 ? '$gt' : '$lt';
  if (id === 'row_id') return { row_id: { [beyond]: rowId } };
  const same = { [id]: { $eq: value }, row_id: { [beyond]: rowId } };
  if (value === null) return direction === 1 ? { $or: [{ [id]: { $ne: null } }, same] } : same;
  const others = { [id]: { [beyond]: value } };
  return { $or: [others, same, ...(direction === -1 ? [{ [id]: { $eq: null } }] : [])] };
}

interface SortKey {
  /** The sort key as a MongoDB expression. */
  expression(field: string): unknown;
  /** The sort key of a value. */
  of(value: object): unknown;
}

/** Arrays are sorted by number of elements, objects by number of fields. */
const countedKeys: Partial<Record<Column['column_type'], SortKey>> = {
  array: { expression: (field) => ({ $size: field }), of: (value) => (value as unknown[]).length },
  object: { expression: (field) => ({ $size: { $objectToArray: field } }), of: (value) => Object.keys(value).length },
};

/** Query operators compare array elements and only values of the same type, so these columns need expressions. */
function isExpressed({ column_type, enum_options }: Column): boolean {
  return column_type in countedKeys || new Set(enum_options?.map((option) => typeof option)).size > 1;
}

async function findByExpression(
  rows: Collection<RowDocument>,
  filter: Filter<RowDocument>,
  { column, direction }: Order,
  position: Position | undefined,
  limit: number,
): Promise<RowDocument[]> {
  const beyond = direction === 1 ? '$gt' : '$lt';
  const field = `$${column.column_id}`;
  const present = { $ifNull: [field, null] };
  const counted = countedKeys[column.column_type]?.expression(field);
  const key = counted === undefined ? present : { $cond: [{ $eq: [present, null] }, null, counted] };
  const value = { $literal: position?.value ?? null };
  const isAfter = {
    $or: [
      { [beyond]: ['$__key', value] },
      { $and: [{ $eq: ['$__key', value] }, { [beyond]: ['$row_id', position?.rowId] }] },
    ],
  };
  const found = await rows
    .aggregate<RowDocument>([
      { $match: filter },
      // A column_id never starts with two underscores.
      { $addFields: { __key: key } },
      ...(position ? [{ $match: { $expr: isAfter } }] : []),
      { $sort: { __key: direction, row_id: direction } },
      { $limit: limit },
    ])
    .toArray();
  return found.map(({ __key, ...row }) => row);
}

/** The sort key of a row. */
function keyOf(column: Column, row: RowDocument): unknown {
  const value = row[column.column_id] ?? null;
  const counted = countedKeys[column.column_type];
  return counted && typeof value === 'object' && value !== null ? counted.of(value) : value;
}

export function positionAfter({ column }: Order, row: RowDocument): Position {
  return { value: keyOf(column, row), rowId: row.row_id };
}

export function cursorAfter({ column, direction }: Order, row: RowDocument): string {
  const value = keyOf(column, row);
  const isShort = column.column_id !== 'row_id' && Buffer.byteLength(JSON.stringify(value)) <= maxCursorValueBytes;
  return Buffer.from(
    JSON.stringify({ s: sortOf({ column, direction }), r: row.row_id, ...(isShort ? { v: value } : {}) }),
  ).toString('base64url');
}

/** @throws AppError `invalid_request` for a cursor of another list or order, and if its record was deleted */
export async function parsePosition(rows: Collection<RowDocument>, order: Order, cursor: string): Promise<Position> {
  const { s, r: rowId, v } = parseJsonObject(Buffer.from(cursor, 'base64url').toString());
  if (s !== sortOf(order) || !Number.isSafeInteger(rowId) || (typeof v === 'object' && v !== null))
    throw refusal('must be a next_cursor of this list with the same sort');
  if (order.column.column_id === 'row_id') return { value: null, rowId: rowId as number };
  if (v !== undefined) return { value: v, rowId: rowId as number };
  const row = await rows.findOne({ row_id: rowId as number });
  if (!row) throw refusal('its record was deleted; start from the first page');
  return { value: keyOf(order.column, row), rowId: rowId as number };
}

function sortOf({ column, direction }: Order): string {
  return `${direction === -1 ? '-' : ''}${column.column_id}`;
}

function refusal(problem: string): AppError {
  return new AppError('invalid_request', `cursor: ${problem}`);
}
