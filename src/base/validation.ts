import { z } from 'zod';
import { AppError } from './errors.js';

const maxProblems = 20;
/**
 * Limits the number of messages: a body can contain 30,000 invalid values, and a message for each one would block the
 * event loop.
 */
const maxMessages = 1000;

/**
 * Parses a value. Each problem states its position and the expected value.
 * @returns the value, or at most 20 problems, for example "limit: must be an integer from 1 to 200"
 */
export function parseWithProblems<S extends z.ZodType>(
  schema: S,
  value: unknown,
  root = 'body',
): { data: z.output<S> } | { problems: string[] } {
  let messages = 0;
  const error = (issue: z.core.$ZodRawIssue) =>
    (messages += 1) <= maxMessages || issue.code === 'invalid_union' ? expectationOf(issue) : 'is not valid';
  const parsed = schema.safeParse(value, { error });
  if (parsed.success) return { data: parsed.data };
  return {
    problems: parsed.error.issues
      .slice(0, maxProblems)
      .flatMap((issue) => problemsOf(issue, root))
      .slice(0, maxProblems),
  };
}

/**
 * Converts an issue to problems. For a union, returns the problems of the alternative that matches the type of the
 * value, or else the allowed types. Of several objects, it takes the one that knows most of the given fields.
 */
function problemsOf(issue: z.core.$ZodIssue, root: string, above: readonly PropertyKey[] = []): string[] {
  const path = [...above, ...issue.path];
  const problem = (text: string) => [`${path.join('.') || root}: ${text}`];
  if (issue.code === 'invalid_key')
    return problem(`the field name is not allowed: ${issue.issues.map(({ message }) => message).join(', ')}`);
  if (issue.code !== 'invalid_union' || issue.errors.length === 0 || issue.message !== unionText)
    return problem(issue.message);
  const types = issue.errors.map((issues) =>
    issues.flatMap((each) => (each.code === 'invalid_type' && each.path.length === 0 ? [each.expected] : [])),
  );
  const fitting = issue.errors
    .filter((_, at) => types[at]?.length === 0)
    .reduce<z.core.$ZodIssue[] | undefined>(
      (best, next) => (best === undefined || unknownIn(next) < unknownIn(best) ? next : best),
      undefined,
    );
  return (
    fitting?.flatMap((each) => problemsOf(each, root, path)) ??
    problem(`must be ${[...new Set(types.flat())].map(typeName).join(' or ')}`)
  );
}

function unknownIn(issues: readonly z.core.$ZodIssue[]): number {
  return issues.flatMap((issue) => (issue.code === 'unrecognized_keys' && issue.path.length === 0 ? issue.keys : []))
    .length;
}

const unionText = 'does not have an allowed form';

