import { BSON } from 'mongodb';
import { AppError } from '../../../errors.js';
import { columnsAtMost, type Column, type NewColumn } from './schemas.js';
import { valueProblem } from './values.js';

const plain = { array_type: null, object_fields: null, triggers: null, enum_options: null };

/** The columns that every table has (specification, Table). */
export const systemColumns: readonly Column[] = [
  { column_name: '_id', column_type: 'string', column_id: '_id', default_value: null, ...plain },
  { column_name: 'Row ID', column_type: 'number', column_id: 'row_id', default_value: 1, ...plain },
  { column_name: 'User ID', column_type: 'string', column_id: 'coworker_user_id', default_value: null, ...plain },
];
const systemIds = new Set(systemColumns.map(({ column_id }) => column_id));

export function isSystemColumn(columnId: string): boolean {
  return systemIds.has(columnId);
}

/** What is wrong with `key` where a column_id should stand. */
export function unknownColumn(columns: Iterable<Column>, key: string): string {
  const named = [...columns].find(({ column_name }) => column_name === key);
  return named ? `is the name of a column; its column_id is ${named.column_id}` : 'the table has no such column';
}

/**
 * Words of a filter, names that JavaScript objects have, and the identifiers that must agree between path, query and
 * body: a record with one of them as a key would be read as something else.
 */
const reservedIds = new Set(['and', 'or', 'not', 'constructor', 'prototype', 'project_id', 'execution_id']);
const idAtMost = 60;
const defaultBytesAtMost = 1024;

/** `Unit price (€)` becomes `unit_price`; an id that was ever used in the table gets a number behind it. */
export function columnIdOf(columnName: string, taken: ReadonlySet<string>): string {
  const words = columnName.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/[^a-z0-9]+/g, '_');
  const slug = words.slice(0, idAtMost).replace(/^_+|_+$/g, '');
  const base = /^[a-z]/.test(slug) && !reservedIds.has(slug) && !systemIds.has(slug) ? slug : `column_${slug}`.replace(/_$/, '');
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? base : `${base}_${number}`;
    if (!taken.has(id)) return id;
  }
}

/**
 * The column as stored, with an id of its own.
 * @throws AppError `validation_failed` for parts that do not go together, `conflict` for a name that the table has
 */
export function makeColumn(given: NewColumn, present: readonly Column[], retiredIds: readonly string[]): Column {
  const problem = definitionProblem(given);
  if (problem !== undefined) throw new AppError('validation_failed', `${given.column_name}: ${problem}`);
  if (present.length >= columnsAtMost) throw new AppError('validation_failed', `a table has at most ${columnsAtMost} columns`);
  if (present.some(({ column_name }) => column_name === given.column_name)) {
    throw new AppError('conflict', `column_name: the table has a column ${JSON.stringify(given.column_name)} already`);
  }
  const taken = new Set([...present.map(({ column_id }) => column_id), ...retiredIds]);
  const { default_value = null, ...rest } = given;
  return { ...rest, default_value, column_id: columnIdOf(given.column_name, taken), triggers: null };
}

function definitionProblem({ column_type, array_type, object_fields, enum_options, default_value = null }: NewColumn): string | undefined {
  if (column_type === 'enum' && enum_options === null) return 'enum_options: needed for an enum column';
  if (array_type !== null && column_type !== 'array') return 'array_type: only for an array column';
  const holdsObjects = column_type === 'object' || array_type === 'object';
  if (object_fields !== null && !holdsObjects) return 'object_fields: only for an object column or an array of objects';
  if (enum_options !== null && holdsObjects) return 'enum_options: not for objects';
  const misfit = enum_options?.find((option) => valueProblem(ruleOfOption(column_type, array_type), option) !== undefined);
  if (misfit !== undefined) return `enum_options: ${JSON.stringify(misfit)} does not fit the type`;
  const problem = valueProblem({ column_type, array_type, object_fields, enum_options }, default_value);
  if (problem !== undefined) return `default_value: ${problem}`;
  const bytes = BSON.calculateObjectSize({ default_value });
  return bytes > defaultBytesAtMost ? `default_value: at most ${defaultBytesAtMost} bytes` : undefined;
}

/** The options of an array column are its elements. */
function ruleOfOption(type: Column['column_type'], arrayType: NewColumn['array_type']) {
  return { column_type: type === 'array' ? (arrayType ?? 'enum') : type, array_type: null, object_fields: null, enum_options: null };
}
