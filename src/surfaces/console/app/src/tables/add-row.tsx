import { call, type Column, type Table } from '../api.js';
import { Field } from '../field.js';
import { Problem, useDrafts, Window } from '../parts.js';
import { refusalByField } from '../refusal-by-field.js';
import { useSubmit } from '../use-submit.js';
import { ownColumns, valueOf } from './values.js';

interface AddOptions {
  table: Table;
  onClose: () => void;
  onDone: () => void;
}

export function AddRow({ table: { _id: id, table_name, columns }, onClose, onDone }: AddOptions) {
  const { drafts, set, clear } = useDrafts(`table.${id}.row`);
  const own = ownColumns(columns);
  const isOwn = (name: string) => own.some(({ column_id }) => column_id === name);
  const { error, isBusy, submit } = useSubmit(async (options) => {
    // A column that is left empty gets its default value.
    const given = own.flatMap((column) => {
      const text = drafts[column.column_id] ?? '';
      return text === '' ? [] : [[column.column_id, valueOf(column, text)]];
    });
    const body = Object.fromEntries(given) as Record<string, unknown>;
    await call('post', '/storage/{projectID}/table/{table_id}/row', { params: { table_id: id }, body }, options);
    clear();
    onClose();
    onDone();
  });
  const { fields: problems, top } = refusalByField(error, (path) => (isOwn(path) ? path : undefined));
  return (
    <Window title={`Add a row to ${table_name}`} onClose={onClose}>
      <Problem error={top} />
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        {own.map((column) => {
          const { column_id: name, column_name, default_value: ofDefault } = column;
          return (
            <Field key={name} label={`${column_name} (${typeText(column)})`} problem={problems[name]}>
              {(given) => (
                <input
                  {...given}
                  value={drafts[name] ?? ''}
                  placeholder={ofDefault === null || ofDefault === undefined ? '' : JSON.stringify(ofDefault)}
                  onChange={(event) => set(name, event.target.value)}
                />
              )}
            </Field>
          );
        })}
        <p className="actions">
          <button className="primary" disabled={isBusy}>
            Add the row
          </button>
        </p>
      </form>
    </Window>
  );
}

function typeText({ column_type, enum_options }: Column): string {
  if (column_type === 'date') return 'date, for example 2026-11-23';
  if (column_type === 'array' || column_type === 'object') return `${column_type}, as JSON`;
  return enum_options ? enum_options.map(String).join(', ') : column_type;
}
