import { useNavigate } from '@tanstack/react-router';
import { call } from '../api.js';
import { Confirm } from '../confirm.js';
import { TextField, SelectField } from '../field.js';
import { ActionButton } from '../parts.js';
import { useJsonDraft } from '../use-draft.js';
import buttonStyles from '../styles/button.module.css';

const types = ['string', 'number', 'integer', 'boolean', 'date', 'enum', 'array', 'object'] as const;
type ColumnType = (typeof types)[number];

interface NewColumn {
  name: string;
  type: ColumnType;
  /** The options of an `enum`, one per line. */
  options: string;
}

interface NewTable {
  name: string;
  columns: readonly NewColumn[];
}

const emptyColumn: NewColumn = { name: '', type: 'string', options: '' };

export function CreateTable({ onClose }: { onClose: () => void }) {
  const [draft, store] = useJsonDraft<NewTable>('tables.new');
  const { name = '', columns = [emptyColumn] } = draft;
  const table = { name, columns };
  const change = (next: Partial<NewTable>) => store({ ...table, ...next });
  const set = (at: number, next: Partial<NewColumn>) =>
    change({ columns: columns.map((column, other) => (other === at ? { ...column, ...next } : column)) });
  const navigate = useNavigate();
  return (
    <Confirm
      title="New table"
      action="Create table"
      act={(options) => call('post', '/storage/{projectID}/table', { body: bodyOf(table) }, options)}
      nameOf={nameOf}
      invalidates={[['tables']]}
      onDone={({ _id: tableId }) => {
        store({});
        void navigate({ to: '/tables/$tableId', params: { tableId } });
      }}
      onClose={onClose}
      tools={<ActionButton name="Add column" onClick={() => change({ columns: [...columns, emptyColumn] })} />}
    >
      <TextField label="Name" name="table_name" text={name} autoFocus onChange={(next) => change({ name: next })} />
      {columns.map((column, at) => (
        <ColumnFields
          // A column has no identity except its position.
          key={at}
          number={at + 1}
          column={column}
          onChange={(next) => set(at, next)}
          onRemove={() => change({ columns: columns.filter((_, other) => other !== at) })}
        />
      ))}
    </Confirm>
  );
}

interface ColumnOptions {
  number: number;
  column: NewColumn;
  onChange: (next: Partial<NewColumn>) => void;
  onRemove: () => void;
}

function ColumnFields({ number, column: { name, type, options }, onChange, onRemove }: ColumnOptions) {
  const path = `columns.${number - 1}`;
  return (
    <fieldset>
      <legend>Column {number}</legend>
      <TextField
        label={`Name of column ${number}`}
        name={`${path}.column_name`}
        text={name}
        onChange={(next) => onChange({ name: next })}
      />
      <SelectField
        label={`Type of column ${number}`}
        value={type}
        options={types.map((value) => ({ value }))}
        onChange={(next) => onChange({ type: next as ColumnType })}
      />
      {type === 'enum' && (
        <TextField
          label={`Values of column ${number}`}
          name={`${path}.enum_options`}
          hint="One per line."
          rows={3}
          text={options}
          onChange={(next) => onChange({ options: next })}
        />
      )}
      <ActionButton name={`Remove column ${number}`} className={buttonStyles.plain} onClick={onRemove} />
    </fieldset>
  );
}

/** An error in any other part of a column is shown at the field of its name. */
const nameOf = (path: string) => path.replace(/^(columns\.\d+)(?!\d|\.enum_options).*$/s, '$1.column_name');

const linesOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

const bodyOf = ({ name, columns }: NewTable) => ({
  table_name: name,
  columns: columns.map(({ name: column_name, type: column_type, options }) => ({
    ...{ column_name, column_type },
    ...(column_type === 'enum' && { enum_options: linesOf(options) }),
  })),
});
