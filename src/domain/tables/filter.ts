import { BSONRegExp, type Filter } from 'mongodb';
import { AppError } from '../../base/errors.js';
import { parseJsonOrUndefined } from '../../base/json.js';
import { bodyGate, checkJson } from '../../base/json-gate.js';
import { unknownColumn } from './system-columns.js';
import type { Column } from './schemas.js';
import type { RowDocument } from './record.js';

const maxDepth = 5;
const maxConditions = 100;
const maxListValues = 200;
const maxTextLength = 500;

type RowFilter = Filter<RowDocument>;
type Scalar = string | number | boolean;

interface Compiler {
  columns: ReadonlyMap<string, Column>;
  conditionsLeft: number;
}

/**
 * Compiles the `filter` of a request to a MongoDB filter. Only literal values of the request reach the database, with known
 * columns and operators. Strings are matched literally, so no pattern can cause excessive backtracking.
 * @throws AppError `invalid_request` with the path and the problem
 */
export function compileFilter(columns: readonly Column[], text: string | undefined): RowFilter {
  if (text === undefined) return {};
  const filter = parseJsonOrUndefined(text);
  if (filter === undefined) throw refusal('filter', 'must be JSON');
  checkJson(filter, { ...bodyGate, what: 'filter' });
  return compileConditions(columns, filter);
}

/** Compiles the filter of a request that contains it as JSON. @throws AppError as `compileFilter` */
export function compileConditions(columns: readonly Column[], filter: unknown): RowFilter {
  const columnById = new Map(columns.map((column) => [column.column_id, column]));
  return compile({ columns: columnById, conditionsLeft: maxConditions }, filter, 'filter', 1);
}

function compile(compiler: Compiler, filter: unknown, where: string, depth: number): RowFilter {
  if (depth > maxDepth) throw refusal(where, `must not be nested deeper than ${maxDepth} levels`);
  const conditions = Object.entries(objectOf(filter, where)).map(([key, value]): RowFilter => {
    const at = `${where}.${key.slice(0, 100)}`;
    if (key === 'and' || key === 'or') return { [`$${key}`]: filtersOf(compiler, value, at, depth) };
    if (key === 'not') return { $nor: [compile(compiler, value, at, depth + 1)] };
    const column = compiler.columns.get(key);
    if (!column)
      throw refusal(
        at,
        key.startsWith('$') ? 'MongoDB operators are not allowed' : unknownColumn(compiler.columns.values(), key),
      );
    return ofColumn(compiler, column, value, at);
  });
  return conditions.length === 0 ? {} : { $and: conditions };
}

function filtersOf(compiler: Compiler, filters: unknown, where: string, depth: number): RowFilter[] {
  if (!Array.isArray(filters) || filters.length === 0) throw refusal(where, 'must be a non-empty array of filters');
  return filters.map((each, at) => compile(compiler, each, `${where}.${at}`, depth + 1));
}

function ofColumn(compiler: Compiler, column: Column, condition: unknown, where: string): RowFilter {
  const operands = typeof condition === 'object' && condition !== null ? objectOf(condition, where) : { eq: condition };
  const { ignore_case = false, ...named } = operands;
  if (typeof ignore_case !== 'boolean') throw refusal(`${where}.ignore_case`, 'must be true or false');
  const entries = Object.entries(named);
  if (entries.length === 0) throw refusal(where, 'must have at least one operator');
  const conditions = entries.map(([name, operand]): RowFilter => {
    const at = `${where}.${name.slice(0, 100)}`;
    compiler.conditionsLeft -= 1;
    if (compiler.conditionsLeft < 0) throw refusal('filter', `must not have more than ${maxConditions} conditions`);
    const operator = Object.hasOwn(operators, name) ? operators[name] : undefined;
    if (!operator) throw refusal(at, `is not an operator; expected one of ${Object.keys(operators).join(', ')}`);
    return { [column.column_id]: operator(column, operand, at, ignore_case) };
  });
  return { $and: conditions };
}

type Operator = (column: Column, operand: unknown, where: string, ignoreCase: boolean) => Record<string, unknown>;

