import { AppError } from '../../errors.js';
import type { Problem } from '../ontology/check.js';

export type Place = readonly (string | number)[];

/** 422 that names the place in the input. */
export function problem(place: Place, says: string): AppError {
  return new AppError('S4:validate-input', `${place.join('.')}: ${says}`);
}

const shown = 10;

/** @throws AppError when there is a problem; the first ten are told. */
export function refuseProblems(problems: readonly { place: Place; problem: Problem }[]): void {
  if (problems.length === 0) return;
  const lines = problems.slice(0, shown).map(({ place, problem: { place: within, says } }) => `${[...place, within].join('.')}: ${says}`);
  const more = problems.length > shown ? `; and ${problems.length - shown} more` : '';
  throw new AppError('S4:validate-input', lines.join('; ') + more);
}
