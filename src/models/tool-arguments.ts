import { isJsonObject, parseJsonOrUndefined, withNumbersKept, type JsonObject } from '../base/json.js';

const maxDepth = 16;
/** What models write instead of an empty object. */
const nothing: ReadonlySet<string> = new Set(['null', '""', 'undefined', 'None']);

/**
 * Returns the arguments of a call as the text of a JSON object, as the schema wants them. Repairs what models and gateways
 * do to arguments: JSON within a string, line ends within strings, and numbers, booleans, lists and objects as text. A
 * number that JavaScript would change becomes a text. Any other text stays as it is.
 */
export function repairedArguments(text: string, schema: unknown): string {
  if (nothing.has(text.trim())) return '{}';
  const written = parseJsonOrUndefined(text);
  const value = isJsonObject(written) ? written : objectIn(written ?? text, 0);
  if (!value) return text;
  const fitting = fitted(value, schema, 0);
  return value === written && fitting === value ? withNumbersKept(text) : JSON.stringify(fitting);
}

function objectIn(value: unknown, depth: number): JsonObject | undefined {
  if (isJsonObject(value)) return value;
  if (typeof value !== 'string' || depth > 3) return undefined;
  const opened = value.trim().replace(/^```(?:json)?/, '');
  const inner = (opened.endsWith('```') ? opened.slice(0, -'```'.length) : opened).trim();
  if (!/^["{]/.test(inner)) return undefined;
  const parsed = parseJsonOrUndefined(inner) ?? parseJsonOrUndefined(withoutRawCharacters(inner));
  return parsed === undefined ? undefined : objectIn(parsed, depth + 1);
}

/** Escapes the control characters within the strings of a JSON text, which JSON does not allow there. */
export function withoutRawCharacters(json: string): string {
  let escaped = '';
  let isInString = false;
  let isAfterBackslash = false;
  for (const character of json) {
    escaped += isInString && character < ' ' ? JSON.stringify(character).slice(1, -1) : character;
    if (isAfterBackslash) isAfterBackslash = false;
    else if (character === '\\') isAfterBackslash = isInString;
    else if (character === '"') isInString = !isInString;
  }
  return escaped;
}

/** Converts texts to numbers and booleans where the schema permits no text. Returns the same value if nothing changes. */
export function fitted(value: unknown, schema: unknown, depth = 0): unknown {
  if (!isJsonObject(schema) || depth > maxDepth) return value;
  if (typeof value === 'string') return fromText(value, typesOf(schema));
  if (Array.isArray(value)) {
    const items = (value as unknown[]).map((each) => fitted(each, schema.items, depth + 1));
    return items.some((each, at) => each !== value[at]) ? items : value;
  }
  if (!isJsonObject(value) || !isJsonObject(schema.properties)) return value;
  const changed: JsonObject = {};
  for (const [name, each] of Object.entries(value)) {
    if (!Object.hasOwn(schema.properties, name)) continue;
    const fitting = fitted(each, schema.properties[name], depth + 1);
    if (fitting !== each) changed[name] = fitting;
  }
  return Object.keys(changed).length > 0 ? { ...value, ...changed } : value;
}

function typesOf({ type }: JsonObject): ReadonlySet<string> {
  const types: unknown[] = Array.isArray(type) ? type : [type];
  return new Set(types.filter((each) => typeof each === 'string').map((each) => each.toLowerCase()));
}

function fromText(text: string, types: ReadonlySet<string>): unknown {
  if (types.size === 0 || types.has('string')) return text;
  const word = text.trim();
  const inner = /^[{[]/.test(word) ? parseJsonOrUndefined(word) : undefined;
  if ((types.has('array') && Array.isArray(inner)) || (types.has('object') && isJsonObject(inner))) return inner;
  if (types.has('boolean') && /^(true|false)$/i.test(word)) return word.toLowerCase() === 'true';
  if (!types.has('number') && !types.has('integer')) return text;
  const number = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(word) ? Number(word) : Number.NaN;
  // A number that JavaScript would round stays as the model wrote it.
  const isExact = Number.isFinite(number) && (!Number.isInteger(number) || Number.isSafeInteger(number));
  return isExact && (types.has('number') || Number.isInteger(number)) ? number : text;
}
