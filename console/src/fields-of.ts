export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fields of a value that may be an object; none for any other value. */
export const fieldsOf = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});
