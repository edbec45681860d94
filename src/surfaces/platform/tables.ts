import * as tables from '../../domain/tables/operations.js';
import { routesOf, type Route } from '../rest/define-route.js';

const route = routesOf('tables');

/** Tables with columns and records (specification, Table; contract, tables). */
export const tableRoutes: readonly Route[] = [
  route('GET /storage/{projectID}', tables.listTables, {
    summary: 'List tables, newest first',
    response: { description: 'One page of tables.' },
  }),
  route('POST /storage/{projectID}/database', tables.prepareStorage, {
    summary: 'Prepare the storage of a project',
    description: 'Idempotent: a project has one storage.',
    response: { description: 'The storage, ready for tables.' },
    idempotent: true,
  }),
  route('GET /storage/{projectID}/table_names', tables.listTableNames, {
    summary: 'List the names of tables, newest first',
    response: { description: 'One page of names.' },
  }),
  route('POST /storage/{projectID}/table', tables.createTable, {
    summary: 'Create a table',
    description:
      'Creates the table with three system columns in addition to the given columns, and with its own connector. Table names are unique within a project.',
    response: { status: 201, description: 'The table.' },
    idempotent: true,
  }),
  route('DELETE /storage/{projectID}/table/{table_id}', tables.deleteTable, {
    summary: 'Delete a table with its rows and its connector',
    response: { description: 'The deleted table.' },
  }),
  route('POST /storage/{projectID}/table/{table_id}/column', tables.addColumn, {
    summary: 'Add a column',
    description:
      'The column_id is derived from the name and never changes. Existing records have no value for the column.',
    response: { status: 201, description: 'The column.' },
    idempotent: true,
  }),
  route('DELETE /delete/column/{projectID}', tables.deleteColumn, {
    summary: 'Delete a column and its data in every record',
    description: 'Irreversible. The column is removed immediately; for a large table, a workflow removes the data.',
    response: { description: 'A confirmation.' },
  }),
  route('POST /storage/{projectID}/table/{table_id}/row', tables.insertRecords, {
    summary: 'Insert up to 1,000 records',
    description: 'Inserts all records, or none. Each record gets the next row_id, without gaps or reuse.',
    response: { status: 201, description: 'The record, or the records in the order of the request.' },
    idempotent: true,
  }),
  route('GET /storage/{projectID}/table/{table_id}/records', tables.listRecords, {
    summary: 'List records, newest first unless sorted',
    response: { description: 'One page of records.' },
  }),
  route('GET /storage/{projectID}/table/{table_id}/records/{record_id}', tables.readRecord, {
    summary: 'Read a record',
    response: { description: 'The record.' },
  }),
  route('PUT /storage/{projectID}/table/{table_id}/records/{record_id}', tables.updateRecord, {
    summary: 'Update a record',
    description:
      'Changes the given columns only. null removes a value. With `expected`, a change by somebody else in between is not overwritten.',
    response: { description: 'The updated record.' },
  }),
  route('DELETE /storage/{projectID}/table/{table_id}/records/{record_id}', tables.deleteRecord, {
    summary: 'Delete a record',
    response: { description: 'The last record. Its row_id is not reused.' },
  }),
];
