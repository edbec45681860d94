import { setTimeout as delay } from 'node:timers/promises';
import { BSON } from 'mongodb';
import type { Principal } from '../../../auth/principal.js';
import { AppError, notFound } from '../../../errors.js';
import { createGroup, type Group, type Waiting } from '../../../stores/group.js';
import { newId } from '../../../ids.js';
import { epochSeconds } from '../../../time.js';
import { isSystemColumn } from './columns.js';
import { finishLeftBehind, settleInserts, writeRows } from './pending.js';
import { nthId } from './record-ids.js';
import { shownRow } from './records.js';
import { rowsAtOnce, type RecordValues, type TableRecord } from './schemas.js';
import { rowsOf, type RowDocument, type TableDeps, type TableDocument } from './store.js';
import { recordProblems } from './values.js';

export interface RowInsert {
  principal: Principal;
  records: readonly RecordValues[];
  /** The id of the request's first row; the others follow from it. */
  recordId: string;
  /** The request may have been made before, and its rows may be there. */
  repeatable: boolean;
}

type Waiter = Waiting<RowInsert, TableRecord[]>;
type InsertDeps = Pick<TableDeps, 'mongo' | 'customers'>;

/** Well below the 16 MiB of one document, in which a group is pending. */
const groupBytesAtMost = 4 * 1024 * 1024;
const requestsAtOnce = 200;
const deadlineMs = 10_000;
/** An owner that was held up for longer leaves its rows to those who finish what was left behind. */
const ownerMs = 5000;

/**
 * Inserts all records of a request or none, with row ids in a row; what arrives for a table while a write is in flight
 * shares the next one.
 * @throws AppError `not_found`, `validation_failed` naming each value that does not fit, `plan_limit`, `payload_too_large`
 */
export function createRowInserter(deps: InsertDeps): (tableId: string, insert: RowInsert) => Promise<TableRecord[]> {
  const groups = new Map<string, { group: Group<RowInsert, TableRecord[]>; callers: number }>();
  return async (tableId, insert) => {
    const entry = groups.get(tableId) ?? { group: createGroup((batch: readonly Waiter[]) => writeGroup(deps, tableId, batch), requestsAtOnce), callers: 0 };
    groups.set(tableId, entry);
    entry.callers += 1;
    try {
      return await entry.group.add(insert);
    } finally {
      entry.callers -= 1;
      if (entry.callers === 0) groups.delete(tableId);
    }
  };
}

async function writeGroup(deps: InsertDeps, tableId: string, batch: readonly Waiter[]): Promise<void> {
  const deadline = Date.now() + deadlineMs;
  let waiting = [...batch];
  while (waiting.length > 0) {
    if (Date.now() > deadline) throw new AppError('unavailable', 'too many callers insert into this table at once');
    const table = await deps.mongo.collections.tables.findOne({ _id: tableId });
    if (table && (await finishLeftBehind(deps.mongo, table))) continue;
    const admitted = await admit(deps, table, waiting);
    if (!table || admitted.chosen.length === 0) {
      waiting = admitted.later;
      continue;
    }
    const written = await write(deps, table, admitted);
    if (written) waiting = admitted.later;
    else {
      waiting = [...admitted.chosen.map(({ waiter }) => waiter), ...admitted.later];
      await delay(Math.random() * 20);
    }
  }
}

interface Admitted {
  chosen: { waiter: Waiter; rows: RowDocument[] }[];
  /** Those for whom this group has no room. */
  later: Waiter[];
  rowsAtMost: number;
}

