import { BSON } from 'mongodb';
import type { Principal } from '../../../auth/principal.js';
import { planLimit } from '../../../customers/places.js';
import { AppError, notFound } from '../../../errors.js';
import type { Waiting } from '../../../stores/group.js';
import { isSystemColumn } from './columns.js';
import { settleInserts } from './pending.js';
import { nthId } from './record-ids.js';
import { shownRow } from './records.js';
import { rowsAtOnce, type RecordValues, type TableRecord } from './schemas.js';
import { rowBytesAtMost, rowsOf, type RowDocument, type TableDeps, type TableDocument } from './store.js';
import { recordProblems } from './values.js';

export interface RowInsert {
  principal: Principal;
  records: readonly RecordValues[];
  /** The id of the request's first row; the others follow from it. */
  recordId: string;
  /** The request may have been made before, and its rows may be there. */
  repeatable: boolean;
}

export type Waiter = Waiting<RowInsert, TableRecord[]>;
export type InsertDeps = Pick<TableDeps, 'mongo' | 'customers'>;

export interface Chosen {
  waiter: Waiter;
  rows: RowDocument[];
}

export interface Admitted {
  chosen: Chosen[];
  /** Those for whom this group has no room. */
  later: Waiter[];
  refused: { waiter: Waiter; error: unknown }[];
  rowsAtMost: number;
}

/** Answers the requests that were done before, and chooses as many of the others as one write takes. */
export async function admit(deps: InsertDeps, table: TableDocument | null, waiting: readonly Waiter[]): Promise<Admitted> {
  const rowsAtMost = table ? (await deps.customers.quotaOf(table.organization_id)).number_of_rows_per_table : 0;
  const admitted: Admitted = { chosen: [], later: [], refused: [], rowsAtMost };
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
      if (bytes > rowBytesAtMost) throw new AppError('payload_too_large', 'the records with their default values are larger than 4 MiB');
      if (total.rows > 0 && (total.rows + rows.length > rowsAtOnce || total.bytes + bytes > rowBytesAtMost)) {
        admitted.later.push(waiter);
        continue;
      }
      const used = table.row_count + total.rows;
      if (used + rows.length > rowsAtMost) throw planLimit('number_of_rows_per_table', rowsAtMost, used);
      total.rows += rows.length;
      total.bytes += bytes;
      admitted.chosen.push({ waiter, rows });
    } catch (error) {
      admitted.refused.push({ waiter, error });
    }
  }
  return admitted;
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