/** Replaces zod's default messages with plain English. Messages of the schema take precedence. */
function expectationOf(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${kindOf(issue)}`;
    case 'too_small':
    case 'too_big':
      return `must ${boundsOf(issue)}`;
    case 'not_multiple_of':
      return `must be a multiple of ${String(issue.divisor)}`;
    case 'invalid_value':
      return issue.input === undefined
        ? 'is required'
        : `must be ${listOf(issue.values.map((each) => JSON.stringify(each)))}`;
    case 'invalid_format':
      return formatText(issue);
    case 'unrecognized_keys':
      return unknownText(issue);
    case 'invalid_union':
      return issue.input === undefined ? 'is required' : unionText;
    default:
      return undefined;
  }
}

const typeNames: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'an array',
  null: 'null',
  date: 'a date',
};

function typeName(expected: string): string {
  return typeNames[expected] ?? expected;
}

/** Describes the expected type. States the whole range of a number, so that the caller learns it from one attempt. */
function kindOf(issue: z.core.$ZodRawIssue): string {
  const { minValue: minimum, maxValue: maximum, isInt } = (issue.schema ?? issue.inst ?? {}) as Partial<z.ZodNumber>;
  const expected = String(issue.expected);
  if (expected !== 'number' && expected !== 'int') return typeName(expected);
  const kind = expected === 'int' || isInt === true ? 'an integer' : 'a number';
  if (isBound(minimum) && isBound(maximum)) return `${kind} from ${minimum} to ${maximum}`;
  if (isBound(minimum)) return `${kind} of at least ${minimum}`;
  return isBound(maximum) ? `${kind} of at most ${maximum}` : kind;
}

function boundsOf(issue: z.core.$ZodRawIssue): string {
  const unit = { string: 'characters', array: 'items', set: 'items', object: 'fields', record: 'fields' }[
    String(issue.origin)
  ];
  if (unit === undefined) return `be ${kindOf({ ...issue, expected: 'number' })}`;
  const [bound, limit] = issue.code === 'too_small' ? ['at least', issue.minimum] : ['at most', issue.maximum];
  return `have ${issue.exact === true ? 'exactly' : bound} ${String(limit)} ${Number(limit) === 1 ? unit.slice(0, -1) : unit}`;
}

const formatNames: Record<string, string> = {
  email: 'an email address',
  url: 'a URL',
  uuid: 'a UUID',
  json_string: 'JSON text',
  base64: 'base64',
  datetime: 'a date and time such as 2026-01-31T09:30:00Z',
  date: 'a date such as 2026-01-31',
};

function formatText(issue: z.core.$ZodRawIssue): string {
  if (issue.format === 'regex') return `must match ${String(issue.pattern).slice(0, 200)}`;
  return `must be ${formatNames[String(issue.format)] ?? `a valid ${String(issue.format)}`}`;
}

function unknownText(issue: z.core.$ZodRawIssue): string {
  const known = Object.keys(
    (issue.inst as { _zod?: { def?: { shape?: object } } } | undefined)?._zod?.def?.shape ?? {},
  );
  return unknownFields('field', issue.keys as string[], known);
}

/** Lists the unknown and the known names (contract). */
export function unknownFields(
  kind: 'field' | 'query parameter',
  unknown: readonly string[],
  known: readonly string[],
): string {
  const names = unknown
    .slice(0, maxProblems)
    .map((name) => JSON.stringify(name.slice(0, 100)))
    .join(', ');
  const allowed = known.length === 0 ? `no ${kind} is allowed here` : `known are ${known.join(', ')}`;
  return `unknown ${kind}${unknown.length === 1 ? '' : 's'} ${names}; ${allowed}`;
}

function listOf(texts: readonly string[]): string {
  return texts.length === 1 ? String(texts[0]) : `one of ${texts.join(', ')}`;
}

function isBound(limit: number | null | undefined): limit is number {
  return typeof limit === 'number' && Math.abs(limit) < Number.MAX_SAFE_INTEGER;
}

/**
 * Validates a value and reports every wrong field. An object without required fields may be omitted.
 * @param code `not_found` if an invalid id in the path means that the record does not exist
 */
export function validate<S extends z.ZodType>(
  schema: S | undefined,
  value: unknown,
  code: 'not_found' | 'invalid_request',
): z.output<S> {
  if (!schema) return undefined as z.output<S>;
  const parsed = parseWithProblems(schema, value === undefined && schema instanceof z.ZodObject ? {} : value);
  if ('data' in parsed) return parsed.data;
  throw code === 'not_found' ? new AppError(code, 'no such record') : new AppError(code, parsed.problems.join('; '));
}

const decimal = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;

/** A number in a query or path. `z.coerce` would read an empty text as 0 and `0x10` as 16. */
export function queryNumber<S extends z.ZodNumber>(schema: S) {
  return z.preprocess((text) => (typeof text === 'string' && decimal.test(text) ? Number(text) : text), schema);
}

const visible = /[^\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;

export function isVisible(text: string): boolean {
  return visible.test(text);
}

/** A trimmed text that a reader can see. Only invisible characters, such as U+200B, are refused. */
export const VisibleText = z
  .string()
  .trim()
  .refine((text) => text === '' || isVisible(text), 'must contain a visible character');
