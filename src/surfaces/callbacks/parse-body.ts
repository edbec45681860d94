import type { z } from 'zod';
import { AppError } from '../../base/errors.js';
import { parseJson } from '../../base/json.js';
import { bodyLimits, checkValueCount } from '../../base/json-gate.js';
import { parseWithProblems } from '../../base/validation.js';

/** @throws AppError `invalid_request` for bytes that are not JSON in UTF-8, and for too many values */
export function parseCallbackJson(text: string | Uint8Array): unknown {
  checkCallbackValues(typeof text === 'string' ? Buffer.from(text) : text);
  try {
    return parseJson(typeof text === 'string' ? text : new TextDecoder('utf-8', { fatal: true }).decode(text));
  } catch (error) {
    throw new AppError('invalid_request', 'the body is not valid JSON', { cause: error });
  }
}

/** @throws AppError `invalid_request` for more values than a callback may contain */
export function checkCallbackValues(text: Uint8Array): void {
  const { callbackValues } = bodyLimits;
  checkValueCount(text, callbackValues, undefined, callbackValues);
}

/** @throws AppError `invalid_request` that names the fields, never their values */
export function checkShape<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = parseWithProblems(schema, value);
  if ('data' in parsed) return parsed.data;
  throw new AppError('invalid_request', parsed.problems.join('; '));
}
