import type { z } from 'zod';

/** Returns the named fields that the object has. */
export function pick<T extends object, K extends keyof T>(from: T, ...names: readonly K[]): Pick<T, K> {
  return Object.fromEntries(names.flatMap((name) => (name in from ? [[name, from[name]]] : []))) as Pick<T, K>;
}

/** Returns the fields of a record that the schema of its view names, so that a new internal field is never shown. */
export function pickShown<S extends z.ZodRawShape, T extends object>(
  { shape }: z.ZodObject<S>,
  record: T,
): Pick<T, keyof S & keyof T> {
  return pick(record, ...(Object.keys(shape) as (keyof S & keyof T)[]));
}
