import { useState } from 'react';
import { call, type Column, type Table, type TableRecord } from '../api.js';
import { NotDownloaded, saveFile } from '../save-file.js';
import { useIsGone } from '../use-is-gone.js';
import { queryOf, type RowFilter } from './filter.js';
import { fillableColumns, textOf } from './values.js';

/** Downloads the filtered and sorted rows as CSV. It reads them from the API page by page. */
export function ExportRows({ table, filter }: { table: Table; filter: RowFilter }) {
  const [done, setDone] = useState<number>();
  const [error, setError] = useState<unknown>();
  const isGone = useIsGone();
  const name = `${table.table_name}.csv`;
  const run = async () => {
    setError(undefined);
    setDone(0);
    try {
      const columns = [
        ...table.columns.filter(({ column_id }) => column_id === 'row_id'),
        ...fillableColumns(table.columns),
      ];
      const lines = [lineOf(columns.map(({ column_name }) => withoutFormula(column_name)))];
      for (let cursor: string | null | undefined; cursor !== null && !isGone.current;) {
        const page = await call('get', '/storage/{projectID}/table/{table_id}/records', {
          params: { table_id: table._id },
          query: { limit: 200, ...(cursor && { cursor }), ...queryOf(table.columns, filter) },
        });
        lines.push(...page.data.map((row) => lineOf(columns.map((column) => cellOf(column, row)))));
        setDone(lines.length - 1);
        cursor = page.next_cursor;
      }
      // Without a byte order mark, spreadsheets assume their local encoding.
      if (!isGone.current) saveFile(name, new Blob(['\uFEFF', ...lines], { type: 'text/csv' }));
    } catch (failure) {
      setError(failure);
    } finally {
      setDone(undefined);
    }
  };
  return (
    <>
      <button type="button" aria-disabled={done !== undefined} onClick={() => void (done === undefined && run())}>
        {done === undefined ? 'Export CSV' : `Exporting (${done} rows)…`}
      </button>
      <NotDownloaded name={name} error={error} />
    </>
  );
}

function cellOf(column: Column, row: TableRecord): string {
  const value = row[column.column_id];
  const text = textOf(column, value);
  return typeof value === 'number' || typeof value === 'boolean' ? text : withoutFormula(text);
}

/** Prefixes text that a spreadsheet would run as a formula with an apostrophe, which the spreadsheet hides. */
const withoutFormula = (text: string) => (/^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text);

const lineOf = (cells: readonly string[]) =>
  `${cells.map((cell) => (/[",;\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\r\n`;
