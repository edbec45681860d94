import { z } from 'zod';

const decimal = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;

/** A number in a query or path. `z.coerce` would read an empty text as 0 and `0x10` as 16. */
export function queryNumber<S extends z.ZodNumber>(schema: S) {
  return z.preprocess((text) => (typeof text === 'string' && decimal.test(text) ? Number(text) : text), schema);
}
