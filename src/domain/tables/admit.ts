import { BSON } from 'mongodb';
import type { Principal } from '../../auth/principal.js';
import type { Customers } from '../customers/record.js';
import type { Mongo } from '../../stores/mongo.js';
import { planLimit } from '../customers/rules.js';
import { AppError, notFound } from '../../base/errors.js';
import type { Waiting } from '../../stores/group.js';
import { isSystemColumn } from './system-columns.js';
import { settleInserts } from './pending.js';
import { nthId } from './record-ids.js';
import { maxRowsPerRequest, type RecordValues, type TableRecord } from './schemas.js';
import { maxRowBytes, rowsOf, toRecord, type RowDocument, type TableDocument } from './record.js';
import { recordProblems } from './values.js';

export interface RowInsert {
  principal: Principal;
  records: readonly RecordValues[];
  /** The id of the first row of the request. The ids of the other rows are derived from it. */
  recordId: string;
  /** The request may be a repeat, whose rows may already exist. */
  repeatable: boolean;
}

export type Waiter = Waiting<RowInsert, TableRecord[]>;
export interface InsertDeps {
  mongo: Mongo;
  customers: Customers;
}

/** A table with the maximum of its rows that the plan of its organization permits. */
export interface TableWithLimit {
  table: TableDocument | null;
  maxRows: number;
}

export interface ChosenInsert {
  waiter: Waiter;
  rows: RowDocument[];
}

interface Admitted {
  chosen: ChosenInsert[];
  /** Requests that do not fit into this write. */
  later: Waiter[];
  refused: { waiter: Waiter; error: unknown }[];
}

/** Resolves repeated requests, and chooses as many of the other requests as one write can contain. */
export async function admit(
  deps: InsertDeps,
  { table, maxRows }: TableWithLimit,
  waiting: readonly Waiter[],
): Promise<Admitted> {
  const admitted: Admitted = { chosen: [], later: [], refused: [] };
  const total = { rows: 0, bytes: 0 };
  for (const waiter of waiting) {
    try {
      if (!table || table.projectID !== waiter.item.principal.projectId) throw notFound('the table');
      const before = waiter.item.repeatable ? await rowsOfRepeat(deps, table, waiter.item) : [];
      if (before.length > 0) {
        waiter.resolve(before.map((row) => toRecord(table, row)));
        continue;
      }
      const rows = rowsFrom(table, waiter.item);
      const bytes = rows.reduce((sum, row) => sum + BSON.calculateObjectSize(row), 0);
      if (bytes > maxRowBytes)
        throw new AppError('payload_too_large', 'the records with their default values must not exceed 4 MiB');
      if (total.rows > 0 && (total.rows + rows.length > maxRowsPerRequest || total.bytes + bytes > maxRowBytes)) {
        admitted.later.push(waiter);
        continue;
      }
      const used = table.row_count + total.rows;
      if (used + rows.length > maxRows) throw planLimit('number_of_rows_per_table', maxRows, used);
      total.rows += rows.length;
      total.bytes += bytes;
      admitted.chosen.push({ waiter, rows });
    } catch (error) {
      admitted.refused.push({ waiter, error });
    }
  }
  return admitted;
}

/** The rows without their row ids, which the write assigns. */
function rowsFrom({ columns }: TableDocument, { records, principal, recordId }: RowInsert): RowDocument[] {
  const problems = records.flatMap((record, at) => recordProblems(columns, record, records.length > 1 ? `${at}.` : ''));
  if (problems.length > 0) throw new AppError('validation_failed', problems.slice(0, 20).join('; '));
  const userColumns = columns.filter(({ column_id }) => !isSystemColumn(column_id));
  return records.map((record, at) => ({
    _id: nthId(recordId, at),
    row_id: 0,
    coworker_user_id: principal.userId,
    ...Object.fromEntries(userColumns.map(({ column_id, default_value }) => [column_id, default_value])),
    ...record,
  }));
}

/**
 * The rows that an earlier attempt of the request has inserted. Call it after reading the table: if the earlier attempt
 * reserves its row ids later, it changes the table, so this attempt is not admitted.
 */
async function rowsOfRepeat(
  { mongo }: InsertDeps,
  table: TableDocument,
  { recordId, records }: RowInsert,
): Promise<RowDocument[]> {
  await settleInserts(mongo, table, ({ rows }) => rows.some(({ _id }) => _id === nthId(recordId, 0)));
  const ids = records.map((_record, at) => nthId(recordId, at));
  return rowsOf(mongo, table._id)
    .find({ _id: { $in: ids } })
    .sort({ row_id: 1 })
    .toArray();
}