/** Settles the requests that are refused or were done before, and chooses as many of the others as one write takes. */
async function admit(deps: InsertDeps, table: TableDocument | null, waiting: readonly Waiter[]): Promise<Admitted> {
  const rowsAtMost = table ? (await deps.customers.quotaOf(table.organization_id)).number_of_rows_per_table : 0;
  const admitted: Admitted = { chosen: [], later: [], rowsAtMost };
  const total = { rows: 0, bytes: 0 };
  for (const waiter of waiting) {
    try {
      if (!table || table.projectID !== waiter.item.principal.projectId) throw notFound('the table');
      const before = waiter.item.repeatable ? await rowsOfRepeat(deps, table, waiter.item) : [];
      if (before.length > 0) {
        waiter.resolve(before.map((row) => shownRow(table, row)));
        continue;
      }
      const rows = rowsFrom(table, waiter.item);
      const bytes = rows.reduce((sum, row) => sum + BSON.calculateObjectSize(row), 0);
      if (bytes > groupBytesAtMost) throw new AppError('payload_too_large', 'the records with their default values are larger than 4 MiB');
      if (total.rows > 0 && (total.rows + rows.length > rowsAtOnce || total.bytes + bytes > groupBytesAtMost)) {
        admitted.later.push(waiter);
        continue;
      }
      refuseBeyond(rowsAtMost, table.row_count + total.rows, rows.length);
      total.rows += rows.length;
      total.bytes += bytes;
      admitted.chosen.push({ waiter, rows });
    } catch (error) {
      waiter.reject(error);
    }
  }
  return admitted;
}

function refuseBeyond(maximum: number, used: number, more: number): void {
  if (used + more <= maximum) return;
  throw new AppError('plan_limit', `number_of_rows_per_table: at most ${maximum}, ${used} in use, asked for ${more} more`);
}

/** The rows without their row ids, which are known when the table is read for the write. */
function rowsFrom({ columns }: TableDocument, { records, principal, recordId }: RowInsert): RowDocument[] {
  const problems = records.flatMap((record, at) => recordProblems(columns, record, records.length > 1 ? `${at}.` : ''));
  if (problems.length > 0) throw new AppError('validation_failed', problems.slice(0, 20).join('; '));
  const own = columns.filter(({ column_id }) => !isSystemColumn(column_id));
  return records.map((record, at) => ({
    _id: nthId(recordId, at),
    row_id: 0,
    coworker_user_id: principal.userId,
    ...Object.fromEntries(own.map(({ column_id, default_value }) => [column_id, default_value])),
    ...record,
  }));
}

/**
 * What an earlier try of the request has inserted. Looked up after the table was read: a try that takes its row ids
 * later changes the table, and then this one is not admitted.
 */
async function rowsOfRepeat({ mongo }: InsertDeps, table: TableDocument, { recordId, records }: RowInsert): Promise<RowDocument[]> {
  await settleInserts(mongo, table, ({ rows }) => rows.some(({ _id }) => _id === nthId(recordId, 0)));
  const ids = records.map((_record, at) => nthId(recordId, at));
  return rowsOf(mongo, table._id).find({ _id: { $in: ids } }).sort({ row_id: 1 }).toArray();
}

/** False where the table has changed since it was read. */
async function write({ mongo }: InsertDeps, table: TableDocument, { chosen, rowsAtMost }: Admitted): Promise<boolean> {
  const { _id, last_row_id, columns_version } = table;
  let rowId = last_row_id;
  const numbered = chosen.map(({ waiter, rows }) => ({ waiter, rows: rows.map((row) => ({ ...row, row_id: (rowId += 1) })) }));
  const rows = numbered.flatMap((each) => each.rows);
  const key = newId();
  const begun = performance.now();
  const { modifiedCount } = await mongo.collections.tables.updateOne(
    { _id, last_row_id, columns_version, row_count: { $lte: rowsAtMost - rows.length } },
    { $inc: { last_row_id: rows.length, row_count: rows.length, intents: 1 }, $set: { [`pending.${key}`]: { kind: 'insert', at: epochSeconds(), rows } } },
  );
  if (modifiedCount === 0) return false;
  if (performance.now() - begun > ownerMs) throw new AppError('unavailable', 'the record store is slow; the records follow');
  await writeRows(rowsOf(mongo, _id), rows);
  await mongo.collections.tables.updateOne({ _id }, { $unset: { [`pending.${key}`]: '' } });
  for (const each of numbered) each.waiter.resolve(each.rows.map((row) => shownRow(table, row)));
  return true;
}
