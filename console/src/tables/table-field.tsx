import { SelectField } from '../field.js';
import { useTableNames } from './use-table-names.js';

interface TableFieldOptions {
  /** The path of the value in the request of the enclosing form. */
  name?: string;
  problem?: string | undefined;
  /** The id of the chosen table; empty if none is chosen. */
  value: string;
  onChange: (id: string) => void;
}

/** Chooses one of the tables of the project. */
export function TableField({ value, ...field }: TableFieldOptions) {
  const { data: tables = [] } = useTableNames();
  return (
    <SelectField
      label="Table"
      {...field}
      value={value}
      options={[
        ...(value === '' ? [{ value: '', name: 'Select a table' }] : []),
        ...tables.map(({ _id, table_name }) => ({ value: _id, name: table_name })),
      ]}
    />
  );
}
