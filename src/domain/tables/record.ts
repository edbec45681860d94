import type { Collection } from 'mongodb';
import { notFound } from '../../base/errors.js';
import { defineCollection } from '../../stores/collections.js';
import type { Mongo } from '../../stores/mongo.js';
import type { Column, Table, TableRecord } from './schemas.js';
import { pick } from '../../base/pick.js';

/** A record of a table, stored in the collection `table_<table_id>`. */
export interface RowDocument {
  _id: string;
  row_id: number;
  coworker_user_id: string;
  [columnId: string]: unknown;
}

/** For one record, and for all records of one write. */
export const maxRowBytes = 4 * 1024 * 1024;
/** For all pending rows of a table, because they are stored in one document, which MongoDB limits to 16 MiB. */
export const maxPendingBytes = 12 * 1024 * 1024;

/** A change that is recorded in the table document, but may not have been applied to the rows yet. `at` is epoch seconds. */
type PendingChange =
  | { kind: 'insert'; at: number; rows: RowDocument[]; bytes?: number }
  | { kind: 'delete'; at: number; record_id: string };

/** A stored column. `key` is the record id of the request that added it, so that a repeat does not add it twice. */
export type StoredColumn = Column & { key?: string };

export interface TableDocument extends Omit<Table, 'columns'> {
  columns: StoredColumn[];
  organization_id: string;
  user_id: string;
  /** The number of rows, including pending ones. */
  row_count: number;
  /** The number of changes to `columns`. Inserts are conditional on it, so that they are validated against the current columns. */
  columns_version: number;
  /** Columns whose data is still being deleted from the rows. */
  removing: { column_id: string; column_name: string }[];
  /** Ids of deleted columns. They are not reused, because rows may still contain their data. */
  retired_column_ids: string[];
  /** By key. Keys do not contain dots. */
  pending: Record<string, PendingChange>;
  /** The size of the pending rows. Absent before the first insert. */
  pending_bytes?: number;
  /** The total number of pending changes so far. */
  intents: number;
  created_at: number;
}

/** Each table has its own collection of `{_id, row_id, coworker_user_id, <column_id>: value, …}`. */
export function rowsOf({ db }: Pick<Mongo, 'db'>, tableId: string): Collection<RowDocument> {
  return db.collection<RowDocument>(`table_${tableId}`);
}

/** @throws AppError `not_found` for an unknown table and for a table of another project */
export async function readTable(
  { collections }: { collections: Pick<Mongo['collections'], 'tables'> },
  projectId: string,
  id: string,
): Promise<TableDocument> {
  const table = await collections.tables.findOne({ _id: id });
  if (!table || table.projectID !== projectId) throw notFound('the table');
  return table;
}

export function toColumn({ key: _key, ...column }: StoredColumn): Column {
  return column;
}

export function toTable(table: TableDocument): Table {
  return {
    ...pick(table, '_id', 'projectID', 'table_name', 'connector_id', 'triggers', 'last_row_id'),
    columns: table.columns.map(toColumn),
  };
}

/** The values of a row for the current columns of the table, or null. */
export function toRecord({ columns }: Pick<TableDocument, 'columns'>, row: RowDocument): TableRecord {
  const { _id, row_id, coworker_user_id } = row;
  return {
    _id,
    row_id,
    coworker_user_id,
    ...Object.fromEntries(columns.map(({ column_id }) => [column_id, row[column_id] ?? null])),
  };
}

export const tablesCollection = defineCollection('tables', {
  indexes: [
    { keys: { projectID: 1, table_name: 1 }, options: { unique: true } },
    { keys: { projectID: 1, _id: -1 } },
    { keys: { organization_id: 1 } },
  ],
});

declare module '../../stores/collections.js' {
  interface Documents {
    tables: TableDocument;
  }
}
