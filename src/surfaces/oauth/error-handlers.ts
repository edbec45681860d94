import type { ErrorRequestHandler } from 'express';
import { isRefusal } from '../../base/errors.js';
import { toAppError } from '../../http/errors.js';
import { headersOf, statusOf } from '../rest/error-answers.js';
import { isOauthError, OauthError } from './oauth-error.js';
import type { Html } from '../browser/html.js';
import { sendPage } from '../browser/send-page.js';
import type { RateLimit } from './rate-limit.js';

/** The errors that a guessed client, code or refresh token causes. */
const guesses: ReadonlySet<string> = new Set(['invalid_client', 'invalid_grant']);

/**
 * Handles errors of the endpoints that clients call (RFC 6749, 5.2). Failed guesses count against the rate limit of
 * their address.
 */
export function jsonErrors(failures: RateLimit): ErrorRequestHandler {
  return async (thrown: unknown, req, res, _next) => {
    let error = toOauthError(thrown);
    if (guesses.has(error.code)) error = (await failures.refusalFor(req.ip ?? '')) ?? error;
    if (error.status >= 500) req.log.error({ err: thrown, req }, 'an OAuth request failed');
    if (error.code === 'invalid_client') res.set('WWW-Authenticate', 'Basic realm="oauth", error="invalid_client"');
    res.status(error.status).set(error.headers).set('Cache-Control', 'no-store');
    res.json({ error: error.code, error_description: error.message });
  };
}

/** Shows errors to the person. Does not redirect, because no redirect URI has been verified. */
export function pageErrors(page: (description: string) => Html): ErrorRequestHandler {
  return (thrown: unknown, req, res, _next) => {
    const error = toOauthError(thrown);
    if (error.status >= 500) req.log.error({ err: thrown, req }, 'an OAuth request failed');
    sendPage(res.status(error.status).set(error.headers), page(error.message), { keepsOpener: true });
  };
}

/** Maps errors of the product to OAuth errors. Anything else is an internal error. */
function toOauthError(thrown: unknown): OauthError {
  if (isOauthError(thrown)) return thrown;
  const error = toAppError(thrown);
  const { code, message } = error;
  const options = { status: statusOf(error), headers: headersOf(error), cause: thrown };
  if (code === 'unavailable') return new OauthError('temporarily_unavailable', message, options);
  if (code === 'too_many_requests') return new OauthError('too_many_requests', message, options);
  return isRefusal(error)
    ? new OauthError('invalid_request', message, options)
    : new OauthError('server_error', message, { cause: thrown });
}
