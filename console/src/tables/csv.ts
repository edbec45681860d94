import { csvFormatOf } from '@service/base/csv.js';
import { decodeText } from '@service/base/encodings.js';
import type { Column, Table } from '../api.js';
import { fillableColumns, isImpossibleDate, valueOf } from './values.js';

const maxBytes = 20 * 1024 * 1024;
/** The API accepts at most 1,000 records and 1 MiB per request. */
const maxRows = 1000;
const maxBatchBytes = 900_000;

export interface CsvRow {
  /** The line number in the file, starting at 1. */
  line: number;
  record: Record<string, unknown>;
}

export interface CsvFile {
  name: string;
  /** The matching columns of the table, in the order of the file. */
  columns: Column[];
  /** The headers that match no column. */
  ignored: string[];
  rows: CsvRow[];
}

/**
 * Reads a CSV file with a header line.
 * @throws Error with a message for people if the file cannot be imported
 */
export async function readCsv(file: File, table: Table): Promise<CsvFile> {
  if (file.size > maxBytes) throw new Error(`The file must not exceed ${maxBytes / 1024 / 1024} MiB.`);
  const text = await textOf(new Uint8Array(await file.arrayBuffer()));
  const { parse } = await import('csv-parse/browser/esm/sync');
  const lines = parse(text, {
    ...csvFormatOf(text),
    bom: true,
    relax_quotes: true,
    skip_empty_lines: true,
    relax_column_count: true,
    info: true,
  }) as unknown as { info: { lines: number }; record: string[] }[];
  const [head, ...rest] = lines;
  if (!head) throw new Error('The file is empty. The first line must contain column names.');
  const fillable = fillableColumns(table.columns);
  const headers = head.record.map((header) => header.trim());
  const columns = headers.map((header) => fillable.find((column) => names(column).includes(header.toLowerCase())));
  const known = columns.filter((column) => column !== undefined);
  const repeated = known.filter((column, at) => known.indexOf(column) !== at);
  if (repeated.length > 0)
    throw new Error(
      `The first line names a column more than once: ${namesOf(repeated)}. Each column of the table may occur once.`,
    );
  if (known.length === 0)
    throw new Error(
      `The first line contains no column of the table. Expected columns: ${fillable.map(({ column_name }) => column_name).join(', ')}.`,
    );
  const impossible = rest.flatMap(({ info, record }) => impossibleDates(columns, record, info.lines));
  if (impossible.length > 0)
    throw new Error(
      `The file contains dates that do not exist: ${impossible.slice(0, maxNamed).join('; ')}${impossible.length > maxNamed ? `; and ${impossible.length - maxNamed} more` : ''}.`,
    );
  return {
    name: file.name,
    columns: known,
    ignored: headers.filter((_header, at) => columns[at] === undefined),
    rows: rest.map(({ info, record }) => ({ line: info.lines, record: recordOf(columns, record) })),
  };
}

const maxNamed = 20;

const namesOf = (columns: readonly Column[]) => [...new Set(columns.map(({ column_name }) => column_name))].join(', ');

function impossibleDates(columns: readonly (Column | undefined)[], cells: readonly string[], line: number): string[] {
  return columns.flatMap((column, at) => {
    const text = cells[at] ?? '';
    const isWrong = column?.column_type === 'date' && isImpossibleDate(text);
    return isWrong ? [`line ${line}, ${column.column_name}: ${text.trim().slice(0, 40)}`] : [];
  });
}

const names = ({ column_id, column_name }: Column) => [column_name.toLowerCase(), column_id.toLowerCase()];

async function textOf(bytes: Uint8Array): Promise<string> {
  const decoded = await decodeText(bytes);
  if (decoded) return decoded.text;
  throw new Error('The file is not a text file. Spreadsheets offer the format “CSV UTF-8”.');
}

/** Leaves out empty cells, so that the API sets the default values of their columns. */
function recordOf(columns: readonly (Column | undefined)[], cells: readonly string[]): Record<string, unknown> {
  const values = columns.flatMap((column, at) => {
    const text = cells[at] ?? '';
    return column === undefined || text.trim() === '' ? [] : [[column.column_id, valueOf(column, text)] as const];
  });
  return Object.fromEntries(values);
}

/** Splits the rows into as few requests as possible. */
export function batchesOf(rows: readonly CsvRow[]): CsvRow[][] {
  const batches: CsvRow[][] = [];
  const encoder = new TextEncoder();
  let [batch, bytes]: [CsvRow[], number] = [[], 0];
  for (const row of rows) {
    const size = encoder.encode(JSON.stringify(row.record)).length + 1;
    if (batch.length > 0 && (batch.length === maxRows || bytes + size > maxBatchBytes)) {
      batches.push(batch);
      [batch, bytes] = [[], 0];
    }
    batch.push(row);
    bytes += size;
  }
  return batch.length > 0 ? [...batches, batch] : batches;
}

/**
 * Replaces record numbers by line numbers in a validation error such as `3.price: must be a number`.
 * @returns each problem with its line
 */
export function problemsByLine(message: string, batch: readonly CsvRow[], columns: readonly Column[]): string[] {
  return message.split('; ').map((part) => {
    const [, at, id = '', problem = ''] = /^(?:(\d+)\.)?([\w-]+): (.+)$/s.exec(part) ?? [];
    const row = batch[at === undefined ? 0 : Number(at)];
    if (id === '' || !row) return part;
    const column = columns.find(({ column_id }) => column_id === id);
    return `Line ${row.line}, ${column?.column_name ?? id}: ${problem}`;
  });
}
