import type { ErrorRequestHandler } from 'express';
import { toAppError } from '../http/errors.js';
import { isOauthError, OauthError } from './oauth-error.js';
import { errorPage } from './pages/error-page.js';
import { sendPage } from '../http/pages/send-page.js';
import type { RateLimit } from './rate-limit.js';

/** What a guess at a client, a code or a refresh token ends in. */
const guesses: ReadonlySet<string> = new Set(['invalid_client', 'invalid_grant']);

/** Errors of the endpoints that clients call (RFC 6749, 5.2); failed guesses count against their address. */
export function jsonErrors(failures: RateLimit): ErrorRequestHandler {
  return async (thrown: unknown, req, res, _next) => {
    let error = toOauthError(thrown);
    if (guesses.has(error.code)) error = (await failures.refusalFor(req.ip ?? '')) ?? error;
    if (error.status >= 500) req.log.error({ err: thrown }, 'an OAuth request failed');
    if (error.code === 'invalid_client') res.set('WWW-Authenticate', 'Basic realm="oauth", error="invalid_client"');
    res.status(error.status).set(error.headers).set('Cache-Control', 'no-store');
    res.json({ error: error.code, error_description: error.message });
  };
}

/** Errors that a person sees: nothing is sent to a redirect address, since none has been found to be the client's. */
export const pageErrors: ErrorRequestHandler = (thrown: unknown, req, res, _next) => {
  const error = toOauthError(thrown);
  if (error.status >= 500) req.log.error({ err: thrown }, 'an OAuth request failed');
  sendPage(res.status(error.status).set(error.headers), errorPage(error.message), { keepsOpener: true });
};

/** Refusals of the rest of the product in OAuth's words; what they do not cover is an internal error. */
function toOauthError(thrown: unknown): OauthError {
  if (isOauthError(thrown)) return thrown;
  const { code, status, message, headers } = toAppError(thrown);
  const options = { status, headers, cause: thrown };
  if (code === 'unavailable') return new OauthError('temporarily_unavailable', message, options);
  if (code === 'too_many_requests') return new OauthError('too_many_requests', message, options);
  return status < 500 ? new OauthError('invalid_request', message, options) : new OauthError('server_error', message, { cause: thrown });
}
