import type { ErrorCode } from './error-catalog.js';
import { AppError } from './errors.js';
import { isExactNumber } from './json.js';

/**
 * The limits of nesting levels, named fields of a body, values of a body and of a callback, and fields of one object.
 * Machines write callbacks: a push of 2,048 commits, the most that a code host sends, names 100,000 paths.
 */
export const bodyLimits = { depth: 64, names: 25_000, values: 30_000, callbackValues: 250_000, fields: 2_000 };

interface JsonGate {
  /** The name of the value in error messages, such as `the body`. */
  what: string;
  code: ErrorCode;
  /** Forbidden field names. */
  names: ReadonlySet<string>;
  depth: number;
  /** The maximum number of fields of one object. */
  fields: number;
}

/**
 * The MongoDB driver interprets `_bsontype` as a type of its own: it rejects such an object or stores another value.
 */
const unstorableNames = ['__proto__', '_bsontype'];

export const bodyGate: JsonGate = {
  what: 'the body',
  code: 'invalid_request',
  names: new Set([...unstorableNames, 'constructor', 'prototype']),
  depth: bodyLimits.depth,
  fields: bodyLimits.fields,
};
/** Returns a gate for responses of other servers, to whose size another limit applies. */
export const answerGate = (what: string): JsonGate => ({
  what,
  code: 'validation_failed',
  names: new Set(unstorableNames),
  depth: bodyLimits.depth,
  fields: Infinity,
});

/**
 * Rejects JSON that cannot be stored: certain field names, numbers beyond 1.8e308, NUL, lone surrogates, deep nesting.
 * @throws AppError with the gate's code; the message names the field
 */
export function checkJson(value: unknown, gate: JsonGate = bodyGate): void {
  const found = problemIn(value, gate, 0);
  if (!found) return;
  const path = found.path.reverse().join('.').slice(0, 200);
  // The fields of a body need no further name.
  const place = path === '' ? gate.what : gate === bodyGate ? path : `${gate.what}: ${path}`;
  throw new AppError(gate.code, found.isOfAll ? `${gate.what} ${found.text}` : `${place}: ${found.text}`);
}

const [quote = 0, backslash, comma, openBracket, closeBracket, openBrace, closeBrace, colon] = Buffer.from('"\\,[]{}:');
const [zero = 0, nine = 0, point, lowerE, upperE] = Buffer.from('09.eE');
/** JSON.parse keeps all digits of a shorter integer. */
const longInteger = 16;

/**
 * Rejects a body with more than `max` values or `maxNames` named fields. Scans the bytes once before JSON.parse,
 * because parsing and walking the result take up to a microsecond per value.
 * @param checkInteger is called for each long integer
 * @throws AppError `invalid_request`
 */
export function checkValueCount(
  text: Uint8Array,
  max = bodyLimits.values,
  checkInteger: (digits: string) => void = () => undefined,
  maxNames = bodyLimits.names,
): void {
  let values = 1;
  let names = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at];
    if (inString) {
      if (byte === backslash) at += 1;
      else if (byte === quote) inString = false;
    } else if (byte === quote) {
      // Most strings contain no escaped quote, so skip them at once.
      const end = text.indexOf(quote, at + 1);
      if (end < 0) return;
      if (text[end - 1] === backslash) inString = true;
      else at = end;
    } else if (byte === colon) {
      names += 1;
      if (names > maxNames)
        throw new AppError('invalid_request', `the body contains more than ${maxNames} named fields`);
    } else if (
      byte === comma ||
      (byte === openBracket && text[at + 1] !== closeBracket) ||
      (byte === openBrace && text[at + 1] !== closeBrace)
    ) {
      values += 1;
      if (values > max) throw new AppError('invalid_request', `the body contains more than ${max} values`);
    } else if (isDigit(byte)) {
      const from = at;
      while (isDigit(text[at + 1])) at += 1;
      const isInteger = text[from - 1] !== point && ![point, lowerE, upperE].includes(text[at + 1]);
      if (isInteger && at - from + 1 >= longInteger) checkInteger(Buffer.from(text.subarray(from, at + 1)).toString());
    }
  }
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= zero && byte <= nine;
}

/**
 * Rejects an integer that JSON.parse would round, because it would be stored with other digits.
 * @throws AppError `invalid_request`
 */
export function refuseRounded(digits: string): void {
  if (!isExactNumber(digits))
    throw new AppError(
      'invalid_request',
      `the integer ${digits.slice(0, 40)} is too large to be kept exactly: send it as a string`,
    );
}

interface Problem {
  text: string;
  /** The path from the innermost to the outermost name. */
  path: string[];
  /** Whether the problem concerns the whole value. The message then omits the path. */
  isOfAll: boolean;
}

function problemIn(value: unknown, gate: JsonGate, depth: number): Problem | undefined {
  if (typeof value === 'string') return problemOfText(value);
  if (typeof value === 'number' && !Number.isFinite(value))
    return { text: 'the number is too large', path: [], isOfAll: false };
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth >= gate.depth) return { text: `is nested deeper than ${gate.depth} levels`, path: [], isOfAll: true };
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at += 1) {
      const found = problemIn(value[at], gate, depth + 1);
      if (found) return under(String(at), found);
    }
    return undefined;
  }
  const names = Object.keys(value);
  if (names.length > gate.fields)
    return { text: `the object has more than ${gate.fields} fields`, path: [], isOfAll: false };
  for (const name of names) {
    if (gate.names.has(name)) return { text: `the field name ${name} is not allowed`, path: [], isOfAll: false };
    const wrongName = problemOfText(name);
    if (wrongName) return wrongName;
    const found = problemIn((value as Record<string, unknown>)[name], gate, depth + 1);
    if (found) return under(name, found);
  }
  return undefined;
}

function under(name: string, found: Problem): Problem {
  found.path.push(name);
  return found;
}

function problemOfText(text: string): Problem | undefined {
  if (text.includes('\0')) return { text: 'NUL characters are not allowed', path: [], isOfAll: false };
  return text.isWellFormed() ? undefined : { text: 'the text is not well-formed Unicode', path: [], isOfAll: false };
}
