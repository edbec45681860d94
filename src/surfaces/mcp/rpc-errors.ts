import type { ErrorRequestHandler } from 'express';
import { AppError, isAppError } from '../../base/errors.js';
import { toAppError } from '../../http/errors.js';
import { answeredCode, errorBody, headersOf, statusOf } from '../rest/error-answers.js';

/** The error codes of JSON-RPC and of MCP, and those that the MCP SDKs use for HTTP errors. */
export const rpcCodes = {
  parse: -32_700,
  invalidRequest: -32_600,
  invalidParams: -32_602,
  internal: -32_603,
  server: -32_000,
  sessionNotFound: -32_001,
  /** Used up to 2025-11-25. In 2026-07-28, the SDK sends it as `invalidParams`. */
  resourceNotFound: -32_002,
  missingCapability: -32_021,
};

/** Creates an error that both SDKs send as a JSON-RPC error with its code and data. */
export function rpcError(code: number, message: string, data?: Record<string, unknown>): Error {
  return Object.assign(new Error(message), { code, data });
}

/** Describes a refusal for a model. */
export function refusalBody(error: AppError): Record<string, unknown> {
  const { retryAfterSeconds } = error.facts;
  return { ...errorBody(error), ...(retryAfterSeconds === undefined ? {} : { retry_after: retryAfterSeconds }) };
}

export function sessionNotFound(): AppError {
  return new AppError('not_found', 'Session not found');
}

/**
 * Sends errors that occur before a message is parsed as JSON-RPC errors without an id. Credential errors keep the
 * gateway's format.
 */
export const rpcErrorHandler: ErrorRequestHandler = (error: unknown, _req, res, next) => {
  const appError = toAppError(error);
  const status = statusOf(appError);
  if (res.headersSent || [401, 403].includes(status) || status >= 500) {
    next(isAppError(error) ? error : appError);
    return;
  }
  const message = {
    jsonrpc: '2.0',
    error: { code: codeOf(error, status), message: appError.message, data: { error: answeredCode(appError.code) } },
    id: null,
  };
  res.status(status).set(headersOf(appError)).json(message);
};

function codeOf(error: unknown, status: number): number {
  if (error instanceof Error && 'type' in error && error.type === 'entity.parse.failed') return rpcCodes.parse;
  if (status === 404) return rpcCodes.sessionNotFound;
  return status === 400 ? rpcCodes.invalidRequest : rpcCodes.server;
}
