import { z } from 'zod';

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** The root of a tool's schema, which MCP wants to be an object. */
export interface ObjectSchema {
  [key: string]: Json;
  type: 'object';
  properties: { [name: string]: { [keyword: string]: Json } };
  required: string[];
}

/** The schemas' own texts without the ids under which OpenAPI names them, so that every schema stands alone, without `$ref`. */
const texts = z.registry<Record<string, unknown>>();
texts.get = (schema) => {
  const { id: _, example, ...meta } = z.globalRegistry.get(schema) ?? {};
  return example === undefined ? meta : { ...meta, examples: [example] };
};

/**
 * JSON Schema 2020-12, which is MCP's default dialect, of what a sender may write.
 * @throws Error for a schema that is no object
 */
export function jsonSchemaOf(schema: z.ZodType): ObjectSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', metadata: texts, override: withoutSafeBounds });
  if (json.type !== 'object') throw new Error('a tool takes and gives objects');
  return { properties: {}, required: [], ...(json as object), type: 'object' };
}

/** That an integer is a safe one need not be said to a model, dozens of times. */
function withoutSafeBounds({ jsonSchema }: { jsonSchema: { minimum?: number; maximum?: number } }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}

/** Adds properties; @throws Error where the schema has one of the name already */
export function withProperties(schema: ObjectSchema, added: ObjectSchema['properties']): ObjectSchema {
  const taken = Object.keys(added).find((name) => Object.hasOwn(schema.properties, name));
  if (taken !== undefined) throw new Error(`the schema has a property ${taken} of its own`);
  return { ...schema, properties: { ...schema.properties, ...added } };
}

export function withoutProperties(schema: ObjectSchema, names: readonly string[]): ObjectSchema {
  const properties = Object.fromEntries(Object.entries(schema.properties).filter(([name]) => !names.includes(name)));
  return { ...schema, properties, required: schema.required.filter((name) => !names.includes(name)) };
}
