import { useEffect, useState } from 'react';
import type { Column } from '../api.js';
import { Field, Form, TextField } from '../field.js';
import { operators, operatorsOf, type Operator, type RowFilter } from './filter.js';

interface FilterOptions {
  columns: readonly Column[];
  filter: RowFilter;
  /** The error of the rows. */
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
      className="filter"
      search="Filter the rows"
      error={error}
      nameOf={nameOf}
      onSubmit={() => void (op !== undefined && apply({ op, value: typed }))}
    >
      <Field label="Column" name="column">
        {(control) => (
          <select
            {...control}
            value={column?.column_id ?? ''}
            onChange={({ target: { value } }) => onChange(value === '' ? order : { ...order, column: value })}
          >
            <option value="">Any</option>
            {columns.map(({ column_id, column_name }) => (
              <option key={column_id} value={column_id}>
                {column_name}
              </option>
            ))}
          </select>
        )}
      </Field>
      {column && (
        <Field label="Condition">
          {(control) => (
            <select {...control} value={op} onChange={(event) => apply({ op: event.target.value as Operator })}>
              {possible.map((name) => (
                <option key={name} value={name}>
                  {operators[name]}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      {needsValue && <TextField label="Value" name="value" text={typed} maxLength={500} onChange={setTyped} />}
      {needsValue && <button>Apply</button>}
      {column && (
        <button type="button" onClick={() => onChange(order)}>
          {' '}
          Clear filter{' '}
        </button>
      )}
    </Form>
  );
}
