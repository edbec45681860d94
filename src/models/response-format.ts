import { isJsonObject, type JsonObject } from '../base/json.js';

/**
 * `response_format` of `POST /chat/completions` (https://platform.openai.com/docs/guides/structured-outputs). Undefined
 * for a schema whose value is no object, which endpoints refuse.
 * @param isStrict whether the endpoint may guarantee the schema, if it can
 */
export function responseFormatOf(schema: JsonObject, isStrict: boolean): JsonObject | undefined {
  if (schema.type !== 'object') return undefined;
  const { $schema: _dialect, ...sent } = schema;
  const strict = isStrict && isStrictSchema(schema);
  return { type: 'json_schema', json_schema: { name: 'answer', schema: sent, strict } };
}

/** The keywords that strict mode knows. */
const strictKeywords: ReadonlySet<string> = new Set([
  ...['$schema', '$defs', '$ref', 'type', 'title', 'description', 'enum', 'const', 'anyOf', 'items', 'properties'],
  ...['required', 'additionalProperties', 'pattern', 'format', 'multipleOf', 'minimum', 'maximum', 'exclusiveMinimum'],
  ...['exclusiveMaximum', 'minItems', 'maxItems'],
]);

/** Strict mode wants every object closed and every field required, and knows only some keywords. */
function isStrictSchema(schema: unknown): boolean {
  if (!isJsonObject(schema)) return false;
  if (Object.keys(schema).some((keyword) => !strictKeywords.has(keyword))) return false;
  const { type, properties, required, additionalProperties, items, anyOf, $defs } = schema;
  if ([type].flat().includes('object')) {
    const names = isJsonObject(properties) ? Object.keys(properties) : [];
    const isClosed = additionalProperties === false && Array.isArray(required);
    if (!isClosed || names.some((name) => !(required as unknown[]).includes(name))) return false;
  }
  const inner = [properties, anyOf, $defs].flatMap((each) =>
    typeof each === 'object' && each !== null ? (Object.values(each) as unknown[]) : [],
  );
  return [...inner, ...(items === undefined ? [] : [items])].every(isStrictSchema);
}

/** What a prompt says for an endpoint that gets no schema. */
export function schemaInWords(schema: JsonObject): string {
  return [
    'Your final answer must be one JSON value that matches this JSON Schema, and nothing else:',
    JSON.stringify(schema),
  ].join('\n\n');
}
