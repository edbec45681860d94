import { z } from 'zod';

export type JsonObject = Record<string, unknown>;

/** The root of a tool's schema, which MCP wants to be an object. */
export interface ObjectSchema extends JsonObject {
  type: 'object';
  properties: Record<string, JsonObject>;
  required?: string[];
}

/** The schemas' own texts without the ids under which OpenAPI names them, so that every schema stands alone, without `$ref`. */
const texts = z.registry<JsonObject>();
texts.get = (schema) => {
  const { id: _, example, ...meta } = z.globalRegistry.get(schema) ?? {};
  return (example === undefined ? meta : { ...meta, examples: [example] }) as never;
};

/**
 * JSON Schema 2020-12, which is MCP's default dialect, of what a sender may write.
 * @throws Error for a schema that is no object
 */
export function jsonSchemaOf(schema: z.ZodType): ObjectSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', metadata: texts });
  if (json.type !== 'object') throw new Error('a tool takes and gives objects');
  return { ...json, type: 'object', properties: (json.properties ?? {}) as ObjectSchema['properties'] };
}

/** Adds properties; @throws Error where the schema has one of the name already */
export function withProperties(schema: ObjectSchema, added: ObjectSchema['properties'], required: readonly string[] = []): ObjectSchema {
  const taken = Object.keys(added).find((name) => Object.hasOwn(schema.properties, name));
  if (taken !== undefined) throw new Error(`the schema has a property ${taken} of its own`);
  return { ...schema, properties: { ...schema.properties, ...added }, required: [...(schema.required ?? []), ...required] };
}

export function withoutProperties(schema: ObjectSchema, names: readonly string[]): ObjectSchema {
  const properties = Object.fromEntries(Object.entries(schema.properties).filter(([name]) => !names.includes(name)));
  return { ...schema, properties, required: (schema.required ?? []).filter((name) => !names.includes(name)) };
}
