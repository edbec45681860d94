import { z } from 'zod';
import { defineRoute, type Route } from '../../../http/define-route.js';
import { listPage, listOf, ListQuery } from '../../../http/lists.js';
import { createRowInserter } from './insert.js';
import { deleteRecord, listRecords, readRecord, updateRecord } from './records.js';
import { removeColumn } from './remove-column.js';
import { Column, NewColumn, NewRecords, NewTable, RecordQuery, RecordValues, Storage, Table, TableList, TableNames, TableRecord } from './schemas.js';
import { addColumn, createTable, listTables, type TableDeps } from './store.js';

const tag = 'tables';
const reads = 'svc:orchestrate.read';
const changes = 'svc:orchestrate.write';
const projectParams = z.object({ projectID: z.string() });
const tableParams = projectParams.extend({ table_id: z.string().max(100) });
const recordParams = tableParams.extend({ record_id: z.string().max(100) });
const query = z.object({ projectID: z.string().optional() });
const pageQuery = ListQuery.extend(query.shape);

const ColumnReference = z
  .strictObject({ table_id: z.string().max(100), column_id: z.string().max(100), projectID: z.string().optional() })
  .meta({ id: 'ColumnReference', example: { table_id: '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10', column_id: 'price' } });

/** Tables with their columns and records (specification, Table; contract, tables). */
export function tableRoutes(deps: TableDeps): Route[] {
  return [...storageRoutes(deps), tableCreation(deps), ...columnRoutes(deps), ...rowRoutes(deps), ...recordRoutes(deps)];
}

function storageRoutes({ mongo }: TableDeps): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/storage/{projectID}',
      permission: reads,
      tag,
      params: projectParams,
      query: pageQuery,
      summary: 'List tables, newest first',
      response: { schema: TableList, description: 'One page of tables.' },
      handler: ({ ctx, query }) => listTables(mongo, ctx.principal.projectId, query),
    }),
    defineRoute({
      method: 'post',
      path: '/storage/{projectID}/database',
      permission: changes,
      tag,
      params: projectParams,
      query,
      summary: 'Prepare the storage of a project',
      description: 'May be repeated: a project has one storage.',
      response: { schema: Storage, description: 'The storage, ready for tables.' },
      idempotent: true,
      handler: async ({ ctx: { principal } }) => {
        const total_count = await mongo.collections.tables.countDocuments({ projectID: principal.projectId });
        return { projectID: principal.projectId, status: 'ready', total_count };
      },
    }),
    defineRoute({
      method: 'get',
      path: '/storage/{projectID}/table_names',
      permission: reads,
      tag,
      params: projectParams,
      query: pageQuery,
      summary: 'List the names of tables, newest first',
      response: { schema: TableNames, description: 'One page of names.' },
      handler: async ({ ctx: { principal }, query }) => {
        const { data, ...page } = await listPage(mongo.collections.tables, { projectID: principal.projectId }, query);
        return { ...page, table_names: data.map(({ _id, table_name }) => ({ _id, table_name })) };
      },
    }),
  ];
}

function tableCreation(deps: TableDeps): Route {
  return defineRoute({
    method: 'post',
    path: '/storage/{projectID}/table',
    permission: changes,
    tag,
    params: projectParams,
    query,
    summary: 'Create a table',
    description: 'With three system columns beside those given, and a connector of its own. Each table name is used once in a project.',
    body: NewTable,
    response: { status: 201, schema: Table, description: 'The table.' },
    errors: ['conflict', 'validation_failed', 'plan_limit'],
    idempotent: true,
    handler: ({ ctx, body }) => createTable(deps, ctx.principal, body, ctx.recordId),
  });
}

