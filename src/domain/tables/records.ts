import { BSON } from 'mongodb';
import type { RowReference } from '../../../workflows/coworker-run/activities.js';
import { AppError, notFound } from '../../base/errors.js';
import { countUpTo, listOf } from '../../stores/lists.js';
import { isId } from '../../base/ids.js';
import { canonicalText, isJsonObject, parseJsonOrUndefined } from '../../base/json.js';
import { bodyGate, checkJson } from '../../base/json-gate.js';
import type { Mongo } from '../../stores/mongo.js';
import { epochSeconds } from '../../base/time.js';
import { defineOperation, reads } from '../operation.js';
import { compileFilter } from './filter.js';
import { cursorAfter, findRows, orderOf, parsePosition } from './pages.js';
import { finishAbandoned, settleInserts } from './pending.js';
import { writeRowsRules } from './rules.js';
import { ExpectedValues, RecordKey, RecordQuery, RecordValues, TableKey, TableRecord } from './schemas.js';
import { readTable, maxRowBytes, rowsOf, toRecord, type RowDocument, type TableDocument } from './record.js';
import { unknownColumn } from './system-columns.js';
import { recordProblems } from './values.js';

type Tables = Pick<Mongo, 'db' | 'collections'>;

/** The table, after completing its abandoned changes. @throws AppError `not_found` */
export async function readFinished(mongo: Tables, projectId: string, tableId: string): Promise<TableDocument> {
  const table = await readTable(mongo, projectId, tableId);
  return (await finishAbandoned(mongo, table)) ? readTable(mongo, projectId, tableId) : table;
}

/** Throws `invalid_request` for an invalid filter, sort or cursor. */
export const listRecords = defineOperation({
  name: 'table.list-records',
  ...reads,
  key: TableKey,
  input: RecordQuery,
  output: listOf(TableRecord),
  async run({ deps: { mongo }, ctx: { principal }, key: { table_id }, input: query }) {
    const table = await readFinished(mongo, principal.projectId, table_id);
    const rows = rowsOf(mongo, table_id);
    const filter = compileFilter(table.columns, query.filter);
    const order = orderOf(table.columns, query.sort);
    const position = query.cursor === undefined ? undefined : await parsePosition(rows, order, query.cursor);
    const isFiltered = Object.keys(filter).length > 0;
    const [total, found] = await Promise.all([
      isFiltered ? countUpTo(rows, filter) : { total_count: table.row_count },
      findRows(rows, filter, order, position, query.limit + 1),
    ]);
    const page = found.slice(0, query.limit);
    const last = page.at(-1);
    return {
      data: page.map((row) => toRecord(table, row)),
      ...total,
      next_cursor: found.length > query.limit && last ? cursorAfter(order, last) : null,
    };
  },
});

async function readRow(mongo: Tables, tableId: string, id: string): Promise<RowDocument> {
  const row = isId(id) ? await rowsOf(mongo, tableId).findOne({ _id: id }) : null;
  if (!row) throw notFound('the record');
  return row;
}

export const readRecord = defineOperation({
  name: 'table.read-record',
  ...reads,
  key: RecordKey,
  output: TableRecord,
  async run({ deps: { mongo }, ctx: { principal }, key: { table_id, record_id } }) {
    const table = await readFinished(mongo, principal.projectId, table_id);
    return toRecord(table, await readRow(mongo, table_id, record_id));
  },
});

/**
 * Updates the given columns of a record. `_id` and `row_id` may be given unchanged, so that a record can be sent back as it
 * was read. Throws `validation_failed` with all invalid values, `payload_too_large`, and `conflict` if the record does not
 * have the expected values.
 */
