import { useEffect, useRef, type KeyboardEvent } from 'react';
import type { Column, TableRecord } from '../api.js';
import type { CellEdits } from './use-cell-edits.js';
import { textOf } from './values.js';
import tableStyles from '../table.module.css';

interface CellOptions {
  row: TableRecord;
  column: Column;
  /** Undefined if the person may not change rows. */
  edits: CellEdits | undefined;
}

const wordsOf: Readonly<Record<string, string>> = { true: 'Yes', false: 'No' };

/** Shows a value, which becomes an input when selected. Enter or blur saves; Escape discards. */
export function Cell({ row, column, edits }: CellOptions) {
  const button = useRef<HTMLButtonElement>(null);
  const byKey = useRef(false);
  const displayed = textOf(column, row[column.column_id]);
  const shown = column.column_type === 'boolean' ? (wordsOf[displayed] ?? displayed) : displayed;
  const edit = edits?.of(row._id, column.column_id);
  const isOpen = edit !== undefined;
  // Return the focus to the button after editing by keyboard.
  useEffect(() => {
    if (isOpen || !byKey.current) return;
    byKey.current = false;
    button.current?.focus();
  }, [isOpen]);
  if (!edits) return <span title={shown}>{shown}</span>;
  const name = `${column.column_name} of row ${row.row_id}`;
  if (!edit)
    return (
      <button
        ref={button}
        type="button"
        className={tableStyles.value}
        title={shown}
        aria-label={`${name}: ${shown === '' ? 'empty' : shown}`}
        onClick={() => edits.open(row, column, displayed)}
      >
        {shown}
      </button>
    );
  const save = () => void edits.save(row._id, column);
  const inputProps = {
    'aria-label': name,
    'aria-invalid': edit.problem !== undefined,
    value: edit.text,
    disabled: edit.isBusy === true,
    autoFocus: edit.isNew === true,
    onBlur: save,
    onKeyDown(event: KeyboardEvent) {
      if (event.key !== 'Enter' && event.key !== 'Escape') return;
      event.preventDefault();
      byKey.current = true;
      if (event.key === 'Escape') edits.discard(row._id, column.column_id);
      else save();
    },
  };
  const type = (text: string) => edits.type(row._id, column.column_id, text);
  const options =
    column.column_type === 'boolean' ? [true, false] : column.column_type === 'enum' ? column.enum_options : null;
  if (options === null) return <input {...inputProps} onChange={(event) => type(event.target.value)} />;
  return (
    <select {...inputProps} onChange={(event) => type(event.target.value)}>
      <option value="" />
      {options.map((option) => (
        <option key={String(option)} value={String(option)}>
          {typeof option === 'boolean' ? wordsOf[String(option)] : option}
        </option>
      ))}
    </select>
  );
}
