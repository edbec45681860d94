import { isDeepStrictEqual } from 'node:util';
import { FormData } from 'undici';
import { AppError } from '../../base/errors.js';
import { isJsonObject, isNumberText, type JsonObject } from '../../base/json.js';
import type { HttpMethod } from '../../outbound/http-client.js';
import { writtenInputs } from '../../prompts/written-variables.js';
import type { ActionPlan } from '../../../workflows/agentflow-execution/messages.js';
import type { SchemaField } from '../../../workflows/agentflow-execution/schema-field.js';

type Field = Pick<SchemaField, 'field_id' | 'type' | 'in'>;

/** Where the fields of a call go, except those that only the address has. */
export interface CallParts {
  query: [string, string][];
  headers: Record<string, string>;
  /** Undefined for a call without a body. */
  body: JsonObject | undefined;
}

/**
 * Decides where each field of an input goes: to the place that it names; otherwise only into the address, if that writes its
 * value; otherwise into the query of GET and DELETE, and into the body of other methods.
 */
export function partsOf(
  { endpoint, input_schema }: ActionPlan,
  { method, input, variables }: { method: HttpMethod; input: JsonObject; variables: JsonObject },
): CallParts {
  const written = writtenInputs('the endpoint', endpoint);
  const hasBody = method !== 'GET' && method !== 'DELETE';
  const parts: CallParts = { query: [], headers: {}, body: hasBody ? {} : undefined };
  for (const [name, value] of Object.entries(input)) {
    const place = input_schema.fields.find(({ field_id }) => field_id === name)?.in;
    const isInAddress = written.has(name) && isDeepStrictEqual(variables[name], value);
    if (place === 'query') parts.query.push(...repeated(name, value));
    else if (place === 'header') parts.headers[name.toLowerCase()] = headerText(name, value);
    else if (place === 'body' || (place === undefined && !isInAddress && hasBody))
      parts.body = { ...parts.body, [name]: value };
    else if (place === undefined && !isInAddress) parts.query.push([name, textOf(value)]);
  }
  return parts;
}

export const jsonType = 'application/json';
const formType = 'application/x-www-form-urlencoded';
const multipartType = 'multipart/form-data';

/** Formats of bodies. The client adds the boundary of a multipart body to its type. */
export function encodedBody(
  body: JsonObject,
  { content_type = jsonType, input_schema: { fields } }: Pick<ActionPlan, 'content_type' | 'input_schema'>,
): { body: string | FormData; headers: Record<string, string> } {
  switch (content_type) {
    case formType: {
      const pairs = Object.entries(body).flatMap(([name, value]) => repeated(name, value));
      return { body: new URLSearchParams(pairs).toString(), headers: { 'content-type': formType } };
    }
    case multipartType:
      return { body: formOf(body), headers: {} };
    default:
      return { body: jsonOf(body, fields), headers: { 'content-type': jsonType } };
  }
}

/** A number that JavaScript would change is kept as text. A field that is a number sends its digits as a number. */
function jsonOf(body: JsonObject, fields: readonly Field[]): string {
  const numbers = new Set(
    fields.filter(({ type }) => /^(number|integer)$/i.test(type)).map(({ field_id }) => field_id),
  );
  const members = Object.entries(body).map(([name, value]) => {
    const text = numbers.has(name) && isNumberText(value) ? value : JSON.stringify(value);
    return `${JSON.stringify(name)}:${text}`;
  });
  return `{${members.join(',')}}`;
}

/** An object with `filename` and `text` or `base64` is a file. */
function formOf(body: JsonObject): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) {
    for (const each of Array.isArray(value) ? (value as unknown[]) : [value]) {
      const file = fileIn(each);
      if (file) form.append(name, file.content, file.name);
      else form.append(name, textOf(each));
    }
  }
  return form;
}

function fileIn(value: unknown): { name: string; content: Blob } | undefined {
  if (!isJsonObject(value) || typeof value.filename !== 'string') return undefined;
  const { filename: name, text, base64, content_type = 'application/octet-stream' } = value;
  const type = String(content_type);
  if (typeof base64 === 'string') return { name, content: new Blob([Buffer.from(base64, 'base64')], { type }) };
  return typeof text === 'string' ? { name, content: new Blob([text], { type }) } : undefined;
}

/** A list repeats its name (OpenAPI: `style` form, `explode` true). */
function repeated(name: string, value: unknown): [string, string][] {
  const values = Array.isArray(value) ? (value as unknown[]) : [value];
  return values.map((each) => [name, textOf(each)]);
}

function headerText(name: string, value: unknown): string {
  const text = textOf(value);
  if (/^[\t\x20-\x7e\x80-\xff]*$/.test(text)) return text;
  throw new AppError(
    'validation_failed',
    `the header "${name}" must be one line of Latin characters (ISO-8859-1), as headers are`,
  );
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
