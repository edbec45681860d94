import { exampleValues } from './example-values.js';

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** The parts of a JSON Schema that an example is made from. */
export interface JsonSchema {
  $ref?: string;
  type?: string | readonly string[];
  const?: Json;
  enum?: readonly Json[];
  default?: Json;
  example?: Json;
  examples?: readonly Json[];
  properties?: Record<string, JsonSchema>;
  required?: readonly string[];
  items?: JsonSchema;
  anyOf?: readonly JsonSchema[];
  oneOf?: readonly JsonSchema[];
  allOf?: readonly JsonSchema[];
}

export interface ExampleOptions {
  schemas: Readonly<Record<string, JsonSchema>>;
  /** Optional fields that are left out: a request says in its body nothing that its path has said. */
  leaveOut?: ReadonlySet<string>;
}

/** Schemas may contain themselves. */
const deepest = 12;

/**
 * An example of a schema: its own where it has one; else put together of its parts, down to fields whose values
 * `example-values.ts` gives by name. Undefined where a needed field has none; a test finds these.
 */
export function composeExample(schema: JsonSchema, name: string, options: ExampleOptions, depth = 0): Json | undefined {
  if (depth > deepest) return undefined;
  const target = resolve(schema, options);
  const own = target.example ?? target.examples?.[0];
  if (own !== undefined) return withDefaults(target, own, options);
  if (target.const !== undefined) return target.const;
  if (target.enum) return target.enum[0];
  const named = exampleValues[name];
  if (named !== undefined && takes(target, named)) return named;
  const inner = (part: JsonSchema, as = name) => composeExample(part, as, options, depth + 1);
  const choices = target.anyOf ?? target.oneOf;
  if (choices) return choices.map((choice) => inner(choice)).find((example) => example !== undefined);
  if (target.allOf) return Object.assign({}, ...target.allOf.map((part) => inner(part))) as Json;
  if (target.properties || isOf(target, 'object')) return composeObject(target, options, inner);
  if (isOf(target, 'array')) return composeArray(target, inner);
  if (target.default !== undefined) return target.default;
  if (isOf(target, 'boolean')) return true;
  return isOf(target, 'null') || target.type === undefined ? null : undefined;
}

type Compose = (part: JsonSchema, name?: string) => Json | undefined;

function composeObject({ properties = {}, required = [] }: JsonSchema, { leaveOut }: ExampleOptions, inner: Compose): Json | undefined {
  const fields = Object.entries(properties).filter(([field]) => required.includes(field) || !leaveOut?.has(field));
  const composed = fields.map(([field, part]) => [field, inner(part, field)] as const);
  if (composed.some(([field, example]) => example === undefined && required.includes(field))) return undefined;
  return Object.fromEntries(composed.filter((entry): entry is [string, Json] => entry[1] !== undefined));
}

function composeArray({ items }: JsonSchema, inner: Compose): Json | undefined {
  const item = items && inner(items);
  return item === undefined ? [] : [item];
}

/** A request's example may leave out what has a default; as an answer it must not. */
export function withDefaults(schema: JsonSchema, value: Json, options: ExampleOptions): Json {
  const { properties = {}, required = [], items, anyOf, oneOf } = resolve(schema, options);
  if (Array.isArray(value)) return items ? value.map((item) => withDefaults(items, item, options)) : value;
  if (typeof value !== 'object' || value === null) return value;
  const choice = (anyOf ?? oneOf)?.find((part) => isOf(resolve(part, options), 'object'));
  if (choice) return withDefaults(choice, value, options);
  const complete = { ...defaultsOf(properties, required, options), ...value };
  return Object.fromEntries(
    Object.entries(complete).map(([field, given]) => [field, withDefaults(properties[field] ?? {}, given, options)]),
  );
}

function defaultsOf(properties: Record<string, JsonSchema>, required: readonly string[], options: ExampleOptions): Record<string, Json> {
  const defaults = required.map((field) => [field, resolve(properties[field] ?? {}, options).default] as const);
  return Object.fromEntries(defaults.filter((entry): entry is [string, Json] => entry[1] !== undefined));
}

function resolve(schema: JsonSchema, { schemas }: ExampleOptions): JsonSchema {
  const name = schema.$ref?.replace('#/components/schemas/', '');
  return name === undefined ? schema : (schemas[name] ?? {});
}

function isOf({ type }: JsonSchema, name: string): boolean {
  return type === name || (Array.isArray(type) && type.includes(name));
}

function takes(schema: JsonSchema, value: Json): boolean {
  if (schema.anyOf) return schema.anyOf.some((choice) => takes(choice, value));
  if (Array.isArray(value)) return isOf(schema, 'array');
  if (typeof value === 'number') return isOf(schema, 'number') || (Number.isInteger(value) && isOf(schema, 'integer'));
  return isOf(schema, value === null ? 'null' : typeof value);
}
