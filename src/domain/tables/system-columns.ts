import { type Column } from './schemas.js';

const plain = { array_type: null, object_fields: null, triggers: null, enum_options: null };

/** The columns that every table has (specification, Table). */
export const systemColumns: readonly Column[] = [
  { column_name: '_id', column_type: 'string', column_id: '_id', default_value: null, ...plain },
  { column_name: 'Row ID', column_type: 'number', column_id: 'row_id', default_value: 1, ...plain },
  { column_name: 'User ID', column_type: 'string', column_id: 'coworker_user_id', default_value: null, ...plain },
];
export const systemIds = new Set(systemColumns.map(({ column_id }) => column_id));

export function isSystemColumn(columnId: string): boolean {
  return systemIds.has(columnId);
}

/** The problem of a `key` that is not a column_id of the table. */
export function unknownColumn(columns: Iterable<Column>, key: string): string {
  const named = [...columns].find(({ column_name }) => column_name === key);
  return named ? `is the name of a column; its column_id is ${named.column_id}` : 'is not a column of the table';
}
