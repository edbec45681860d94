import type { Column } from '../api.js';
import { numberIn } from '../number-in.js';

export const systemColumns: ReadonlySet<string> = new Set(['_id', 'row_id', 'coworker_user_id']);

/** Returns the columns that people fill in. */
export const fillableColumns = (columns: readonly Column[]): Column[] =>
  columns.filter(({ column_id }) => !systemColumns.has(column_id));

/** Returns the editable text of a value. Dates are in UTC, because the table has no time zone. */
export function textOf({ column_type }: Pick<Column, 'column_type'>, value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'object') return JSON.stringify(value);
  if (typeof value === 'boolean' || typeof value === 'string') return String(value);
  if (typeof value !== 'number') return '';
  if (column_type !== 'date') return String(value);
  const date = new Date(value * 1000);
  return Number.isNaN(date.getTime())
    ? String(value)
    : date.toISOString().replace(/(T00:00:00)?\.000Z$/, (_, day?: string) => (day === undefined ? 'Z' : ''));
}

/**
 * Returns the column value of a text. Text that does not match the column's type is sent unchanged, so that the API
 * returns a validation error.
 */
export function valueOf(column: Pick<Column, 'column_type' | 'enum_options'>, text: string): unknown {
  const plain = text.trim();
  if (plain === '') return null;
  switch (column.column_type) {
    case 'number':
    case 'integer':
      return numberIn(plain);
    case 'date':
      return dateOf(plain) ?? text;
    case 'boolean':
      return /^(true|false)$/i.test(plain) ? plain.toLowerCase() === 'true' : text;
    case 'enum':
      return column.enum_options?.find((option) => String(option) === plain) ?? text;
    case 'array':
    case 'object':
      return jsonOf(plain) ?? text;
    default:
      return text;
  }
}

/** Returns whether a text has the form of an ISO date, but the calendar has no such day. */
export function isImpossibleDate(text: string): boolean {
  const [, year, month, day] = /^\s*(\d{4})-(\d\d)-(\d\d)(?!\d)/.exec(text) ?? [];
  if (year === undefined) return false;
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  date.setUTCFullYear(Number(year));
  return date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day);
}

/** Returns epoch seconds for a number or an ISO date, which is in UTC unless it has an offset. */
function dateOf(text: string): number | undefined {
  if (Number.isFinite(Number(text))) return Number(text);
  // JavaScript would take February 30 for March 2.
  if (isImpossibleDate(text)) return undefined;
  const at = Date.parse(text.includes('T') && /\d$/.test(text) && !/[+-]\d\d:?\d\d$/.test(text) ? `${text}Z` : text);
  return /^\d{4}-\d\d/.test(text) && !Number.isNaN(at) ? at / 1000 : undefined;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
