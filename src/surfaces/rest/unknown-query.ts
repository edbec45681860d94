import { z } from 'zod';
import { AppError } from '../../errors.js';
import type { Route } from './define-route.js';
import { unknownFields } from '../../problems.js';

/** Represents the parameters of the route's path in the list of allowed names. */
export const pathParameters = '{path}';

/**
 * Creates a check that refuses unknown query parameters, because a misspelled filter would silently return everything
 * (contract, Conventions).
 * @returns a check that throws AppError `invalid_request` with the unknown and the known names
 */
export function createQueryCheck(
  { path, query }: Pick<Route, 'path' | 'query'>,
  allowed: readonly string[],
): (parameters: object) => void {
  const routeNames = query instanceof z.ZodObject ? Object.keys(query.shape) : [];
  const everywhere = allowed.flatMap((name) =>
    name === pathParameters ? [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter = '']) => parameter) : [name],
  );
  const known = new Set([...routeNames, ...everywhere]);
  return (parameters) => {
    const unknown = Object.keys(parameters).filter((name) => !known.has(name));
    if (unknown.length > 0)
      throw new AppError('invalid_request', unknownFields('query parameter', unknown, [...known]));
  };
}
