import { systemIds } from './system-columns.js';
import { BSON } from 'mongodb';
import { AppError } from '../../base/errors.js';
import { maxColumns, type Column, type NewColumn } from './schemas.js';
import { valueProblem } from './values.js';

/**
 * Filter keywords, properties of JavaScript objects, and identifiers that must be the same in path, query and body.
 * Records with such a key would be misinterpreted.
 */
const reservedIds = new Set(['and', 'or', 'not', 'constructor', 'prototype', 'project_id', 'execution_id']);
const maxIdLength = 60;
const maxDefaultBytes = 1024;

/** `Unit price (€)` becomes `unit_price`. Appends a number if the table has or had a column with this id. */
function columnIdOf(columnName: string, taken: ReadonlySet<string>): string {
  const words = columnName
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_');
  const slug = words.slice(0, maxIdLength).replace(/^_|_$/g, '');
  const base =
    /^[a-z]/.test(slug) && !reservedIds.has(slug) && !systemIds.has(slug) ? slug : `column_${slug}`.replace(/_$/, '');
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? base : `${base}_${number}`;
    if (!taken.has(id)) return id;
  }
}

/**
 * Creates the stored column with a unique id.
 * @throws AppError `validation_failed` for an invalid definition, `conflict` if the table has a column with this name
 */
export function makeColumn(definition: NewColumn, present: readonly Column[], retiredIds: readonly string[]): Column {
  const problem = definitionProblem(definition);
  if (problem !== undefined) throw new AppError('validation_failed', `${definition.column_name}: ${problem}`);
  if (present.length >= maxColumns)
    throw new AppError('validation_failed', `a table must not have more than ${maxColumns} columns`);
  if (present.some(({ column_name }) => column_name === definition.column_name)) {
    throw new AppError(
      'conflict',
      `column_name: the table already has a column ${JSON.stringify(definition.column_name)}`,
    );
  }
  const taken = new Set([...present.map(({ column_id }) => column_id), ...retiredIds]);
  const { default_value = null, ...rest } = definition;
  return { ...rest, default_value, column_id: columnIdOf(definition.column_name, taken), triggers: null };
}

function definitionProblem({
  column_type,
  array_type,
  object_fields,
  enum_options,
  default_value = null,
}: NewColumn): string | undefined {
  if (column_type === 'enum' && enum_options === null) return 'enum_options: is required for an enum column';
  if (array_type !== null && column_type !== 'array') return 'array_type: is only allowed for an array column';
  const holdsObjects = column_type === 'object' || array_type === 'object';
  if (object_fields !== null && !holdsObjects)
    return 'object_fields: is only allowed for an object column or an array of objects';
  if (enum_options !== null && holdsObjects) return 'enum_options: is not allowed for objects';
  const repeatedField = repeatedIn(object_fields?.map(({ name }) => name));
  if (repeatedField !== undefined) return `object_fields: the name ${JSON.stringify(repeatedField)} must be unique`;
  const repeated = repeatedIn(enum_options);
  if (repeated !== undefined) return `enum_options: the option ${JSON.stringify(repeated)} must be unique`;
  const mismatch = enum_options?.find(
    (option) => valueProblem(ruleOfOption(column_type, array_type), option) !== undefined,
  );
  if (mismatch !== undefined) return `enum_options: ${JSON.stringify(mismatch)} does not match the type of the column`;
  const problem = valueProblem({ column_type, array_type, object_fields, enum_options }, default_value);
  if (problem !== undefined) return `default_value: ${problem}`;
  const bytes = BSON.calculateObjectSize({ default_value });
  return bytes > maxDefaultBytes ? `default_value: must not exceed ${maxDefaultBytes} bytes` : undefined;
}

function repeatedIn<T>(values: readonly T[] | null | undefined): T | undefined {
  return values?.find((value, at) => values.indexOf(value) < at);
}

/** The options of an array column apply to its elements. */
function ruleOfOption(type: Column['column_type'], arrayType: NewColumn['array_type']) {
  return {
    column_type: type === 'array' ? (arrayType ?? 'enum') : type,
    array_type: null,
    object_fields: null,
    enum_options: null,
  };
}
