import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { call } from '../api.js';
import { Field } from '../field.js';
import { Problem, useDraft, Window } from '../parts.js';
import { refusalByField } from '../refusal-by-field.js';
import { projectId } from '../session.js';
import { useSubmit } from '../use-submit.js';

const types = ['string', 'number', 'integer', 'boolean', 'date', 'enum', 'array', 'object'] as const;
type ColumnType = (typeof types)[number];

interface NewColumn {
  name: string;
  type: ColumnType;
  /** Of an `enum`, one a line. */
  options: string;
}

interface NewTable {
  name: string;
  columns: readonly NewColumn[];
}

const emptyColumn: NewColumn = { name: '', type: 'string', options: '' };

/** A dialog that makes a table with its columns, and then opens it. */
export function CreateTable({ onClose }: { onClose: () => void }) {
  const [stored, store] = useDraft('tables.new');
  const table = stored === '' ? { name: '', columns: [emptyColumn] } : (JSON.parse(stored) as NewTable);
  const { name, columns } = table;
  const change = (next: Partial<NewTable>) => store(JSON.stringify({ ...table, ...next }));
  const { error, isBusy, submit } = useCreate(table, () => store(''));
  const { fields: problems, top } = refusalByField(error, (path) => fieldOf(path, columns.length));
  const set = (at: number, next: Partial<NewColumn>) =>
    change({ columns: columns.map((column, other) => (other === at ? { ...column, ...next } : column)) });
  return (
    <Window title="New table" onClose={onClose}>
      <Problem error={top} />
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <Field label="Name" problem={problems.table_name}>
          {(given) => (
            <input {...given} value={name} autoFocus onChange={(event) => change({ name: event.target.value })} />
          )}
        </Field>
        {columns.map((column, at) => (
          <ColumnFields
            // Columns have no other identity than their place.
            key={at}
            number={at + 1}
            column={column}
            problems={{ name: problems[`${at}.column_name`], options: problems[`${at}.enum_options`] }}
            onChange={(next) => set(at, next)}
            onRemove={() => change({ columns: columns.filter((_, other) => other !== at) })}
          />
        ))}
        <p className="actions">
          <button type="button" onClick={() => change({ columns: [...columns, emptyColumn] })}>
            Add a column
          </button>
          <button className="primary" disabled={isBusy}>
            Create the table
          </button>
        </p>
      </form>
    </Window>
  );
}

interface ColumnOptions {
  number: number;
  column: NewColumn;
  problems: { name: string | undefined; options: string | undefined };
  onChange: (next: Partial<NewColumn>) => void;
  onRemove: () => void;
}

function ColumnFields({ number, column: { name, type, options }, problems, onChange, onRemove }: ColumnOptions) {
  const label = `Column ${number}`;
  return (
    <fieldset>
      <legend>{label}</legend>
      <Field label={`Name of column ${number}`} problem={problems.name}>
        {(given) => <input {...given} value={name} onChange={(event) => onChange({ name: event.target.value })} />}
      </Field>
      <label>
        Type of column {number}
        <select value={type} onChange={(event) => onChange({ type: event.target.value as ColumnType })}>
          {types.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
      {type === 'enum' && (
        <Field label={`Values of column ${number}`} hint="One a line." problem={problems.options}>
          {(given) => (
            <textarea
              {...given}
              rows={3}
              value={options}
              onChange={(event) => onChange({ options: event.target.value })}
            />
          )}
        </Field>
      )}
      <button type="button" className="plain" onClick={onRemove}>
        Remove column {number}
      </button>
    </fieldset>
  );
}

/** `columns.2.enum_options` is `2.enum_options`. */
function fieldOf(path: string, count: number): string | undefined {
  if (path === 'table_name') return path;
  const [, at, field = 'column_name'] = /^columns\.(\d+)(?:\.(column_name|enum_options).*)?$/.exec(path) ?? [];
  return at !== undefined && Number(at) < count ? `${at}.${field}` : undefined;
}

const linesOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

function useCreate({ name, columns }: NewTable, forget: () => void) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  return useSubmit(async (options) => {
    const body = {
      table_name: name,
      columns: columns.map(({ name: column_name, type: column_type, options }) => ({
        ...{ column_name, column_type },
        ...(column_type === 'enum' && { enum_options: linesOf(options) }),
      })),
    };
    const { _id: tableId } = await call('post', '/storage/{projectID}/table', { body }, options);
    forget();
    void queries.invalidateQueries({ queryKey: ['tables'] });
    await navigate({ to: '/projects/$projectId/tables/$tableId', params: { projectId, tableId } });
  });
}
