import type { RequestHandler } from 'express';
import { AppError } from '../errors.js';

/** 405 with `Allow`, whose value is a list such as `GET, POST` (RFC 9110, 15.5.6). */
export function methodNotAllowed(allowed: string): AppError {
  return new AppError('method_not_allowed', `this path takes ${allowed}`, { headers: { Allow: allowed } });
}

/** For the end of a path's handlers: whatever method came this far is not taken. */
export function onlyMethods(allowed: string): RequestHandler {
  return () => {
    throw methodNotAllowed(allowed);
  };
}