function columnRoutes(deps: TableDeps): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/storage/{projectID}/table/{table_id}/column',
      permission: changes,
      tag,
      params: tableParams,
      query,
      summary: 'Add a column',
      description: 'Its column_id is made of its name and never changes. Records that are there have no value in it.',
      body: NewColumn,
      response: { status: 201, schema: Column, description: 'The column.' },
      errors: ['conflict', 'validation_failed'],
      idempotent: true,
      handler: ({ ctx, params: { table_id }, body }) => addColumn(deps, ctx.principal, table_id, body, ctx.recordId),
    }),
    defineRoute({
      method: 'delete',
      path: '/delete/column/{projectID}',
      permission: changes,
      tag,
      params: projectParams,
      query: z.object({ projectId: z.string().optional() }),
      summary: 'Delete a column and its data in every record',
      description: 'Irreversible. The column is gone at once; on a large table a workflow removes the data.',
      body: ColumnReference,
      response: { schema: z.string().meta({ example: 'Column price is deleted' }), description: 'Says that the column is deleted.' },
      errors: ['not_found', 'validation_failed'],
      handler: ({ ctx, body: { table_id, column_id } }) => removeColumn(deps, ctx.principal, table_id, column_id),
    }),
  ];
}

function rowRoutes({ mongo, customers }: TableDeps): Route[] {
  const insertRows = createRowInserter({ mongo, customers });
  return [
    defineRoute({
      method: 'post',
      path: '/storage/{projectID}/table/{table_id}/row',
      permission: changes,
      tag,
      params: tableParams,
      query,
      summary: 'Insert one record or up to 1,000',
      description: 'All of them or none. Each gets the next row_id; no number is left out or used again.',
      body: NewRecords,
      response: { status: 201, schema: z.union([TableRecord, z.array(TableRecord)]), description: 'The record, or the records in their order.' },
      errors: ['validation_failed', 'plan_limit'],
      idempotent: true,
      handler: async ({ ctx: { principal, recordId, idempotencyKey }, params: { table_id }, body }) => {
        const records = Array.isArray(body) ? body : [body];
        const inserted = await insertRows(table_id, { principal, records, recordId, repeatable: idempotencyKey !== undefined });
        return Array.isArray(body) ? inserted : inserted[0];
      },
    }),
    defineRoute({
      method: 'get',
      path: '/storage/{projectID}/table/{table_id}/records',
      permission: reads,
      tag,
      params: tableParams,
      query: RecordQuery,
      summary: 'List records, newest first unless sorted',
      response: { schema: listOf(TableRecord), description: 'One page of records.' },
      handler: ({ ctx, params: { table_id }, query }) => listRecords(mongo, ctx.principal, table_id, query),
    }),
  ];
}

function recordRoutes({ mongo }: TableDeps): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/storage/{projectID}/table/{table_id}/records/{record_id}',
      permission: reads,
      tag,
      params: recordParams,
      query,
      summary: 'Read a record',
      response: { schema: TableRecord, description: 'The record.' },
      handler: ({ ctx, params: { table_id, record_id } }) => readRecord(mongo, ctx.principal, table_id, record_id),
    }),
    defineRoute({
      method: 'put',
      path: '/storage/{projectID}/table/{table_id}/records/{record_id}',
      permission: changes,
      tag,
      params: recordParams,
      query,
      summary: 'Write a record',
      description: 'Writes the columns given and leaves the others; null takes a value away.',
      body: RecordValues,
      response: { schema: TableRecord, description: 'The record as written.' },
      errors: ['validation_failed'],
      handler: ({ ctx, params: { table_id, record_id }, body }) => updateRecord(mongo, ctx.principal, table_id, record_id, body),
    }),
    defineRoute({
      method: 'delete',
      path: '/storage/{projectID}/table/{table_id}/records/{record_id}',
      permission: changes,
      tag,
      params: recordParams,
      query,
      summary: 'Delete a record',
      response: { schema: TableRecord, description: 'The last record. Its row_id is not used again.' },
      handler: ({ ctx, params: { table_id, record_id } }) => deleteRecord(mongo, ctx.principal, table_id, record_id),
    }),
  ];
}
