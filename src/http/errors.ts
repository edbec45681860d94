import type { ErrorRequestHandler } from 'express';
import { MongoError, MongoNetworkError, MongoServerError, MongoServerSelectionError } from 'mongodb';
import { AppError, isAppError } from '../errors.js';

/** The one place where an error becomes an answer (specification, Error body). 5xx texts are generic. */
export const errorHandler: ErrorRequestHandler = (error, req, res, next) => {
  const appError = toAppError(error);
  if (appError.status >= 500) req.log.error({ err: error as unknown }, 'request failed');
  if (res.headersSent) {
    next(error);
    return;
  }
  res.status(appError.status).set(appError.headers).json(errorBody(appError));
};

export function errorBody(error: AppError): Record<string, string> {
  return {
    error: error.code,
    error_description: error.message,
    ...(error.lifecycleId === undefined ? {} : { lifecycle_id: error.lifecycleId }),
  };
}

export function toAppError(error: unknown): AppError {
  if (isAppError(error)) return error;
  return fromBodyParser(error) ?? fromMongo(error) ?? new AppError('internal_error', 'the server failed to answer this request', { cause: error });
}

/** body-parser and express mark client errors with `status` and `type` (raw-body's error types). */
function fromBodyParser(error: unknown): AppError | undefined {
  if (!(error instanceof Error) || !('status' in error) || typeof error.status !== 'number') return undefined;
  if (error.status === 413) return new AppError('payload_too_large', 'the body is larger than this route takes', { cause: error });
  const parseFailed = 'type' in error && error.type === 'entity.parse.failed';
  if (parseFailed) return new AppError('invalid_request', 'the body is not valid JSON', { cause: error });
  if (error instanceof URIError) return new AppError('invalid_request', 'the path is not valid percent-encoding', { cause: error });
  if (error.status >= 400 && error.status < 500) return new AppError('invalid_request', 'the request could not be read', { cause: error });
  return undefined;
}

/** The driver lets a socket's own error through when the server dies between two of its checks. */
function isSocketError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && ['EPIPE', 'ECONNRESET', 'ECONNREFUSED'].includes(String(error.code));
}

/** What the members of a replica set answer while they choose a primary, or stop (MongoDB, SDAM: state change errors). */
const stateChanges: ReadonlySet<unknown> = new Set([91, 189, 10_058, 10_107, 11_600, 11_602, 13_435, 13_436]);

function fromMongo(error: unknown): AppError | undefined {
  const unreachable =
    error instanceof MongoNetworkError ||
    error instanceof MongoServerSelectionError ||
    (error instanceof MongoServerError && stateChanges.has(error.code)) ||
    (error instanceof MongoError && /Timeout|Topology|PoolCleared|NotConnected/.test(error.name)) ||
    isSocketError(error);
  return unreachable ? new AppError('unavailable', 'the record store does not answer', { cause: error }) : undefined;
}
