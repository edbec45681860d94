import { useState } from 'react';
import { SelectField, TextField } from '../field.js';
import { useTableNames } from '../tables/use-table-names.js';
import { isFields, text, type Fields } from './document.js';
import { ExpressionField } from './expression-field.js';
import { NumberField } from './number-field.js';
import type { StepValueOptions } from './step-fields.js';

/** Edits the items of a `map`: an expression, or the rows of a table. */
export function ItemsField({ step, problemOf, onChange }: StepValueOptions) {
  const { items } = step;
  const set = (value: unknown) => onChange({ ...step, items: value });
  return (
    <>
      <SelectField
        label="Items"
        value={isFields(items) ? 'rows' : 'list'}
        options={[
          { value: 'list', name: 'A list' },
          { value: 'rows', name: 'Rows of a table' },
        ]}
        onChange={(chosen) => set(chosen === 'rows' ? { table_id: '' } : '')}
      />
      {isFields(items) ? (
        <RowFields items={items} problemOf={(path) => problemOf(`items.${path}`)} onChange={set} />
      ) : (
        <ExpressionField
          label="List"
          hint="At most 100,000 items."
          problem={problemOf('items')}
          value={items}
          onChange={set}
        />
      )}
    </>
  );
}

interface RowOptions extends Pick<StepValueOptions, 'problemOf'> {
  items: Fields;
  onChange: (items: Fields) => void;
}

function RowFields({ items, problemOf, onChange }: RowOptions) {
  const set = (name: string, value: unknown) => {
    const { [name]: _before, ...rest } = items;
    onChange(value === undefined ? rest : { ...rest, [name]: value });
  };
  return (
    <>
      <TableField problem={problemOf('table_id')} value={items.table_id} onChange={(id) => set('table_id', id)} />
      <FilterField
        key={text(items.table_id)}
        problem={problemOf('filter')}
        value={items.filter}
        onChange={(filter) => set('filter', filter)}
      />
      <TextField
        label="Order"
        hint="A column id, with - before it for descending order. Default: row_id."
        problem={problemOf('sort')}
        text={text(items.sort)}
        onChange={(sort) => set('sort', sort || undefined)}
      />
      <NumberField
        label="Maximum rows"
        hint="Leave empty for all rows, at most 100,000."
        problem={problemOf('limit')}
        value={items.limit}
        onChange={(limit) => set('limit', limit)}
      />
    </>
  );
}

interface ValueOptions {
  problem: string | undefined;
  value: unknown;
}

function TableField({ problem, value, onChange }: ValueOptions & { onChange: (id: string) => void }) {
  const { data: tables = [] } = useTableNames();
  return (
    <SelectField
      label="Table"
      problem={problem}
      value={text(value)}
      options={[
        { value: '', name: 'Select a table' },
        ...tables.map(({ _id, table_name }) => ({ value: _id, name: table_name })),
      ]}
      onChange={onChange}
    />
  );
}

/** A filter as JSON. While the text is no JSON, the step keeps the text, which the API refuses. */
function FilterField({ problem, value, onChange }: ValueOptions & { onChange: (filter: unknown) => void }) {
  const [typed, setTyped] = useState(() => (isFields(value) ? JSON.stringify(value) : text(value)));
  const change = (next: string) => {
    setTyped(next);
    onChange(next.trim() === '' ? undefined : filterIn(next));
  };
  return (
    <TextField
      label="Filter"
      hint='JSON, such as {"price": {"gte": 10}}. Leave empty for all rows.'
      problem={problem}
      text={typed}
      onChange={change}
      spellCheck={false}
    />
  );
}

function filterIn(typed: string): unknown {
  try {
    return JSON.parse(typed) as unknown;
  } catch {
    return typed;
  }
}
