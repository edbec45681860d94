import canonicalize from 'canonicalize';

export type JsonObject = Record<string, unknown>;

/** Returns whether a value is an object, but neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function parseJsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Parses a JSON object. Returns an empty object for any other text. */
export function parseJsonObject(text: string): JsonObject {
  const value = parseJsonOrUndefined(text);
  return isJsonObject(value) ? value : {};
}

/** Returns canonical JSON (RFC 8785), or an empty string for a value that JSON cannot express. */
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

/** Returns whether the value has this type of JSON Schema. Ignores case. Any value matches an unknown type. */
export function hasType(value: unknown, type: string): boolean {
  return checks.get(type.toLowerCase())?.(value) ?? true;
}
