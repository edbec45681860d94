import { ServiceError } from '@client/service-error.js';
import { useRef, useState } from 'react';
import { call, lifecycleOf, messageOf, type Column, type TableRecord } from '../api.js';
import { useDraft } from '../use-draft.js';
import { textOf, valueOf } from './values.js';

/** The limit of the API. A longer value is saved without a check whether somebody else has changed it. */
const maxExpected = 5000;

/** The text that a person types into a cell. */
interface CellEdit {
  rowId: string;
  rowNumber: number;
  columnId: string;
  columnName: string;
  /** The value when the person opened the cell. */
  before: unknown;
  text: string;
  problem?: string;
  /** The lifecycle of the refused call. */
  lifecycle?: string;
  /** The new value, if somebody else has changed it. */
  theirs?: { value: unknown; text: string };
  isBusy?: boolean;
  /** Whether the cell was just opened and takes the focus. */
  isNew?: boolean;
}

export interface CellEdits {
  all: readonly CellEdit[];
  of(rowId: string, columnId: string): CellEdit | undefined;
  open(row: TableRecord, column: Column, text: string): void;
  type(rowId: string, columnId: string, text: string): void;
  discard(rowId: string, columnId: string): void;
  save(rowId: string, column: Column): Promise<void>;
  /** Saves the cell even though somebody else has changed its value. */
  overwrite(edit: CellEdit, column: Column): Promise<void>;
}

interface EditsOptions {
  tableId: string;
  onSaved(row: TableRecord): void;
}

/**
 * Keeps the open cells. The text of a cell stays until it is saved or discarded, even after an error, a reload, or when
 * the row scrolls out of view.
 */
export function useCellEdits({ tableId, onSaved }: EditsOptions): CellEdits {
  const [stored, store] = useDraft(`table.${tableId}.cells`);
  const [edits, setEdits] = useState<readonly CellEdit[]>(() =>
    stored === '' ? [] : (JSON.parse(stored) as CellEdit[]),
  );
  const current = useRef(edits);
  const change = (next: readonly CellEdit[]) => {
    current.current = next;
    setEdits(next);
    const kept = next.map(({ isBusy: _busy, isNew: _new, ...edit }) => edit);
    store(kept.length === 0 ? '' : JSON.stringify(kept));
  };
  const matches = (rowId: string, columnId: string) => (edit: CellEdit) =>
    edit.rowId === rowId && edit.columnId === columnId;
  const find = (rowId: string, columnId: string) => current.current.find(matches(rowId, columnId));
  const keep = (edit: CellEdit) =>
    change([...current.current.filter((each) => !matches(edit.rowId, edit.columnId)(each)), edit]);
  const discard = (rowId: string, columnId: string) =>
    change(current.current.filter((each) => !matches(rowId, columnId)(each)));
  const send = async (edit: CellEdit, column: Column) => {
    const { theirs: _theirs, problem: _problem, lifecycle: _lifecycle, isNew: _new, ...pendingEdit } = edit;
    keep({ ...pendingEdit, isBusy: true });
    const params = { table_id: tableId, record_id: edit.rowId };
    const id = column.column_id;
    const expected = JSON.stringify({ [id]: edit.before });
    try {
      const row = await call('put', '/storage/{projectID}/table/{table_id}/records/{record_id}', {
        params,
        ...(expected.length <= maxExpected && { query: { expected } }),
        body: { [id]: valueOf(column, edit.text) },
      });
      discard(edit.rowId, id);
      onSaved(row);
    } catch (failure) {
      const problem = messageOf(failure);
      const isConflict = failure instanceof ServiceError && failure.status === 409;
      const currentRow = isConflict ? await read(params) : undefined;
      const theirs = currentRow && { value: currentRow[id], text: textOf(column, currentRow[id]) };
      const lifecycle = lifecycleOf(failure);
      keep({ ...pendingEdit, problem, ...(lifecycle !== undefined && { lifecycle }), ...(theirs && { theirs }) });
      if (currentRow) onSaved(currentRow);
    }
  };
  return {
    all: edits,
    of: (rowId, columnId) => edits.find(matches(rowId, columnId)),
    open: ({ _id: rowId, row_id: rowNumber, ...values }, { column_id: columnId, column_name: columnName }, text) =>
      keep({ rowId, rowNumber, columnId, columnName, before: values[columnId] ?? null, text, isNew: true }),
    type(rowId, columnId, text) {
      const edit = find(rowId, columnId);
      if (edit) keep({ ...edit, text, isNew: false });
    },
    discard,
    async save(rowId, column) {
      const edit = find(rowId, column.column_id);
      // The edit was discarded or is being saved.
      if (!edit || edit.isBusy) return;
      if (edit.text === textOf(column, edit.before) && !edit.theirs) return discard(rowId, column.column_id);
      // A refused value is not sent again until the person changes it or resolves the conflict.
      if (edit.theirs) return;
      await send(edit, column);
    },
    overwrite: (edit, column) => send({ ...edit, before: edit.theirs?.value ?? null }, column),
  };
}

async function read(params: { table_id: string; record_id: string }): Promise<TableRecord | undefined> {
  try {
    return await call('get', '/storage/{projectID}/table/{table_id}/records/{record_id}', { params });
  } catch {
    return undefined;
  }
}