export const updateRecord = defineOperation({
  ...writeRowsRules,
  key: RecordKey.extend({ expected: ExpectedValues }),
  input: RecordValues,
  output: TableRecord,
  errors: ['validation_failed', 'conflict'],
  async run({ deps: { mongo }, ctx: { principal }, key: { table_id, record_id, expected }, input: changes }) {
    const table = await readFinished(mongo, principal.projectId, table_id);
    const row = await readRow(mongo, table_id, record_id);
    const asRead = expectedIn(table, expected);
    const fixed = ['_id', 'row_id'].filter((column) => changes[column] === row[column]);
    const values = Object.fromEntries(Object.entries(changes).filter(([column]) => !fixed.includes(column)));
    const problems = recordProblems(table.columns, values);
    if (problems.length > 0) throw new AppError('validation_failed', problems.join('; '));
    if (Object.keys(values).length === 0) return toRecord(table, row);
    refuseChanged(table, row, asRead);
    if (BSON.calculateObjectSize({ ...row, ...values }) > maxRowBytes)
      throw new AppError('payload_too_large', 'the record must not exceed 4 MiB');
    const rows = rowsOf(mongo, table_id);
    // The update requires the values that `refuseChanged` has just compared, so that a concurrent change is not
    // overwritten.
    const unchanged = Object.keys(asRead).map((column) => ({ [column]: { $eq: row[column] ?? null } }));
    const filter = { _id: record_id, ...(unchanged.length > 0 && { $and: unchanged }) };
    const updated = await rows.findOneAndUpdate(filter, { $set: values }, { returnDocument: 'after' });
    if (!updated) {
      refuseChanged(table, await readRow(mongo, table_id, record_id), asRead);
      throw new AppError('conflict', 'the record was changed in the meantime: read it again');
    }
    const now = await readTable(mongo, principal.projectId, table_id);
    if (now.columns_version === table.columns_version) return toRecord(table, updated);
    // A column was deleted concurrently. Its data may have been removed from this row before the write.
    const removed = Object.keys(values).filter((column) => now.retired_column_ids.includes(column));
    if (removed.length > 0)
      await rows.updateOne({ _id: record_id }, { $unset: Object.fromEntries(removed.map((column) => [column, ''])) });
    return toRecord(now, updated);
  },
});

/** The values that the caller read. @throws AppError `invalid_request` */
function expectedIn({ columns }: TableDocument, text: string | undefined): Record<string, unknown> {
  if (text === undefined) return {};
  const expected = parseJsonOrUndefined(text);
  if (!isJsonObject(expected)) throw new AppError('invalid_request', 'expected: must be a JSON object');
  checkJson(expected, { ...bodyGate, what: 'expected' });
  const unknown = Object.keys(expected).find((id) => !columns.some(({ column_id }) => column_id === id));
  if (unknown !== undefined)
    throw new AppError('invalid_request', `expected.${unknown.slice(0, 100)}: ${unknownColumn(columns, unknown)}`);
  return expected;
}

/** @throws AppError `conflict` with the columns that changed */
function refuseChanged({ columns }: TableDocument, row: RowDocument, asRead: Record<string, unknown>): void {
  const changed = columns.filter(
    ({ column_id: id }) => Object.hasOwn(asRead, id) && canonicalText(row[id] ?? null) !== canonicalText(asRead[id]),
  );
  if (changed.length === 0) return;
  const names = changed.slice(0, 5).map(({ column_name }) => column_name);
  throw new AppError('conflict', `somebody else changed the record since it was read: ${names.join(', ')}`);
}

/** Its row id is not reused. */
export const deleteRecord = defineOperation({
  ...writeRowsRules,
  key: RecordKey,
  output: TableRecord,
  async run({ deps: { mongo }, ctx: { principal }, key: { table_id, record_id } }) {
    const table = await readFinished(mongo, principal.projectId, table_id);
    const row = await readRow(mongo, table_id, record_id);
    const { tables } = mongo.collections;
    const pending = `pending.delete-${record_id}`;
    const noted = await tables.findOneAndUpdate(
      { _id: table_id, [pending]: { $exists: false } },
      { $set: { [pending]: { kind: 'delete', at: epochSeconds(), record_id } }, $inc: { intents: 1 } },
      { returnDocument: 'after' },
    );
    // Another call is deleting it.
    if (!noted) throw notFound('the record');
    // Complete its insert first, so that it cannot be inserted again after the deletion.
    await settleInserts(mongo, noted, ({ rows }) => rows.some(({ _id }) => _id === record_id));
    const { deletedCount } = await rowsOf(mongo, table_id).deleteOne({ _id: record_id });
    await tables.updateOne(
      { _id: table_id, [pending]: { $exists: true } },
      { $unset: { [pending]: '' }, $inc: { row_count: -deletedCount } },
    );
    if (deletedCount === 0) throw notFound('the record');
    return toRecord(table, row);
  },
});

/**
 * Reads rows of a table by ascending `row_id`. The values are keyed by column id and by column name; missing values are
 * null.
 * @throws AppError `not_found` if the project does not have the table
 */
export async function readTableRows(
  mongo: Tables,
  projectId: string,
  tableId: string,
  after: number,
  limit: number,
): Promise<RowReference[]> {
  const table = await readFinished(mongo, projectId, tableId);
  const rows = await rowsOf(mongo, tableId)
    .find({ row_id: { $gt: after } })
    .sort({ row_id: 1 })
    .limit(limit)
    .toArray();
  return rows.map((row) => {
    const values = toRecord(table, row);
    const byName = Object.fromEntries(
      table.columns.map(({ column_id, column_name }) => [column_name, values[column_id]]),
    );
    return { _id: row._id, row_id: row.row_id, values: { ...byName, ...values } };
  });
}
