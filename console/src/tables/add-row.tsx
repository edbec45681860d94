import { call, type Column, type Table } from '../api.js';
import { Confirm } from '../confirm.js';
import { TextField } from '../field.js';
import { useDrafts } from '../use-draft.js';
import { fillableColumns, valueOf } from './values.js';

interface AddOptions {
  table: Table;
  onClose: () => void;
  onDone: () => void;
}

export function AddRow({ table: { _id: id, table_name, columns }, onClose, onDone }: AddOptions) {
  const { drafts, set, clear } = useDrafts(`table.${id}.row`);
  const fillable = fillableColumns(columns);
  const act = async (options: { idempotencyKey: string }) => {
    // The API sets the default value of an empty column.
    const filled = fillable.flatMap((column) => {
      const text = drafts[column.column_id] ?? '';
      return text === '' ? [] : [[column.column_id, valueOf(column, text)]];
    });
    const body = Object.fromEntries(filled) as Record<string, unknown>;
    await call('post', '/storage/{projectID}/table/{table_id}/row', { params: { table_id: id }, body }, options);
    clear();
  };
  return (
    <Confirm title={`Add row to ${table_name}`} action="Add row" act={act} onDone={onDone} onClose={onClose}>
      {fillable.map((column) => {
        const { column_id: name, column_name, default_value: defaultValue } = column;
        return (
          <TextField
            key={name}
            label={`${column_name} (${typeText(column)})`}
            name={name}
            text={drafts[name] ?? ''}
            placeholder={defaultValue === null || defaultValue === undefined ? '' : JSON.stringify(defaultValue)}
            onChange={(text) => set(name, text)}
          />
        );
      })}
    </Confirm>
  );
}

function typeText({ column_type, enum_options }: Column): string {
  if (column_type === 'date') return 'date, for example 2026-11-23';
  if (column_type === 'array' || column_type === 'object') return `${column_type}, as JSON`;
  return enum_options ? enum_options.map(String).join(', ') : column_type;
}
