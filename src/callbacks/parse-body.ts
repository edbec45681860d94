import type { z } from 'zod';
import { AppError } from '../errors.js';

/** @throws AppError `invalid_request` for bytes that are no JSON in UTF-8 */
export function parseJson(text: string | Buffer): unknown {
  try {
    return JSON.parse(typeof text === 'string' ? text : new TextDecoder('utf-8', { fatal: true }).decode(text)) as unknown;
  } catch (error) {
    throw new AppError('invalid_request', 'the body is not valid JSON', { cause: error });
  }
}

/** @throws AppError `invalid_request` that names the fields, never their values */
export function checkShape<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.slice(0, 10).map(({ path, message }) => `${path.join('.') || 'body'}: ${message}`);
  throw new AppError('invalid_request', problems.join('; '));
}
