import { AppError } from '../../errors.js';

/** Every refusal of the guard: 422 at S4:validate-input. */
export function refuse(description: string): AppError {
  return new AppError('S4:validate-input', description);
}
