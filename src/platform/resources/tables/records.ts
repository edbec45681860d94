import { BSON } from 'mongodb';
import type { Principal } from '../../../auth/principal.js';
import { AppError, notFound } from '../../../errors.js';
import type { Page } from '../../../http/lists.js';
import { isId } from '../../../ids.js';
import type { Mongo } from '../../../stores/mongo.js';
import { epochSeconds } from '../../../time.js';
import { compileFilter } from './filter.js';
import { cursorAfter, findRows, orderOf, placeOf } from './pages.js';
import { finished, settleInserts } from './pending.js';
import type { RecordQuery, RecordValues, TableRecord } from './schemas.js';
import { readTable, rowBytesAtMost, rowsOf, type RowDocument, type TableDocument } from './store.js';
import { recordProblems } from './values.js';

type Tables = Pick<Mongo, 'db' | 'collections'>;

/** A row by the columns that the table has now; null where it has no value. */
export function shownRow({ columns }: Pick<TableDocument, 'columns'>, row: RowDocument): TableRecord {
  const { _id, row_id, coworker_user_id } = row;
  return { _id, row_id, coworker_user_id, ...Object.fromEntries(columns.map(({ column_id }) => [column_id, row[column_id] ?? null])) };
}

async function readFinished(mongo: Tables, principal: Principal, tableId: string): Promise<TableDocument> {
  const read = () => readTable(mongo, principal.projectId, tableId);
  return finished(mongo, await read(), read);
}

/** @throws AppError `invalid_request` for a filter, sort or cursor that does not fit the table */
export async function listRecords(mongo: Tables, principal: Principal, tableId: string, query: RecordQuery): Promise<Page<TableRecord>> {
  const table = await readFinished(mongo, principal, tableId);
  const rows = rowsOf(mongo, tableId);
  const filter = compileFilter(table.columns, query.filter);
  const order = orderOf(table.columns, query.sort);
  const place = query.cursor === undefined ? undefined : await placeOf(rows, order, query.cursor);
  const isFiltered = Object.keys(filter).length > 0;
  const [total_count, found] = await Promise.all([
    isFiltered ? rows.countDocuments(filter) : table.row_count,
    findRows(rows, filter, order, place, query.limit + 1),
  ]);
  const page = found.slice(0, query.limit);
  const last = page.at(-1);
  return { data: page.map((row) => shownRow(table, row)), total_count, next_cursor: found.length > query.limit && last ? cursorAfter(order, last) : null };
}

async function readRow(mongo: Tables, tableId: string, id: string): Promise<RowDocument> {
  const row = isId(id) ? await rowsOf(mongo, tableId).findOne({ _id: id }) : null;
  if (!row) throw notFound('the record');
  return row;
}

export async function readRecord(mongo: Tables, principal: Principal, tableId: string, id: string): Promise<TableRecord> {
  const table = await readFinished(mongo, principal, tableId);
  return shownRow(table, await readRow(mongo, tableId, id));
}

/**
 * Writes the given columns of a record and leaves the others; `_id` and `row_id` may be given as they are, so that a
 * record as read can be sent back.
 * @throws AppError `validation_failed` naming each value that does not fit, `payload_too_large`
 */
export async function updateRecord(mongo: Tables, principal: Principal, tableId: string, id: string, given: RecordValues): Promise<TableRecord> {
  const table = await readFinished(mongo, principal, tableId);
  const row = await readRow(mongo, tableId, id);
  const fixed = ['_id', 'row_id'].filter((column) => given[column] === row[column]);
  const values = Object.fromEntries(Object.entries(given).filter(([column]) => !fixed.includes(column)));
  const problems = recordProblems(table.columns, values);
  if (problems.length > 0) throw new AppError('validation_failed', problems.join('; '));
  if (Object.keys(values).length === 0) return shownRow(table, row);
  if (BSON.calculateObjectSize({ ...row, ...values }) > rowBytesAtMost) throw new AppError('payload_too_large', 'the record would be larger than 4 MiB');
  const rows = rowsOf(mongo, tableId);
  const updated = await rows.findOneAndUpdate({ _id: id }, { $set: values }, { returnDocument: 'after' });
  if (!updated) throw notFound('the record');
  const now = await readTable(mongo, principal.projectId, tableId);
  if (now.columns_version === table.columns_version) return shownRow(table, updated);
  // A column was removed meanwhile, and its removal may have passed this row before the write.
  const removed = Object.keys(values).filter((column) => now.retired_column_ids.includes(column));
  if (removed.length > 0) await rows.updateOne({ _id: id }, { $unset: Object.fromEntries(removed.map((column) => [column, ''])) });
  return shownRow(now, updated);
}

/** The row goes, its row id is not used again, and the place in the plan is free. */
export async function deleteRecord(mongo: Tables, principal: Principal, tableId: string, id: string): Promise<TableRecord> {
  const table = await readFinished(mongo, principal, tableId);
  const row = await readRow(mongo, tableId, id);
  const { tables } = mongo.collections;
  const pending = `pending.delete-${id}`;
  const noted = await tables.findOneAndUpdate(
    { _id: tableId, [pending]: { $exists: false } },
    { $set: { [pending]: { kind: 'delete', at: epochSeconds(), record_id: id } }, $inc: { intents: 1 } },
    { returnDocument: 'after' },
  );
  // Another call is at it.
  if (!noted) throw notFound('the record');
  // Its insert must not be finished by anybody after it was deleted.
  await settleInserts(mongo, noted, ({ rows }) => rows.some(({ _id }) => _id === id));
  const { deletedCount } = await rowsOf(mongo, tableId).deleteOne({ _id: id });
  await tables.updateOne({ _id: tableId, [pending]: { $exists: true } }, { $unset: { [pending]: '' }, $inc: { row_count: -deletedCount } });
  if (deletedCount === 0) throw notFound('the record');
  return shownRow(table, row);
}
