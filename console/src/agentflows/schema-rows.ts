import { isFields, text, type Fields } from './document.js';

/** One property of an object in a JSON Schema. */
export interface SchemaRow {
  name: string;
  isRequired: boolean;
  /** The schema of the property, with keywords that the form does not have. */
  schema: Fields;
}

export const typeNames = {
  string: 'Text',
  number: 'Number',
  integer: 'Whole number',
  boolean: 'Yes or no',
  array: 'List',
  object: 'Object',
} as const;

/** Returns the properties of a schema; undefined if it can only be edited as JSON. */
export function rowsOf(schema: unknown): SchemaRow[] | undefined {
  if (schema === undefined || schema === null) return [];
  if (!isFields(schema) || schema.type !== 'object') return undefined;
  const { properties = {}, required = [] } = schema;
  if (!isFields(properties) || !Array.isArray(required) || !Object.values(properties).every(isFields)) return undefined;
  return Object.entries(properties).map(([name, each]) => ({
    name,
    isRequired: required.includes(name),
    schema: each as Fields,
  }));
}

/** Puts the properties into a schema, and keeps everything else in it. */
export function withRows(schema: unknown, rows: readonly SchemaRow[]): Fields {
  const { properties: _properties, required: _required, ...others } = isFields(schema) ? schema : { type: 'object' };
  return {
    ...others,
    properties: Object.fromEntries(rows.map((row) => [row.name, row.schema])),
    required: rows.filter(({ isRequired }) => isRequired).map(({ name }) => name),
  };
}

/** Changes a keyword of a schema, or removes it. */
export function withKeyword(schema: Fields, name: string, value: unknown): Fields {
  const { [name]: _before, ...others } = schema;
  return value === undefined ? others : { ...others, [name]: value };
}

/** Another type keeps only what is true of every type. */
export function withType(schema: Fields, type: string): Fields {
  const { description, title } = schema;
  return {
    type,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(type === 'array' && { items: { type: 'string' } }),
  };
}

/** The allowed values of a text, if each can stand in a line; undefined if they can only be edited as JSON. */
export function choicesOf({ enum: choices = [] }: Fields): string[] | undefined {
  const isLine = (each: unknown) => typeof each === 'string' && !each.includes('\n');
  return Array.isArray(choices) && choices.every(isLine) ? choices.map(text) : undefined;
}
