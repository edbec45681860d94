import canonicalize from 'canonicalize';

export type JsonObject = Record<string, unknown>;

/** Whether a value is an object, but neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns undefined if the text is not JSON. */
export function parseJsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Returns an empty object if the text is not a JSON object. */
export function parseJsonObject(text: string): JsonObject {
  const value = parseJsonOrUndefined(text);
  return isJsonObject(value) ? value : {};
}

/** Canonical JSON (RFC 8785). Empty for a value that JSON cannot express. */
export function canonicalText(value: unknown): string {
  return canonicalize(value) ?? '';
}

const checks = new Map<string, (value: unknown) => boolean>([
  ['string', (value) => typeof value === 'string'],
  ['number', (value) => typeof value === 'number'],
  ['integer', (value) => Number.isInteger(value)],
  ['boolean', (value) => typeof value === 'boolean'],
  ['object', isJsonObject],
  ['array', Array.isArray],
]);

/** Whether the value has this type of JSON Schema. Ignores case. Any value matches an unknown type. */
export function hasType(value: unknown, type: string): boolean {
  return checks.get(type.toLowerCase())?.(value) ?? true;
}
