import { z } from 'zod';
import { AppError } from '../../errors.js';
import type { Route } from './define-route.js';
import { unknownFields } from '../../problems.js';

/**
 * Creates a check that refuses unknown query parameters, because a misspelled filter would silently return everything
 * (contract, Conventions).
 * @returns a check that throws AppError `invalid_request` with the unknown and the known names
 */
export function createQueryCheck(
  { query }: Pick<Route, 'query'>,
  allowed: readonly string[],
): (parameters: object) => void {
  const routeNames = query instanceof z.ZodObject ? Object.keys(query.shape) : [];
  const known = new Set([...routeNames, ...allowed]);
  return (parameters) => {
    const unknown = Object.keys(parameters).filter((name) => !known.has(name));
    if (unknown.length > 0)
      throw new AppError('invalid_request', unknownFields('query parameter', unknown, [...known]));
  };
}