const comparison =
  (name: string): Operator =>
  (column, operand, where, ignoreCase) => {
    if (ignoreCase) throw refusal(where, 'does not support ignore_case');
    return { [name]: scalarOf(column, operand, where) };
  };
const equality =
  (name: '$in' | '$nin'): Operator =>
  (column, operand, where, ignoreCase) => ({ [name]: [equal(column, operand, where, ignoreCase)] });
const membership =
  (name: '$in' | '$nin'): Operator =>
  (column, operand, where, ignoreCase) => {
    if (!Array.isArray(operand) || operand.length > maxListValues)
      throw refusal(where, `must be an array of at most ${maxListValues} values`);
    return { [name]: operand.map((each: unknown, at) => equal(column, each, `${where}.${at}`, ignoreCase)) };
  };

const operators: Record<string, Operator> = {
  eq: equality('$in'),
  ne: equality('$nin'),
  gt: comparison('$gt'),
  gte: comparison('$gte'),
  lt: comparison('$lt'),
  lte: comparison('$lte'),
  in: membership('$in'),
  nin: membership('$nin'),
  contains(column, operand, where, ignoreCase) {
    if (column.column_type === 'array') {
      if (ignoreCase) throw refusal(where, 'does not support ignore_case for array columns');
      return { $eq: elementOf(operand, where) };
    }
    return literal(textOf(column, operand, where), '', ignoreCase);
  },
  starts_with: (column, operand, where, ignoreCase) => literal(textOf(column, operand, where), '^', ignoreCase),
  exists(_column, operand, where) {
    if (typeof operand !== 'boolean') throw refusal(where, 'must be true or false');
    return operand ? { $ne: null } : { $eq: null };
  },
};

function literal(text: string, before: string, ignoreCase: boolean): Record<string, unknown> {
  return { $regex: before + escaped(text), $options: ignoreCase ? 'i' : '' };
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/#-]/g, '\\$&');
}

/** What a list of MongoDB contains to match a value: the value, or a pattern of the whole text regardless of its case. */
function equal(column: Column, operand: unknown, where: string, ignoreCase: boolean): Scalar | BSONRegExp | null {
  if (ignoreCase && column.column_type !== 'string' && column.column_type !== 'enum')
    throw refusal(where, 'supports ignore_case only for string and enum columns');
  const value = operand === null ? null : scalarOf(column, operand, where);
  if (!ignoreCase || typeof value !== 'string') return value;
  if (value.length > maxTextLength)
    throw refusal(where, `must be a string of at most ${maxTextLength} characters with ignore_case`);
  return new BSONRegExp(`^${escaped(value)}\\z`, 'i');
}

const typeOfValues: Partial<Record<Column['column_type'], string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  date: 'number',
  boolean: 'boolean',
};

/** Arrays and objects have no useful order or equality. They only support `contains` and `exists`. */
function scalarOf({ column_type }: Column, operand: unknown, where: string): Scalar {
  if (column_type === 'array' || column_type === 'object')
    throw refusal(where, `is not supported for ${column_type} columns`);
  const value = elementOf(operand, where);
  const expected = typeOfValues[column_type];
  if (expected !== undefined && typeof value !== expected)
    throw refusal(where, `must be a ${expected}, like the values of the column`);
  return value;
}

function elementOf(operand: unknown, where: string): Scalar {
  if (typeof operand === 'string' || typeof operand === 'number' || typeof operand === 'boolean') return operand;
  throw refusal(where, 'must be a string, a number, true or false');
}

function textOf({ column_type }: Column, operand: unknown, where: string): string {
  if (column_type !== 'string' && column_type !== 'enum')
    throw refusal(where, 'is only supported for string and enum columns');
  if (typeof operand !== 'string' || operand === '' || operand.length > maxTextLength)
    throw refusal(where, `must be a string of 1 to ${maxTextLength} characters`);
  return operand;
}

function objectOf(value: unknown, where: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refusal(where, 'must be an object');
  return value as Record<string, unknown>;
}

function refusal(where: string, problem: string): AppError {
  return new AppError('invalid_request', `${where}: ${problem}`);
}
