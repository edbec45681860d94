import { z } from 'zod';
import { largestTime } from '../../base/time.js';

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** The root of a tool's schema. MCP requires an object. */
export interface ObjectSchema {
  [key: string]: Json;
  type: 'object';
  properties: { [name: string]: { [keyword: string]: Json } };
  required: string[];
}

/** The metadata of schemas without their OpenAPI ids, so that the generated schemas contain no `$ref`. */
const metadata = z.registry<Record<string, unknown>>();
metadata.get = (schema) => {
  const { id: _, example, ...meta } = z.globalRegistry.get(schema) ?? {};
  return example === undefined ? meta : { ...meta, examples: [example] };
};

/**
 * The JSON Schema 2020-12 (the default dialect of MCP) of the input of a schema. `bounds: false` omits lengths,
 * patterns and examples, which only a sender needs. If the whole schema has an example, those of its parts are omitted.
 * @throws Error if the schema is not an object
 */
export function jsonSchemaOf(schema: z.ZodType, { bounds = true }: { bounds?: boolean } = {}): ObjectSchema {
  const hasOwnExample = z.globalRegistry.get(schema)?.example !== undefined;
  const override = ({ jsonSchema, path }: { jsonSchema: Keywords; path: unknown[] }) => {
    removeNoise(jsonSchema);
    if (hasOwnExample && path.length > 0) delete jsonSchema.examples;
    if (!bounds) for (const keyword of boundKeywords) delete jsonSchema[keyword];
  };
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', metadata, override });
  if (json.type !== 'object') throw new Error('the input and the output of a tool must be objects');
  return { properties: {}, required: [], ...(json as object), type: 'object' };
}

type Keywords = z.core.JSONSchema.BaseSchema;

const boundKeywords = [
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'propertyNames',
  'minimum',
  'maximum',
  'default',
  'examples',
] as const;

/**
 * Removes frequent keywords that a model does not need: safe integer bounds, the bounds of a time, the pattern of a date,
 * and string property names.
 */
function removeNoise(json: Keywords): void {
  if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum;
  if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum;
  if (json.minimum === -largestTime) delete json.minimum;
  if (json.maximum === largestTime) delete json.maximum;
  if (json.format === 'date-time') delete json.pattern;
  if (typeof json.propertyNames === 'object' && Object.keys(json.propertyNames).join() === 'type')
    delete json.propertyNames;
}

/** Adds properties. @throws Error if the schema already has a property of that name */
export function withProperties(schema: ObjectSchema, added: ObjectSchema['properties']): ObjectSchema {
  const taken = Object.keys(added).find((name) => Object.hasOwn(schema.properties, name));
  if (taken !== undefined) throw new Error(`the schema already has a property ${taken}`);
  return { ...schema, properties: { ...schema.properties, ...added } };
}

export function withoutProperties(schema: ObjectSchema, names: readonly string[]): ObjectSchema {
  const properties = Object.fromEntries(Object.entries(schema.properties).filter(([name]) => !names.includes(name)));
  return { ...schema, properties, required: schema.required.filter((name) => !names.includes(name)) };
}
