import { useEffect, useState } from 'react';
import type { Column } from '../api.js';
import { operators, operatorsOf, type Operator, type RowFilter } from './filter.js';

interface FilterOptions {
  columns: readonly Column[];
  filter: RowFilter;
  onChange: (filter: RowFilter) => void;
}

/** One condition on the rows. The address keeps it. */
export function FilterBar({ columns, filter, onChange }: FilterOptions) {
  const [typed, setTyped] = useState(filter.value ?? '');
  useEffect(() => setTyped(filter.value ?? ''), [filter.value]);
  const column = columns.find(({ column_id }) => column_id === filter.column);
  const possible = column ? operatorsOf(column) : [];
  const op = filter.op !== undefined && possible.includes(filter.op) ? filter.op : possible[0];
  const order = filter.sort === undefined ? {} : { sort: filter.sort };
  const needsValue = op !== undefined && op !== 'exists' && op !== 'missing';
  const apply = (next: RowFilter) => onChange({ ...filter, ...next });
  return (
    <form
      className="filter"
      role="search"
      aria-label="Filter the rows"
      onSubmit={(event) => {
        event.preventDefault();
        if (op !== undefined) apply({ op, value: typed });
      }}
    >
      <label>
        Column
        <select
          value={column?.column_id ?? ''}
          onChange={({ target: { value } }) => onChange(value === '' ? order : { ...order, column: value })}
        >
          <option value="">any</option>
          {columns.map(({ column_id, column_name }) => (
            <option key={column_id} value={column_id}>
              {column_name}
            </option>
          ))}
        </select>
      </label>
      {column && (
        <label>
          Condition
          <select value={op} onChange={(event) => apply({ op: event.target.value as Operator })}>
            {possible.map((name) => (
              <option key={name} value={name}>
                {operators[name]}
              </option>
            ))}
          </select>
        </label>
      )}
      {needsValue && (
        <label className="wide">
          Value
          <input value={typed} maxLength={500} onChange={(event) => setTyped(event.target.value)} />
        </label>
      )}
      {needsValue && <button>Show</button>}
      {column && (
        <button type="button" onClick={() => onChange(order)}>
          Show all
        </button>
      )}
    </form>
  );
}
