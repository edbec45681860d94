import { z } from 'zod';
import { isJsonObject } from '../base/json.js';

/**
 * Returns a schema that leaves out these fields before it checks an object. Only the service sets them, so a client can
 * send an answer back. All other unknown fields stay refused.
 */
export function acceptingSentBack<Schema extends z.ZodType>(schema: Schema, setByService: readonly string[]) {
  const names = new Set(setByService);
  return z.preprocess((value) => {
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).filter(([name]) => !names.has(name)));
  }, schema);
}
