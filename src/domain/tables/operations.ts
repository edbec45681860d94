import { BSON } from 'mongodb';
import { z } from 'zod';
import { AppError } from '../../errors.js';
import { countUpTo, listOf, listPage, ListQuery } from '../../stores/lists.js';
import { insertOnce } from '../../stores/insert-once.js';
import { isDuplicateKey, type Mongo } from '../../stores/mongo.js';
import { epochSeconds } from '../../time.js';
import { createConnector } from '../connectors/operations/store.js';
import type { Deps } from '../deps.js';
import { defineOperation, reads } from '../operation.js';
import { makeColumn } from './columns.js';
import { nthId } from './record-ids.js';
import { readTable, rowsOf, toColumn, toTable, type StoredColumn, type TableDocument } from './record.js';
import * as records from './records.js';
import { createRules, updateRules, writeRowsRules } from './rules.js';
import {
  Column,
  ExpectedValues,
  NewColumn,
  NewRecords,
  NewTable,
  RecordQuery,
  RecordValues,
  Storage,
  Table,
  TableList,
  TableNames,
  TableRecord,
} from './schemas.js';
import { systemColumns } from './system-columns.js';
import { withAbandonedFinished } from './pending.js';
import { toRecord } from './records.js';
import type { RowReference } from '../../../workflows/coworker-run/activities.js';
import { Id } from '../../ids.js';
export { tablesCollection } from './record.js';

export { deleteTable, removeTables } from './delete-table.js';
export { deleteColumn } from './remove-column.js';

const ofTable = z.object({ table_id: Id.max(100) });
const ofRecord = ofTable.extend({ record_id: Id.max(100) });

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
/** For all columns of a table together, because each call reads them. */
const maxColumnsBytes = 1024 * 1024;

/** Existing records have no value for the column. Throws `conflict` if the table has a column with this name. */
export const addColumn = defineOperation({
  ...updateRules,
  key: ofTable,
  input: NewColumn,
  output: Column,
  errors: ['conflict', 'validation_failed'],
  async run({ deps: { mongo }, ctx: { principal, recordId }, key: { table_id }, input }) {
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const table = await readTable(mongo, principal.projectId, table_id);
      const present = table.columns.find((column) => column.key === recordId);
      if (present) return toColumn(present);
      const column: StoredColumn = { ...makeColumn(input, table.columns, table.retired_column_ids), key: recordId };
      const bytes = BSON.calculateObjectSize({ columns: [...table.columns, column] });
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
  key: ofTable,
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

export const listRecords = defineOperation({
  name: 'table.list-records',
  ...reads,
  key: ofTable,
  input: RecordQuery,
  output: listOf(TableRecord),
  run: ({ deps, ctx, key, input }) => records.listRecords(deps.mongo, ctx.principal, key.table_id, input),
});

export const readRecord = defineOperation({
  name: 'table.read-record',
  ...reads,
  key: ofRecord,
  output: TableRecord,
  run: ({ deps, ctx, key }) => records.readRecord(deps.mongo, ctx.principal, key.table_id, key.record_id),
});

/** Throws `conflict` if `expected` is given and the record has other values. */
export const updateRecord = defineOperation({
  ...writeRowsRules,
  key: ofRecord.extend({ expected: ExpectedValues }),
  input: RecordValues,
  output: TableRecord,
  errors: ['validation_failed', 'conflict'],
  run: ({ deps, ctx, key, input }) => records.updateRecord(deps.mongo, ctx.principal, key, input),
});

export const deleteRecord = defineOperation({
  ...writeRowsRules,
  key: ofRecord,
  output: TableRecord,
  run: ({ deps, ctx, key }) => records.deleteRecord(deps.mongo, ctx.principal, key.table_id, key.record_id),
});

/**
 * Reads rows of a table by ascending `row_id`. The values are keyed by column id and by column name; missing values are
 * null.
 * @throws AppError `not_found` if the project does not have the table
 */
export async function readTableRows(
  mongo: Mongo,
  projectId: string,
  tableId: string,
  after: number,
  limit: number,
): Promise<RowReference[]> {
  const read = () => readTable(mongo, projectId, tableId);
  const table = await withAbandonedFinished(mongo, await read(), read);
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
