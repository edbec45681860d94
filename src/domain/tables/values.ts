import { largestTime } from '../../base/time.js';
import type { Column, ObjectField, RecordValues } from './schemas.js';
import { isSystemColumn, unknownColumn } from './system-columns.js';

type ValueRule = Pick<Column, 'column_type' | 'array_type' | 'object_fields' | 'enum_options'>;

const scalars: Record<string, { is(value: unknown): boolean; expected: string }> = {
  string: { is: (value) => typeof value === 'string', expected: 'a string' },
  number: { is: (value) => typeof value === 'number' && Number.isFinite(value), expected: 'a number' },
  integer: { is: (value) => Number.isSafeInteger(value), expected: 'an integer' },
  boolean: { is: (value) => typeof value === 'boolean', expected: 'true or false' },
  date: {
    is: (value) => typeof value === 'number' && Math.abs(value) <= largestTime,
    expected: `a number of epoch seconds from ${-largestTime} to ${largestTime}`,
  },
};

/** The problem of a value for a column, or undefined. Null means no value and is valid for every column. */
export function valueProblem(rule: ValueRule, value: unknown): string | undefined {
  if (value === null) return undefined;
  return shapeProblem(rule, value) ?? enumProblem(rule, value);
}

function shapeProblem({ column_type, array_type, object_fields }: ValueRule, value: unknown): string | undefined {
  if (column_type === 'enum') return undefined;
  if (column_type === 'object') return objectProblem(object_fields, value);
  if (column_type !== 'array') return scalarProblem(column_type, value);
  if (!Array.isArray(value)) return 'must be an array';
  for (const [at, item] of value.entries()) {
    const problem =
      array_type === null
        ? keyProblem(item)
        : array_type === 'object'
          ? objectProblem(object_fields, item)
          : scalarProblem(array_type, item);
    if (problem !== undefined) return `element ${at} ${problem}`;
  }
  return undefined;
}

function scalarProblem(type: string, value: unknown): string | undefined {
  const scalar = scalars[type];
  return scalar && !scalar.is(value) ? `must be ${scalar.expected}` : undefined;
}

function enumProblem({ enum_options }: ValueRule, value: unknown): string | undefined {
  if (enum_options === null) return undefined;
  const values: unknown[] = Array.isArray(value) ? value : [value];
  const allowed: readonly unknown[] = enum_options;
  return values.every((each) => allowed.includes(each))
    ? undefined
    : `must be one of ${enum_options.slice(0, 20).join(', ')}`;
}

function objectProblem(fields: readonly ObjectField[] | null, value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'must be an object';
  if (fields === null) return keyProblem(value);
  const values = new Map<string, unknown>(Object.entries(value));
  const known = new Set(fields.map(({ name }) => name));
  const unknown = [...values.keys()].find((name) => !known.has(name));
  if (unknown !== undefined) return `must not have the field ${JSON.stringify(unknown.slice(0, 100))}`;
  for (const { name, type, required } of fields) {
    const field = values.get(name) ?? null;
    if (field === null && required) return `must have the field ${name}`;
    const problem = field === null ? undefined : scalarProblem(type, field);
    if (problem !== undefined) return `${name} ${problem}`;
  }
  return undefined;
}

/** Refuses field names, at any depth, that MongoDB would interpret as paths or operators. */
function keyProblem(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, item] of Object.entries(value)) {
    if (!Array.isArray(value) && (key.startsWith('$') || key.includes('.') || key === ''))
      return `must not contain the field name ${JSON.stringify(key.slice(0, 100))}`;
    const problem = keyProblem(item);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** The problems of the values of a record, each with its column. At most 20. */
export function recordProblems(columns: readonly Column[], values: RecordValues, where = ''): string[] {
  const byId = new Map(columns.map((column) => [column.column_id, column]));
  const problems = Object.entries(values).flatMap(([id, value]) => {
    const column = byId.get(id);
    if (!column) return [`${where}${id.slice(0, 100)}: ${unknownColumn(columns, id)}`];
    if (isSystemColumn(id)) return systemProblem(id, value).map((problem) => `${where}${id}: ${problem}`);
    const problem = valueProblem(column, value);
    return problem === undefined ? [] : [`${where}${id}: ${problem}`];
  });
  return problems.slice(0, 20);
}

function systemProblem(id: string, value: unknown): string[] {
  if (id !== 'coworker_user_id') return ['must not be set, because the service sets it'];
  return typeof value === 'string' && value !== '' && value.length <= 200
    ? []
    : ['must be a string of 1 to 200 characters'];
}
