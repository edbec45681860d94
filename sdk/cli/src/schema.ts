import type { Kind } from './kind.js';
import { isObject, type Json } from './shape.js';

/** Returns the JSON Schema of a resource in a file, from the OpenAPI document of the service. */
export function editorSchema(document: Json, kind: Kind): Json {
  const schemas = (isObject(document.components) ? document.components.schemas : {}) as Json;
  const used = new Map<string, unknown>();
  const localized = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(localized);
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, part]) => {
        const [, reference] = name === '$ref' ? (/^#\/components\/schemas\/(.+)$/.exec(String(part)) ?? []) : [];
        if (reference === undefined) return [name, localized(part)];
        if (!used.has(reference)) {
          used.set(reference, true);
          used.set(reference, localized(schemas[reference]));
        }
        return [name, `#/$defs/${reference}`];
      }),
    );
  };
  const root = localized(schemas[kind.schema]) as Json;
  const schema = { $schema: 'https://json-schema.org/draft/2020-12/schema', ...root, $defs: Object.fromEntries(used) };
  kind.forEditors?.(schema);
  return schema;
}
