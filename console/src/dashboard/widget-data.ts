import type { components } from '@client/openapi.js';
import { isObject } from '../fields-of.js';

export type Widget = components['schemas']['DashboardComponent'];
export type Layout = components['schemas']['Dashboard'];
/** The place of a widget. */
export type Cell = Layout['position'][number];

type Row = Readonly<Record<string, unknown>>;

export interface Bar {
  name: string;
  value: number;
}

/** How the result of a widget is shown. */
export type Shown =
  | { kind: 'nothing' }
  /** Records by their state, such as those of a task board. */
  | { kind: 'board'; groups: readonly { status: string; records: readonly Row[] }[] }
  | { kind: 'number'; name: string; value: number }
  | { kind: 'bars'; measure: string; bars: readonly Bar[] }
  | { kind: 'table'; columns: readonly string[]; rows: readonly Row[] };

const maxColumns = 12;

/** Chooses what shows the result of a pipeline: its form decides, except that a `table` is always a table. */
export function shownOf({ data, component_type, column_keys }: Widget): Shown {
  if (data.length === 0) return { kind: 'nothing' };
  const rows = data.map((each): Row => (isObject(each) ? each : { value: each }));
  const asTable = (): Shown => {
    const all = [...new Set(rows.flatMap((row) => Object.keys(row)))];
    const columns = column_keys.length > 0 ? column_keys : all.slice(0, maxColumns);
    return { kind: 'table', columns, rows };
  };
  if (component_type === 'table') return asTable();
  return boardOf(rows) ?? numberOf(rows) ?? barsOf(rows) ?? asTable();
}

function boardOf(rows: readonly Row[]): Shown | undefined {
  const isGroup = ({ status, data }: Row) => typeof status === 'string' && Array.isArray(data);
  if (!rows.every(isGroup)) return undefined;
  const groups = rows.map(({ status, data }) => ({
    status: status as string,
    records: (data as unknown[]).filter(isObject),
  }));
  return { kind: 'board', groups };
}

const isNumber = (value: unknown): value is number => typeof value === 'number';

/** A single row with one number, such as the result of `$count`. */
function numberOf([row = {}, ...others]: readonly Row[]): Shown | undefined {
  const values = Object.entries(row).filter(([name, value]) => !(name === '_id' && value === null));
  const [first, ...more] = values;
  if (others.length > 0 || more.length > 0 || !first || !isNumber(first[1])) return undefined;
  return { kind: 'number', name: first[0], value: first[1] };
}

/** Rows with a name and one number each. The name is the `_id` of a group, or else the only other value. */
function barsOf(rows: readonly Row[]): Shown | undefined {
  const names = new Set(rows.flatMap((row) => Object.keys(row)));
  if (names.size !== 2) return undefined;
  const [one = '', other = ''] = names;
  const label = names.has('_id') ? '_id' : rows.every((row) => isNumber(row[other])) ? one : other;
  const measure = label === one ? other : one;
  if (!rows.every((row) => isNumber(row[measure]) && !isObject(row[label]))) return undefined;
  const bars = rows.map((row) => ({ name: textOf(row[label]), value: row[measure] as number }));
  return { kind: 'bars', measure, bars };
}

const numbers = new Intl.NumberFormat('en', { maximumFractionDigits: 2 });

/** Writes a value of a result. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return '–';
  if (typeof value === 'number') return numbers.format(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}
