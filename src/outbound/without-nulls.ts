import { isJsonObject, type JsonObject } from '../base/json.js';

/** The members of an object that are not null. Many serializers write null for a member that is absent. */
export function withoutNulls(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
}

/** The same at every level. */
export function withoutNullsInside(value: JsonObject): JsonObject {
  return mapMembers(withoutNulls(value), (member) => inside(member));
}

/** Deeper values stay as they are. The gate for JSON of other servers refuses them. */
const maxDepth = 100;

function inside(value: unknown, depth = 0): unknown {
  if (depth > maxDepth) return value;
  if (Array.isArray(value)) return value.map((each) => inside(each, depth + 1));
  if (!isJsonObject(value)) return value;
  return mapMembers(withoutNulls(value), (member) => inside(member, depth + 1));
}

/** The keywords of JSON Schema whose value is data. */
const dataKeywords: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'example', 'examples']);
/** Those whose value can be null. */
const nullKeywords: ReadonlySet<string> = new Set(['const', 'default', 'example']);
/** The keywords whose members are schemas with names of their own. */
const namedSchemas: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
]);

/** A JSON Schema without the keywords whose value is null, which no keyword with a schema or a rule allows. */
export function schemaWithoutNulls(schema: JsonObject, depth = 0): JsonObject {
  if (depth > maxDepth) return schema;
  const sub = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(sub);
    return isJsonObject(value) ? schemaWithoutNulls(value, depth + 1) : value;
  };
  const kept = Object.entries(schema).filter(([name, value]) => value !== null || nullKeywords.has(name));
  return Object.fromEntries(
    kept.map(([name, value]) => {
      if (dataKeywords.has(name)) return [name, value];
      return [name, namedSchemas.has(name) && isJsonObject(value) ? mapMembers(withoutNulls(value), sub) : sub(value)];
    }),
  );
}

function mapMembers(value: JsonObject, change: (member: unknown) => unknown): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, change(member)]));
}
