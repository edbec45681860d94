import { ActionButton } from '../parts.js';
import { useEffect, useState } from 'react';
import type { Column } from '../api.js';
import { Form, TextField, SelectField } from '../field.js';
import { operators, operatorsOf, type Operator, type RowFilter } from './filter.js';
import formStyles from '../styles/form.module.css';

interface FilterOptions {
  columns: readonly Column[];
  filter: RowFilter;
  error: unknown;
  onChange: (filter: RowFilter) => void;
}

/** Returns the field for a path in a validation error, such as `filter.price.lt`. */
const nameOf = (path: string) => (/^filter\.[^.]+\./.test(path) ? 'value' : path.replace(/^filter.*/, 'column'));

/** Edits the one condition on the rows, which the URL contains. */
export function FilterBar({ columns, filter, error, onChange }: FilterOptions) {
  const [typed, setTyped] = useState(filter.value ?? '');
  useEffect(() => setTyped(filter.value ?? ''), [filter.value]);
  const column = columns.find(({ column_id }) => column_id === filter.column);
  const possible = column ? operatorsOf(column) : [];
  const op = filter.op !== undefined && possible.includes(filter.op) ? filter.op : possible[0];
  const order = filter.sort === undefined ? {} : { sort: filter.sort };
  const needsValue = op !== undefined && op !== 'exists' && op !== 'missing';
  const apply = (next: RowFilter) => onChange({ ...filter, ...next });
  return (
    <Form
      className={formStyles.filter}
      search="Filter the rows"
      error={error}
      nameOf={nameOf}
      onSubmit={() => void (op !== undefined && apply({ op, value: typed }))}
    >
      <SelectField
        label="Column"
        name="column"
        value={column?.column_id ?? ''}
        options={[
          { value: '', name: 'Any' },
          ...columns.map(({ column_id, column_name }) => ({ value: column_id, name: column_name })),
        ]}
        onChange={(value) => onChange(value === '' ? order : { ...order, column: value })}
      />
      {column && (
        <SelectField
          label="Condition"
          value={op ?? ''}
          options={possible.map((value) => ({ value, name: operators[value] }))}
          onChange={(value) => apply({ op: value as Operator })}
        />
      )}
      {needsValue && <TextField label="Value" name="value" text={typed} maxLength={500} onChange={setTyped} />}
      {needsValue && <button>Apply</button>}
      {column && <ActionButton name="Clear filter" onClick={() => onChange(order)} />}
    </Form>
  );
}
