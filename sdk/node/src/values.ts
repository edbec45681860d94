/** A JSON Schema. Its types are known if it is written as a literal in the call that takes it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * The values of a schema, with all fields that they may have. `unknown` where the schema is not a literal, or says it by
 * other means, such as `$ref`.
 */
export type ValueOf<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly anyOf: readonly (infer P)[] } | { readonly oneOf: readonly (infer P)[] }
      ? ValueOf<P>
      : S extends { readonly type: readonly (infer N)[] }
        ? OfType<S, N>
        : S extends { readonly type: infer N }
          ? OfType<S, N>
          : unknown;

type OfType<S, N> = N extends 'string'
  ? string
  : N extends 'number' | 'integer'
    ? number
    : N extends 'boolean'
      ? boolean
      : N extends 'null'
        ? null
        : N extends 'array'
          ? readonly (S extends { readonly items: infer I } ? ValueOf<I> : unknown)[]
          : N extends 'object'
            ? ObjectOf<S>
            : unknown;

type ObjectOf<S> = S extends { readonly properties: infer P }
  ? { readonly [K in keyof P]: ValueOf<P[K]> }
  : Readonly<Record<string, S extends { readonly additionalProperties: infer A } ? ValueOf<A> : unknown>>;

/** Returns the schema of a field or an entry; undefined if nothing is known about it. @throws TypeError for a field that no value has */
export function schemaOfField(schema: unknown, name: string, where: string): unknown {
  if (!isSchema(schema)) return undefined;
  const { type, properties, items, additionalProperties } = schema;
  const isOnly = (wanted: string) => type === wanted;
  if (isOnly('array') && /^\d+$/.test(name)) return items;
  if (isOnly('object') && isSchema(properties)) {
    if (Object.hasOwn(properties, name)) return properties[name];
    const known = Object.keys(properties).join(', ');
    throw new TypeError(`${where} has no field ${JSON.stringify(name)}; its schema has ${known || 'none'}`);
  }
  if (isOnly('object')) return additionalProperties;
  if (typeof type === 'string')
    throw new TypeError(`${where} is of the type ${type}, so it has no field ${JSON.stringify(name)}`);
  return undefined;
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
