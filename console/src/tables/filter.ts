import type { Column } from '../api.js';
import { valueOf } from './values.js';

/** The query string of a table: one condition and the order. */
export interface RowFilter {
  column?: string;
  op?: Operator;
  value?: string;
  /** A column id. The prefix `-` sorts in descending order. */
  sort?: string;
}

export const operators = {
  eq: 'is',
  ne: 'is not',
  contains: 'contains',
  starts_with: 'starts with',
  gt: 'is greater than',
  gte: 'is at least',
  lt: 'is less than',
  lte: 'is at most',
  exists: 'has a value',
  missing: 'has no value',
} as const;
export type Operator = keyof typeof operators;

const texts: readonly Operator[] = ['contains', 'starts_with'];
const orders: readonly Operator[] = ['gt', 'gte', 'lt', 'lte'];
const always: readonly Operator[] = ['exists', 'missing'];

export function operatorsOf({ column_type }: Pick<Column, 'column_type'>): readonly Operator[] {
  if (column_type === 'object') return always;
  if (column_type === 'array') return ['contains', ...always];
  if (column_type === 'boolean') return ['eq', 'ne', ...always];
  return column_type === 'string' || column_type === 'enum'
    ? [...texts, 'eq', 'ne', ...orders, ...always]
    : ['eq', 'ne', ...orders, ...always];
}

export function filterIn({ column, op, value, sort }: Record<string, unknown>): RowFilter {
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value.slice(0, 500) : undefined);
  const known = { column: text(column), value: text(value), sort: text(sort) };
  return {
    ...(known.column !== undefined && { column: known.column }),
    ...(typeof op === 'string' && op in operators && { op: op as Operator }),
    ...(known.value !== undefined && { value: known.value }),
    ...(known.sort !== undefined && { sort: known.sort }),
  };
}

/** Returns the filter as API parameters. A condition without a value is left out. */
export function queryOf(columns: readonly Column[], { column: id, op, value = '', sort }: RowFilter) {
  const order = sort === undefined ? {} : { sort };
  const column = columns.find(({ column_id }) => column_id === id);
  const operator = op ?? (column && operatorsOf(column)[0]);
  if (!column || operator === undefined) return order;
  if (operator === 'exists' || operator === 'missing')
    return { ...order, filter: JSON.stringify({ [column.column_id]: { exists: operator === 'exists' } }) };
  if (value === '') return order;
  const isText = operator === 'contains' || operator === 'starts_with';
  const operand = isText ? value : valueOf(column, value);
  const condition = { [operator]: operand, ...(isText && column.column_type !== 'array' && { ignore_case: true }) };
  return { ...order, filter: JSON.stringify({ [column.column_id]: condition }) };
}
