import { BSON } from 'mongodb';
import { z } from 'zod';
import { authorityOf } from '../../auth/authority.js';
import { AppError } from '../../base/errors.js';
import { countUpTo, listPage, ListQuery } from '../../stores/lists.js';
import { insertOnce } from '../../stores/insert-once.js';
import { isDuplicateKey } from '../../stores/mongo.js';
import { epochSeconds } from '../../base/time.js';
import { createConnector } from '../connectors/operations/store.js';
import type { Deps } from '../deps.js';
import { defineOperation, reads } from '../operation.js';
import { makeColumn } from './columns.js';
import { nthId } from './record-ids.js';
import { readTable, rowsOf, toColumn, toTable, type StoredColumn, type TableDocument } from './record.js';
import { createRules, updateRules, writeRowsRules } from './rules.js';
import {
  Column,
  NewColumn,
  NewRecords,
  NewTable,
  Storage,
  Table,
  TableKey,
  TableList,
  TableNames,
  TableRecord,
} from './schemas.js';
import { systemColumns } from './system-columns.js';
export { tablesCollection } from './record.js';

export { deleteRecord, listRecords, readRecord, readTableRows, updateRecord } from './records.js';
export { deleteTable, removeTables } from './delete-table.js';
export { deleteColumn } from './remove-column.js';

export const listTables = defineOperation({
  name: 'table.list',
  ...reads,
  input: ListQuery,
  output: TableList,
  async run({ deps, ctx, input }) {
    const { tables } = deps.mongo.collections;
    const { data, ...page } = await listPage(tables, { projectID: ctx.principal.projectId }, input);
    return { ...page, tables: data.map(toTable) };
  },
});

export const listTableNames = defineOperation({
  name: 'table.list-names',
  ...reads,
  input: ListQuery,
  output: TableNames,
  async run({ deps, ctx, input }) {
    const { tables } = deps.mongo.collections;
    const { data, ...page } = await listPage(tables, { projectID: ctx.principal.projectId }, input);
    return { ...page, table_names: data.map(({ _id, table_name }) => ({ _id, table_name })) };
  },
});

export const prepareStorage = defineOperation({
  ...createRules,
  output: Storage,
  async run({ deps, ctx: { principal } }) {
    const projectID = principal.projectId;
    return { projectID, status: 'ready' as const, ...(await countUpTo(deps.mongo.collections.tables, { projectID })) };
  },
});

/**
 * Creates a table with the system columns, the given columns and its own connector.
 * Throws `conflict` for a duplicate table name or column name.
 */
export const createTable = defineOperation({
  ...createRules,
  input: NewTable,
  output: Table,
  errors: ['conflict', 'validation_failed', 'plan_limit'],
  async run({ deps, ctx: { principal, recordId: id }, input: { table_name, columns } }) {
    const { mongo, customers, auth } = deps;
    const allColumns = columns.reduce<Column[]>(
      (present, column) => [...present, makeColumn(column, present, [])],
      [...systemColumns],
    );
    const owner = {
      user_id: principal.userId,
      projectID: principal.projectId,
      organization_id: principal.organizationId,
    };
    const authority = authorityOf(principal);
    await customers.reserve(principal.organizationId, 'number_of_tables', id);
    const connector_id = nthId(id, 1);
    try {
      await rowsOf(mongo, id).createIndex({ row_id: 1 }, { unique: true });
      await createConnector(mongo.collections, auth.box, connector_id, {
        ...{
          category: 'restful' as const,
          status: 'active' as const,
          name: table_name,
          tags: ['table'],
          table_id: id,
          authority,
          ...owner,
        },
        ...{ triggers: [], actions: [], data_loader_config: { table_id: id }, config: {} },
      });
      const table = await insertOnce<TableDocument>(mongo.collections.tables, {
        _id: id,
        ...owner,
        table_name,
        columns: allColumns,
        connector_id,
        triggers: null,
        last_row_id: 0,
        ...{ row_count: 0, columns_version: 0, removing: [], retired_column_ids: [], pending: {}, intents: 0 },
        created_at: epochSeconds(),
      });
      return toTable(table);
    } catch (error) {
      await undoCreate(deps, principal.organizationId, id, connector_id);
      throw isDuplicateKey(error)
        ? new AppError('conflict', `table_name: the project already has a table ${JSON.stringify(table_name)}`, {
            cause: error,
          })
        : error;
    }
  },
});

/** Deletes the connector, quota and collection of a table that was not created. Does nothing if the table exists. */
async function undoCreate(
  { mongo, customers, log }: Deps,
  organizationId: string,
  id: string,
  connectorId: string,
): Promise<void> {
  try {
    if (await mongo.collections.tables.findOne({ _id: id })) return;
    await mongo.collections.connectors.deleteOne({ _id: connectorId });
    await customers.release(organizationId, 'number_of_tables', id);
    await rowsOf(mongo, id).drop();
  } catch (error) {
    log.warn({ err: error, table_id: id }, 'could not clean up after a failed table creation');
  }
}

const maxAttempts = 20;
/** For all columns of a table and the ids of deleted ones together, because each call reads them. */
const maxColumnsBytes = 1024 * 1024;

/** Existing records have no value for the column. Throws `conflict` if the table has a column with this name. */
export const addColumn = defineOperation({
  ...updateRules,
  key: TableKey,
  input: NewColumn,
  output: Column,
  errors: ['conflict', 'validation_failed'],
  async run({ deps: { mongo }, ctx: { principal, recordId }, key: { table_id }, input }) {
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const table = await readTable(mongo, principal.projectId, table_id);
      const present = table.columns.find((column) => column.key === recordId);
      if (present) return toColumn(present);
      const column: StoredColumn = { ...makeColumn(input, table.columns, table.retired_column_ids), key: recordId };
      const { retired_column_ids } = table;
      const bytes = BSON.calculateObjectSize({ columns: [...table.columns, column], retired_column_ids });
      if (bytes > maxColumnsBytes)
        throw new AppError('validation_failed', 'the columns of a table must not exceed 1 MiB in total');
      const unchanged = { _id: table_id, columns_version: table.columns_version };
      const { modifiedCount } = await mongo.collections.tables.updateOne(unchanged, {
        $push: { columns: column },
        $inc: { columns_version: 1 },
      });
      if (modifiedCount === 1) return toColumn(column);
    }
    throw new AppError('unavailable', 'too many concurrent changes to the columns of the table; try again');
  },
});

/** Inserts all records, or none. */
export const insertRecords = defineOperation({
  ...writeRowsRules,
  key: TableKey,
  input: NewRecords,
  output: z.union([TableRecord, z.array(TableRecord)]),
  errors: ['validation_failed', 'plan_limit'],
  async run({ deps, ctx: { principal, recordId, idempotencyKey }, key: { table_id }, input }) {
    const inserted = await deps.insertRows(table_id, {
      principal,
      records: Array.isArray(input) ? input : [input],
      recordId,
      repeatable: idempotencyKey !== undefined,
    });
    return Array.isArray(input) ? inserted : (inserted[0] as TableRecord);
  },
});
