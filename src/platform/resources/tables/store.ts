import { BSON, type Collection } from 'mongodb';
import type { Principal } from '../../../auth/principal.js';
import { createConnector } from '../../../connectors/store.js';
import type { Deps } from '../../../deps.js';
import { AppError, notFound } from '../../../errors.js';
import { listPage, type ListQuery } from '../../../http/lists.js';
import { insertOnce, isDuplicateKey, type Mongo } from '../../../stores/mongo.js';
import { epochSeconds } from '../../../time.js';
import { makeColumn, systemColumns } from './columns.js';
import { nthId } from './record-ids.js';
import type { Column, NewColumn, NewTable, Table } from './schemas.js';

/** A record of a table, as stored in the collection `table_<table_id>`. */
export interface RowDocument {
  _id: string;
  row_id: number;
  coworker_user_id: string;
  [columnId: string]: unknown;
}

/** Of one record, and of those that are written at once: they are pending in one document, which holds 16 MiB. */
export const rowBytesAtMost = 4 * 1024 * 1024;

/** A change that was decided by one update of the table, and may not have reached the rows yet. `at` is epoch seconds. */
export type PendingChange = { kind: 'insert'; at: number; rows: RowDocument[] } | { kind: 'delete'; at: number; record_id: string };

/** A stored column; `key` is the record id of the request that added it, so that a repeat adds no second. */
export type StoredColumn = Column & { key?: string };

export interface TableDocument extends Omit<Table, 'columns'> {
  columns: StoredColumn[];
  organization_id: string;
  user_id: string;
  /** Rows that there are, with those that are pending. */
  row_count: number;
  /** Counts the changes of `columns`: rows checked against other columns are not admitted. */
  columns_version: number;
  /** Columns whose data is still being taken out of the rows. */
  removing: { column_id: string; column_name: string }[];
  /** Ids of removed columns; none is given again, since old data might show under it. */
  retired_column_ids: string[];
  /** By a key without dots. */
  pending: Record<string, PendingChange>;
  /** Counts what was ever pending. */
  intents: number;
  created_at: number;
}

export type TableDeps = Pick<Deps, 'mongo' | 'customers' | 'auth' | 'temporal' | 'log'>;

/** One collection a table: `{_id, row_id, coworker_user_id, <column_id>: value, …}`. */
export function rowsOf({ db }: Pick<Mongo, 'db'>, tableId: string): Collection<RowDocument> {
  return db.collection<RowDocument>(`table_${tableId}`);
}

/** @throws AppError `not_found`, also for a table of another project */
export async function readTable({ collections }: Pick<Mongo, 'collections'>, projectId: string, id: string): Promise<TableDocument> {
  const table = await collections.tables.findOne({ _id: id });
  if (!table || table.projectID !== projectId) throw notFound('the table');
  return table;
}

export function shownColumn({ key: _key, ...column }: StoredColumn): Column {
  return column;
}

export function shownTable({ _id, projectID, table_name, columns, connector_id, triggers, last_row_id }: TableDocument): Table {
  return { _id, projectID, table_name, columns: columns.map(shownColumn), connector_id, triggers, last_row_id };
}

export async function listTables({ collections }: Pick<Mongo, 'collections'>, projectId: string, query: ListQuery) {
  const { data, ...page } = await listPage(collections.tables, { projectID: projectId }, query);
  return { ...page, tables: data.map(shownTable) };
}

/**
 * A table with the system columns and those given, and a connector of its own; within the plan.
 * @throws AppError `conflict` for a table name or two column names that are the same, `plan_limit`, `validation_failed`
 */
export async function createTable(deps: TableDeps, principal: Principal, { table_name, columns }: NewTable, id: string): Promise<Table> {
  const { mongo, customers, auth } = deps;
  const made = columns.reduce<Column[]>((present, column) => [...present, makeColumn(column, present, [])], [...systemColumns]);
  const owner = { user_id: principal.userId, projectID: principal.projectId, organization_id: principal.organizationId };
  await customers.reserve(principal.organizationId, 'number_of_tables', id);
  const connector_id = nthId(id, 1);
  try {
    await rowsOf(mongo, id).createIndex({ row_id: 1 }, { unique: true });
    await createConnector(mongo.collections, auth.box, connector_id, {
      ...{ category: 'restful' as const, status: 'active' as const, name: table_name, tags: ['table'], table_id: id, ...owner },
      ...{ triggers: [], actions: [], data_loader_config: { table_id: id }, config: {} },
    });
    const table = await insertOnce<TableDocument>(mongo.collections.tables, {
      _id: id,
      ...owner,
      table_name,
      columns: made,
      connector_id,
      triggers: null,
      last_row_id: 0,
      ...{ row_count: 0, columns_version: 0, removing: [], retired_column_ids: [], pending: {}, intents: 0 },
      created_at: epochSeconds(),
    });
    return shownTable(table);
  } catch (error) {
    await undoCreate(deps, principal.organizationId, id, connector_id);
    throw isDuplicateKey(error) ? new AppError('conflict', `table_name: the project has a table ${JSON.stringify(table_name)} already`, { cause: error }) : error;
  }
}

/** Takes back what a table had taken that was not made; one that is there all the same keeps it. */
async function undoCreate({ mongo, customers, log }: TableDeps, organizationId: string, id: string, connectorId: string): Promise<void> {
  try {
    if (await mongo.collections.tables.findOne({ _id: id })) return;
    await mongo.collections.connectors.deleteOne({ _id: connectorId });
    await customers.release(organizationId, 'number_of_tables', id);
    await rowsOf(mongo, id).drop();
  } catch (error) {
    log.warn({ err: error, table_id: id }, 'what a table that was not made had taken could not be given back');
  }
}

const attempts = 20;
/** All columns of a table together, since each call reads them. */
const columnsBytesAtMost = 1024 * 1024;

/**
 * Adds a column; records that are there have no value in it. A repeat with the same `key` answers the first.
 * @throws AppError `conflict` for a column name that the table has, `validation_failed`
 */
export async function addColumn({ mongo }: Pick<TableDeps, 'mongo'>, principal: Principal, tableId: string, given: NewColumn, key: string): Promise<Column> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const table = await readTable(mongo, principal.projectId, tableId);
    const present = table.columns.find((column) => column.key === key);
    if (present) return shownColumn(present);
    const column: StoredColumn = { ...makeColumn(given, table.columns, table.retired_column_ids), key };
    const bytes = BSON.calculateObjectSize({ columns: [...table.columns, column] });
    if (bytes > columnsBytesAtMost) throw new AppError('validation_failed', 'the columns of a table are at most 1 MiB together');
    const unchanged = { _id: tableId, columns_version: table.columns_version };
    const { modifiedCount } = await mongo.collections.tables.updateOne(unchanged, { $push: { columns: column }, $inc: { columns_version: 1 } });
    if (modifiedCount === 1) return shownColumn(column);
  }
  throw new AppError('unavailable', 'the columns of the table are changed by too many callers at once');
}
