import { useState } from 'react';
import { SelectField, TextField } from '../field.js';
import { JsonField, parsed } from '../json-field.js';
import { TableField } from '../tables/table-field.js';
import { isFields, text, type Fields } from './document.js';
import { ExpressionField } from './expression-field.js';
import { NumberField } from './number-field.js';
import type { StepValueOptions } from './step-fields.js';
import textStyles from '../styles/text.module.css';

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
      <TableField problem={problemOf('table_id')} value={text(items.table_id)} onChange={(id) => set('table_id', id)} />
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

interface FilterOptions {
  problem: string | undefined;
  value: unknown;
  onChange: (filter: unknown) => void;
}

/** A filter as JSON. While the text is no JSON, the step keeps the text, which the API refuses. */
function FilterField({ problem, value, onChange }: FilterOptions) {
  const [typed, setTyped] = useState(() => (isFields(value) ? JSON.stringify(value, null, 2) : text(value)));
  const read = filterIn(typed);
  const change = (next: string) => {
    setTyped(next);
    const changed = filterIn(next);
    onChange('problem' in changed ? next : changed.value);
  };
  const problems = 'problem' in read ? [read.problem] : problem === undefined ? [] : [{ message: problem }];
  return (
    <>
      <JsonField label="Filter" rows={4} text={typed} problems={problems} onChange={change} />
      <p className={textStyles.soft}>JSON, such as {'{"price": {"gte": 10}}'}. Leave empty for all rows.</p>
    </>
  );
}

const filterIn = (typed: string) => (typed.trim() === '' ? { value: undefined } : parsed(typed));
