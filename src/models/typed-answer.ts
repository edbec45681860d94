import { isAppError } from '../base/errors.js';
import { canonicalText, isJsonObject, parseJsonOrUndefined, type JsonObject } from '../base/json.js';
import { answerGate, checkJson } from '../base/json-gate.js';
import { valueCheck } from '../base/json-schema.js';
import { fitted, withoutRawCharacters } from './tool-arguments.js';

/** The text of an answer that should be one JSON value, and the schema of that value. */
export interface TypedAnswer {
  content: string;
  schema: JsonObject;
}

/** The value of an answer, or why the answer cannot be used, for the model. */
export type TypedResult = { value: unknown } | { problems: string[] };

const name = 'answer';
const maxBlocks = 20;

/**
 * Reads the value of an answer. Accepts what models do around a complete value: Markdown fences, prose, a value within a
 * string, line ends within strings, numbers and booleans as text, and null for an optional field. Everything else is a
 * problem that the model can repair. Runs in a thread, because the model and the author of the schema decide how long it takes.
 */
export function readTypedAnswer({ content, schema }: TypedAnswer): TypedResult {
  const problemsOf = valueCheck(schema, name);
  const isFitting = (value: unknown) => problemsOf(value).length === 0;
  const found = valuesIn(content, isFitting);
  if (found.length === 0) return { problems: [`${name}: must be one JSON value; it is no valid JSON`] };
  const read = found.map((value) => checked(value, schema, problemsOf));
  const fitting = read.flatMap((each) => ('value' in each ? [each] : []));
  const [first, ...others] = fitting;
  if (!first) return read.find((each) => 'problems' in each) ?? { problems: [] };
  const isOne = others.every(({ value }) => canonicalText(value) === canonicalText(first.value));
  return isOne ? first : { problems: [`${name}: must be one JSON value; it has several that match the schema`] };
}

/** The values that the text may mean: the whole text, else its fenced blocks, else the objects and lists in its prose. */
function valuesIn(content: string, isFitting: (value: unknown) => boolean): unknown[] {
  const whole = parsed(content.trim());
  if (whole !== undefined) return [unwrapped(whole, isFitting)];
  const fenced = [...content.matchAll(/```[\w-]*[ \t]*\r?\n([^]*?)```/g)].slice(0, maxBlocks);
  const blocks = fenced.flatMap(([, text = '']) => parsed(text.trim()) ?? []);
  return blocks.length > 0 ? blocks : valuesInProse(content);
}

/** Undefined for a text that is not JSON. */
function parsed(text: string): unknown {
  return parseJsonOrUndefined(text) ?? (text === 'null' ? null : parseJsonOrUndefined(withoutRawCharacters(text)));
}

/** A value that the model wrote as a text of JSON, unless the schema permits a text. */
function unwrapped(value: unknown, isFitting: (value: unknown) => boolean): unknown {
  if (typeof value !== 'string' || isFitting(value)) return value;
  const inner = parsed(value.trim());
  return isJsonObject(inner) || Array.isArray(inner) ? inner : value;
}

/** The outermost objects and lists in a text, in order. */
function valuesInProse(content: string): unknown[] {
  const found: unknown[] = [];
  for (let at = 0; at < content.length && found.length < maxBlocks; at += 1) {
    if (content[at] !== '{' && content[at] !== '[') continue;
    const end = endOfValue(content, at);
    // An opened value without an end is half an answer, so nothing within it counts.
    if (end === undefined) return [];
    const value = parsed(content.slice(at, end));
    if (typeof value !== 'object' || value === null) continue;
    found.push(value);
    at = end - 1;
  }
  return found;
}

/** The position after the bracket that closes the value which begins at `start`. */
function endOfValue(text: string, start: number): number | undefined {
  let depth = 0;
  let isInString = false;
  for (let at = start; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (isInString) {
      if (character === '\\') at += 1;
      else if (character === '"') isInString = false;
    } else if (character === '"') isInString = true;
    else if ('{['.includes(character)) depth += 1;
    else if ('}]'.includes(character)) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return undefined;
}

/** The value as the schema wants it, or why it does not match. */
function checked(given: unknown, schema: JsonObject, problemsOf: (value: unknown) => string[]): TypedResult {
  const value = fitted(withoutEmptyOptions(given, schema), schema);
  const problems = problemsOf(value);
  if (problems.length > 0) return { problems };
  try {
    checkJson(value, answerGate(`the ${name}`));
    return { value };
  } catch (error) {
    if (!isAppError(error)) throw error;
    return { problems: [error.message] };
  }
}

/** Without optional fields that are null although their schema does not permit null: strict models must write every field. */
function withoutEmptyOptions(value: unknown, schema: unknown): unknown {
  if (!isJsonObject(schema)) return value;
  if (Array.isArray(value)) return value.map((each) => withoutEmptyOptions(each, schema.items));
  if (!isJsonObject(value) || !isJsonObject(schema.properties)) return value;
  const { properties } = schema;
  const required: unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const isEmptyOption = (field: string, each: unknown) => {
    const type = isJsonObject(properties[field]) ? properties[field].type : undefined;
    return each === null && type !== undefined && !required.includes(field) && ![type].flat().includes('null');
  };
  return Object.fromEntries(
    Object.entries(value)
      .filter(([field, each]) => !isEmptyOption(field, each))
      .map(([field, each]) => [
        field,
        Object.hasOwn(properties, field) ? withoutEmptyOptions(each, properties[field]) : each,
      ]),
  );
}
