import canonicalize from 'canonicalize';
import { withoutTrailing } from './text.js';

export type JsonObject = Record<string, unknown>;

/** Returns whether a value is an object, but neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Parses JSON of others. A number that JavaScript would change becomes a text with the same digits, such as an id of 64 bits
 * (RFC 8259, 6). All other values are those of `JSON.parse`.
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return mayChangeNumbers.test(text) ? (JSON.parse(withNumbersKept(text)) as unknown) : value;
}

/** Like `parseJson`, but returns undefined for a text that is not JSON. */
export function parseJsonOrUndefined(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** Parses a JSON object. Returns an empty object for any other text. */
export function parseJsonObject(text: string): JsonObject {
  const value = parseJsonOrUndefined(text);
  return isJsonObject(value) ? value : {};
}

/** Returns canonical JSON (RFC 8785), or an empty string for a value that JSON cannot express. */
export function canonicalText(value: unknown): string {
  return canonicalize(value) ?? '';
}

/** Shorter numbers with smaller exponents stay as they are. */
const mayChangeNumbers = /\d[\d.]{15}|\d[eE][+-]?\d{3}/;

/** Puts each number of a JSON text that JavaScript would change between quotes. The text must be valid. */
export function withNumbersKept(json: string): string {
  if (!mayChangeNumbers.test(json)) return json;
  const token = /"|-?\d[\d.eE+-]*/g;
  let kept = '';
  let copied = 0;
  for (let found = token.exec(json); found; found = token.exec(json)) {
    const [text] = found;
    if (text === '"') token.lastIndex = endOfString(json, found.index);
    else if (!isExactNumber(text)) {
      kept += `${json.slice(copied, found.index)}"${text}"`;
      copied = token.lastIndex;
    }
  }
  return kept + json.slice(copied);
}

/** The position after the quote that closes the string which begins at `start`. */
function endOfString(json: string, start: number): number {
  let end = json.indexOf('"', start + 1);
  while (end >= 0) {
    let before = end - 1;
    while (json[before] === '\\') before -= 1;
    if ((end - before) % 2 === 1) return end + 1;
    end = json.indexOf('"', end + 1);
  }
  return json.length;
}

/**
 * Returns whether JavaScript keeps a number of JSON. It must print an integer with the same digits. A fraction may have as
 * many digits as other languages print of the same double, such as 0.10000000000000001.
 */
export function isExactNumber(text: string): boolean {
  const value = Number(text);
  if (!Number.isFinite(value)) return false;
  const written = decimalOf(text);
  if (isSame(written, decimalOf(String(value)))) return true;
  const { length } = written.digits;
  return written.exponent < 0 && length <= maxPrecision && isSame(written, decimalOf(value.toPrecision(length)));
}

/** The largest argument of `toPrecision`. */
const maxPrecision = 100;

interface Decimal {
  /** Without zeros at both ends; empty for zero. */
  digits: string;
  exponent: number;
}

function isSame(one: Decimal, other: Decimal): boolean {
  return one.digits === other.digits && one.exponent === other.exponent;
}

function decimalOf(text: string): Decimal {
  const [mantissa = '', exponent = '0'] = text.slice(text.startsWith('-') ? 1 : 0).split(/[eE]/) as [string, string?];
  const [whole = '', fraction = ''] = mantissa.split('.') as [string, string?];
  const all = (whole + fraction).replace(/^0+/, '');
  const digits = withoutTrailing(all, '0');
  return { digits, exponent: digits === '' ? 0 : Number(exponent) - fraction.length + all.length - digits.length };
}

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Returns whether a value is a number that `parseJson` kept as text. */
export function isNumberText(value: unknown): value is string {
  return typeof value === 'string' && number.test(value) && !isExactNumber(value);
}

function isIntegerText(value: unknown): boolean {
  return isNumberText(value) && decimalOf(value).exponent >= 0;
}

const checks = new Map<string, (value: unknown) => boolean>([
  ['string', (value) => typeof value === 'string'],
  ['number', (value) => typeof value === 'number' || isNumberText(value)],
  ['integer', (value) => Number.isInteger(value) || isIntegerText(value)],
  ['boolean', (value) => typeof value === 'boolean'],
  ['object', isJsonObject],
  ['array', Array.isArray],
]);

/** Returns whether the value has this type of JSON Schema. Ignores case. Any value matches an unknown type. A number may be kept as text. */
export function hasType(value: unknown, type: string): boolean {
  return checks.get(type.toLowerCase())?.(value) ?? true;
}

const maxObjects = 100;

/** Returns the JSON objects in a text that also has other words, in order. An object within another one is not returned. */
export function jsonObjectsIn(text: string): JsonObject[] {
  const found: JsonObject[] = [];
  let at = text.indexOf('{');
  for (let tries = 0; at >= 0 && tries < maxObjects; tries += 1) {
    const end = endOfObject(text, at);
    const value = end === undefined ? undefined : parseJsonOrUndefined(text.slice(at, end));
    if (isJsonObject(value)) found.push(value);
    at = text.indexOf('{', isJsonObject(value) && end !== undefined ? end : at + 1);
  }
  return found;
}

/** The position after the bracket that closes the object which begins at `start`. */
function endOfObject(text: string, start: number): number | undefined {
  let depth = 0;
  let inString = false;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at];
    if (inString) {
      if (character === '\\') at += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{') depth += 1;
    else if (character === '}') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return undefined;
}
