import { isJsonObject, type JsonObject } from '../base/json.js';

const maxDepth = 16;
const maxItems = 100;
const maxLength = 10_000;

/**
 * Returns a value of a JSON Schema, made by rules: the constant, default or first choice if the schema has one, otherwise the
 * text, the smallest number, false, or a list or an object with no more than what is required. Knows the keywords that say
 * what a value is; a schema with other conditions may not accept the value.
 */
export function filledIn(schema: unknown, text: string, root: unknown = schema, depth = 0): unknown {
  if (!isJsonObject(schema) || depth > maxDepth) return null;
  const inside = (each: unknown) => filledIn(each, text, root, depth + 1);
  if (typeof schema.$ref === 'string') return inside(partOf(root, schema.$ref));
  if ('const' in schema) return schema.const;
  if ('default' in schema) return schema.default;
  const [choice] = [schema.enum, schema.examples].filter(Array.isArray) as unknown[][];
  if (choice && choice.length > 0) return choice[0];
  const [alternative] = [schema.anyOf, schema.oneOf].filter(Array.isArray) as unknown[][];
  if (alternative && schema.type === undefined) return inside(alternative[0]);
  switch ([schema.type].flat()[0] ?? (isJsonObject(schema.properties) ? 'object' : 'string')) {
    case 'object':
      return requiredOf(schema, inside);
    case 'array':
      return Array.from({ length: Math.min(numberOr(schema.minItems, 0), maxItems) }, () => inside(schema.items));
    case 'number':
    case 'integer':
      return smallest(schema);
    case 'boolean':
      return false;
    case 'null':
      return null;
    default:
      return text
        .slice(0, numberOr(schema.maxLength, text.length))
        .padEnd(Math.min(numberOr(schema.minLength, 0), maxLength), '.');
  }
}

function requiredOf({ properties, required }: JsonObject, fill: (schema: unknown) => unknown): JsonObject {
  const fields = isJsonObject(properties) ? properties : {};
  const names = Array.isArray(required) ? required.map(String) : [];
  return Object.fromEntries(names.map((name) => [name, fill(Object.hasOwn(fields, name) ? fields[name] : {})]));
}

function smallest({ minimum, exclusiveMinimum, maximum }: JsonObject): number {
  if (typeof exclusiveMinimum === 'number') return Math.max(0, Math.floor(exclusiveMinimum) + 1);
  return Math.min(Math.max(0, Math.ceil(numberOr(minimum, 0))), numberOr(maximum, Infinity));
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

/** The part to which a reference such as `#/$defs/item` points. */
function partOf(root: unknown, reference: string): unknown {
  const names = reference.split('/').slice(1);
  return names.reduce<unknown>((at, name) => (isJsonObject(at) ? at[name] : undefined), root);
}
