import type { Collection, Filter } from 'mongodb';
import { AppError } from '../../../errors.js';
import { unknownColumn } from './columns.js';
import type { Column } from './schemas.js';
import type { RowDocument } from './store.js';

export interface Order {
  column: Column;
  direction: 1 | -1;
}

/** Where a page ended: the value of the sorted column and the row id of its last record. */
interface Place {
  value: unknown;
  rowId: number;
}

/** Bytes of JSON; longer values do not go into a cursor, but are read again from their record. */
const valueAtMost = 1000;

/** @throws AppError `invalid_request` for a column that the table lacks */
export function orderOf(columns: readonly Column[], sort: string): Order {
  const id = sort.replace(/^-/, '');
  const column = columns.find(({ column_id }) => column_id === id);
  if (!column) throw new AppError('invalid_request', `sort: ${id}: ${unknownColumn(columns, id)}`);
  return { column, direction: sort.startsWith('-') ? -1 : 1 };
}

/** Rows after a place, by the order and then by row id, which makes it total: rows that are added move no page. */
export async function findRows(rows: Collection<RowDocument>, filter: Filter<RowDocument>, order: Order, place: Place | undefined, limit: number): Promise<RowDocument[]> {
  const { column, direction } = order;
  const id = column.column_id;
  if (isExpressed(column)) return findByExpression(rows, filter, order, place, limit);
  const conditions = [filter, ...(place ? [after(id, direction, place)] : [])].filter((each) => Object.keys(each).length > 0);
  const both: Filter<RowDocument> = conditions.length > 1 ? { $and: conditions } : (conditions[0] ?? {});
  return rows.find(both).sort(id === 'row_id' ? { row_id: direction } : { [id]: direction, row_id: direction }).limit(limit).toArray();
}

/** Records without a value come first when ascending, as the record store sorts them. */
function after(id: string, direction: 1 | -1, { value, rowId }: Place): Filter<RowDocument> {
  const beyond = direction === 1 ? '$gt' : '$lt';
  if (id === 'row_id') return { row_id: { [beyond]: rowId } };
  const same = { [id]: { $eq: value }, row_id: { [beyond]: rowId } };
  if (value === null) return direction === 1 ? { $or: [{ [id]: { $ne: null } }, same] } : same;
  const others = { [id]: { [beyond]: value } };
  return { $or: [others, same, ...(direction === -1 ? [{ [id]: { $eq: null } }] : [])] };
}

interface SortKey {
  /** Of a row, by the record store. */
  expression(field: string): unknown;
  /** The same of a value that is there. */
  of(value: object): unknown;
}

/** Lists sort by their number of elements, objects by their number of fields. */
const countedKeys: Partial<Record<Column['column_type'], SortKey>> = {
  array: { expression: (field) => ({ $size: field }), of: (value) => (value as unknown[]).length },
  object: { expression: (field) => ({ $size: { $objectToArray: field } }), of: (value) => Object.keys(value).length },
};

/** Plain conditions compare with the elements of an array, and never across types, so these columns are compared by expressions. */
function isExpressed({ column_type, enum_options }: Column): boolean {
  return column_type in countedKeys || new Set(enum_options?.map((option) => typeof option)).size > 1;
}

async function findByExpression(rows: Collection<RowDocument>, filter: Filter<RowDocument>, { column, direction }: Order, place: Place | undefined, limit: number): Promise<RowDocument[]> {
  const beyond = direction === 1 ? '$gt' : '$lt';
  const field = `$${column.column_id}`;
  const present = { $ifNull: [field, null] };
  const counted = countedKeys[column.column_type]?.expression(field);
  const key = counted === undefined ? present : { $cond: [{ $eq: [present, null] }, null, counted] };
  const value = { $literal: place?.value ?? null };
  const isAfter = { $or: [{ [beyond]: ['$__key', value] }, { $and: [{ $eq: ['$__key', value] }, { [beyond]: ['$row_id', place?.rowId] }] }] };
  const found = await rows
    .aggregate<RowDocument>([
      { $match: filter },
      // No column_id begins with an underscore.
      { $addFields: { __key: key } },
      ...(place ? [{ $match: { $expr: isAfter } }] : []),
      { $sort: { __key: direction, row_id: direction } },
      { $limit: limit },
    ])
    .toArray();
  return found.map(({ __key, ...row }) => row);
}

/** What a row is sorted by. */
function keyOf(column: Column, row: RowDocument): unknown {
  const value = row[column.column_id] ?? null;
  const counted = countedKeys[column.column_type];
  return counted && typeof value === 'object' && value !== null ? counted.of(value) : value;
}

export function cursorAfter({ column, direction }: Order, row: RowDocument): string {
  const value = keyOf(column, row);
  const isShort = column.column_id !== 'row_id' && Buffer.byteLength(JSON.stringify(value)) <= valueAtMost;
  return Buffer.from(JSON.stringify({ s: sortOf({ column, direction }), r: row.row_id, ...(isShort ? { v: value } : {}) })).toString('base64url');
}

/** @throws AppError `invalid_request` for a cursor of another list or order, or one whose record is gone */
export async function placeOf(rows: Collection<RowDocument>, order: Order, cursor: string): Promise<Place> {
  const { s, r: rowId, v } = parseCursor(cursor);
  if (s !== sortOf(order) || !Number.isSafeInteger(rowId)) throw refusal('not a cursor of this list and order');
  if (order.column.column_id === 'row_id') return { value: null, rowId: rowId as number };
  if (v !== undefined) {
    if (typeof v === 'object' && v !== null) throw refusal('not a cursor of this list and order');
    return { value: v, rowId: rowId as number };
  }
  const row = await rows.findOne({ row_id: rowId as number });
  if (!row) throw refusal('its record is gone; start from the first page');
  return { value: keyOf(order.column, row), rowId: rowId as number };
}

function parseCursor(cursor: string): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (typeof parsed === 'object' && parsed !== null) return parsed as Record<string, unknown>;
  } catch {
    // Told below, like any other text that is none of ours.
  }
  throw refusal('not a cursor of this list and order');
}

function sortOf({ column, direction }: Order): string {
  return `${direction === -1 ? '-' : ''}${column.column_id}`;
}

function refusal(problem: string): AppError {
  return new AppError('invalid_request', `cursor: ${problem}`);
}
