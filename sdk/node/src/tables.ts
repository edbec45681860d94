import { createTablesMethods, type Send, type TablesMethods } from './methods.js';
import type { Page, PageQuery } from './page.js';
import type { CallOptions } from './transport.js';
import type { RowValues, Schemas, Table, TableRecord } from './types.js';

/** The records to list. */
export interface RecordsQuery extends PageQuery {
  /** `{column_id: value}` or `{column_id: {gte: 10}}`. */
  filter?: object;
  /** A column_id; the prefix `-` sorts in descending order. */
  sort?: string;
}

/** Calls about tables and their records. */
export interface Tables extends TablesMethods {
  /**
   * Lists the tables of the project.
   * @param query - Which page.
   * @param options - The options of this call.
   */
  list(query?: PageQuery, options?: CallOptions): Promise<Page<Table>>;
  /**
   * Deletes a column and its values in every record. This cannot be undone.
   * @param id - The id of the table.
   * @param columnId - The id of the column.
   * @param options - The options of this call.
   */
  deleteColumn(id: string, columnId: string, options?: CallOptions): Promise<string>;
  /**
   * Inserts one record.
   * @param id - The id of the table.
   * @param row - Values by column_id.
   * @param options - The options of this call.
   */
  insertRow(id: string, row: RowValues, options?: CallOptions): Promise<TableRecord>;
  /**
   * Inserts 1 to 1,000 records, either all or none.
   * @param id - The id of the table.
   * @param rows - The values of each record by column_id.
   * @param options - The options of this call.
   */
  insertRows(id: string, rows: RowValues[], options?: CallOptions): Promise<TableRecord[]>;
  /**
   * Lists the records of a table.
   * @param id - The id of the table.
   * @param query - Which records, in which order, and which page of them.
   * @param options - The options of this call.
   */
  records(id: string, query?: RecordsQuery, options?: CallOptions): Promise<Page<TableRecord>>;
}

export function createTables(send: Send): Tables {
  const at = (id: string) => ({ params: { table_id: id } });
  const rows = '/storage/{projectID}/table/{table_id}/row';
  return {
    ...createTablesMethods(send),
    async list(query = {}, options) {
      const answer = await send<Schemas['TableList']>('get', '/storage/{projectID}', { query: { ...query } }, options);
      const { tables, ...page } = answer;
      return { data: tables, ...page };
    },
    deleteColumn: (id, columnId, options) =>
      send('delete', '/delete/column/{projectID}', { body: { table_id: id, column_id: columnId } }, options),
    insertRow: (id, row, options) => send('post', rows, { ...at(id), body: row }, options),
    insertRows: (id, row, options) => send('post', rows, { ...at(id), body: row }, options),
    records: (id, { filter, ...query } = {}, options) =>
      send(
        'get',
        '/storage/{projectID}/table/{table_id}/records',
        { ...at(id), query: { ...query, ...(filter && { filter: JSON.stringify(filter) }) } },
        options,
      ),
  };
}
