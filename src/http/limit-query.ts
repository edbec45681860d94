import type { RequestHandler } from 'express';
import { AppError } from '../base/errors.js';

/** The maximum number of parameters of a query or a form. No route knows half as many. */
export const maxParameters = 100;

/** Refuses a query with too many parameters before anything parses it. */
export const limitQuery: RequestHandler = ({ url }, _res, next) => {
  const start = url.indexOf('?');
  if (start !== -1 && countParameters(url.slice(start + 1)) > maxParameters)
    throw new AppError('invalid_request', `the query has more than ${maxParameters} parameters`);
  next();
};

/** Counts the parameters of a query or a form (WHATWG URL, application/x-www-form-urlencoded). */
export function countParameters(text: string): number {
  let count = text === '' ? 0 : 1;
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', at + 1)) count += 1;
  return count;
}
