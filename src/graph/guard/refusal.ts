import { AppError } from '../../base/errors.js';

/** Creates a refusal of the guard: `invalid_input`. */
export function refuse(description: string): AppError {
  return new AppError('invalid_input', description);
}
