import type { RequestHandler } from 'express';
import { AppError } from '../base/errors.js';

/** Returns a 405 with an `Allow` header, such as `GET, POST` (RFC 9110, 15.5.6). */
export function methodNotAllowed(allowed: string): AppError {
  return new AppError('method_not_allowed', `this path accepts ${allowed}`, { allowedMethods: allowed });
}

/** Refuses every method that no earlier handler of a path accepted. Mount it last. */
export function onlyMethods(allowed: string): RequestHandler {
  return () => {
    throw methodNotAllowed(allowed);
  };
}
