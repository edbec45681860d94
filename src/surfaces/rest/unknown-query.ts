import { z } from 'zod';
import { AppError } from '../../errors.js';
import type { Route } from './define-route.js';
import { unknownFields } from '../../problems.js';

/** In the list of allowed names, this means the parameters of the route's path. */
export const pathParameters = '{path}';

/**
 * Refuses unknown query parameters, because a misspelled filter would silently return everything (contract,
 * Conventions).
 * @throws AppError `invalid_request` with the unknown and the known names
 */
export function refuseUnknownQuery(
  { path, query }: Pick<Route, 'path' | 'query'>,
  given: object,
  allowed: readonly string[],
): void {
  const own = query instanceof z.ZodObject ? Object.keys(query.shape) : [];
  const everywhere = allowed.flatMap((name) =>
    name === pathParameters ? [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter = '']) => parameter) : [name],
  );
  const known = [...new Set([...own, ...everywhere])];
  const unknown = Object.keys(given).filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new AppError('invalid_request', unknownFields('query parameter', unknown, known));
}
