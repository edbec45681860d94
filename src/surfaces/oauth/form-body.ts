import express, { type Request, type RequestHandler } from 'express';
import { countParameters, maxParameters } from '../../http/limit-query.js';
import { OauthError } from './oauth-error.js';

const formType = 'application/x-www-form-urlencoded';

/** Reads a form as text, because a parser would merge repeated fields. */
export function formBody(limit: string): RequestHandler[] {
  return [
    (req, _res, next) => {
      if (!req.is(formType)) throw new OauthError('invalid_request', `the body must be sent as ${formType}`);
      next();
    },
    express.text({ limit, type: formType }),
    (req, _res, next) => {
      if (countParameters(String(req.body ?? '')) > maxParameters)
        throw new OauthError('invalid_request', `the form has more than ${maxParameters} fields`);
      next();
    },
  ];
}

export function formOf(req: Request): URLSearchParams {
  return new URLSearchParams(typeof req.body === 'string' ? req.body : '');
}

export function queryOf(req: Request): URLSearchParams {
  return new URLSearchParams(queryTextOf(req));
}

/** Returns the query string as sent, with repeated parameters. */
export function queryTextOf({ originalUrl }: Request): string {
  const at = originalUrl.indexOf('?');
  return at === -1 ? '' : originalUrl.slice(at + 1);
}

/**
 * Returns the fields. Each may occur at most once. A field without a value counts as missing (RFC 6749, 3.1 and 3.2).
 * @throws OauthError `invalid_request` for a repeated field and for control characters
 */
export function singleFields(form: URLSearchParams): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const [name, value] of form) {
    if (fields.has(name)) throw new OauthError('invalid_request', `${name.slice(0, 40)} is sent more than once`);
    if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.test(name + value)) {
      throw new OauthError('invalid_request', 'control characters are not allowed');
    }
    fields.set(name, value);
  }
  for (const [name, value] of fields) if (value === '') fields.delete(name);
  return fields;
}

/**
 * Returns the value of a field.
 * @throws OauthError `invalid_request` if it is missing
 */
export function requiredField(fields: ReadonlyMap<string, string>, name: string): string {
  const value = fields.get(name);
  if (value === undefined) throw new OauthError('invalid_request', `${name} is missing`);
  return value;
}
