import type { ErrorRequestHandler } from 'express';
import { AppError, isAppError } from '../../errors.js';
import { errorBody, toAppError } from '../../http/errors.js';

/** JSON-RPC's codes, and those that MCP's SDKs use for HTTP. */
export const rpcCodes = { parse: -32_700, invalidRequest: -32_600, invalidParams: -32_602, internal: -32_603, server: -32_000, sessionNotFound: -32_001 };

/** An error that both SDKs send as a JSON-RPC error with its code and data. */
export function rpcError(code: number, message: string, data?: Record<string, unknown>): Error {
  return Object.assign(new Error(message), { code, data });
}

/** What a model is told of a refusal. */
export function refusalBody(error: AppError): Record<string, unknown> {
  const retryAfter = Number(error.headers['Retry-After']);
  return { ...errorBody(error), ...(Number.isFinite(retryAfter) ? { retry_after: retryAfter } : {}) };
}

export function sessionNotFound(): AppError {
  return new AppError('not_found', 'Session not found');
}

/** Errors before a message is understood are JSON-RPC errors without an id; those of credentials stay the gateway's own. */
export const rpcErrorHandler: ErrorRequestHandler = (error: unknown, _req, res, next) => {
  const appError = toAppError(error);
  if (res.headersSent || [401, 403].includes(appError.status) || appError.status >= 500) {
    next(isAppError(error) ? error : appError);
    return;
  }
  const message = { jsonrpc: '2.0', error: { code: codeOf(error, appError), message: appError.message, data: { error: appError.code } }, id: null };
  res.status(appError.status).set(appError.headers).json(message);
};

function codeOf(error: unknown, { status }: AppError): number {
  if (error instanceof Error && 'type' in error && error.type === 'entity.parse.failed') return rpcCodes.parse;
  if (status === 404) return rpcCodes.sessionNotFound;
  return status === 400 ? rpcCodes.invalidRequest : rpcCodes.server;
}
