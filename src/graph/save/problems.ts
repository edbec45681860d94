import { AppError } from '../../base/errors.js';
import type { Problem } from '../ontology/check.js';

export type InputPath = readonly (string | number)[];

/** Returns a refusal that names the path in the input. */
export function problem(place: InputPath, says: string): AppError {
  return new AppError('invalid_input', `${place.join('.')}: ${says}`);
}

const maxShown = 10;

/**
 * Refuses the input if there are problems.
 * @throws AppError with the first ten problems
 */
export function refuseProblems(problems: readonly { place: InputPath; problem: Problem }[]): void {
  if (problems.length === 0) return;
  const lines = problems
    .slice(0, maxShown)
    .map(({ place, problem: { place: within, says } }) => `${[...place, within].join('.')}: ${says}`);
  const more = problems.length > maxShown ? `; and ${problems.length - maxShown} more` : '';
  throw new AppError('invalid_input', lines.join('; ') + more);
}
