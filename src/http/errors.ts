import {
  MongoBulkWriteError,
  MongoError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
} from 'mongodb';
import { AppError, isAppError } from '../base/errors.js';

export function toAppError(error: unknown): AppError {
  if (isAppError(error)) return error;
  return (
    fromBodyParser(error) ??
    fromMongo(error) ??
    new AppError('internal_error', 'the server failed to answer this request', { cause: error })
  );
}

/** Maps client errors of body-parser and express, which carry `status` and `type` (raw-body's error types). */
function fromBodyParser(error: unknown): AppError | undefined {
  if (!(error instanceof Error) || !('status' in error) || typeof error.status !== 'number') return undefined;
  if (isAppError(error.cause)) return error.cause;
  if (error.status === 413) {
    const limit = 'limit' in error ? `${String(error.limit)} bytes` : 'this route accepts';
    return new AppError('payload_too_large', `the body is larger than ${limit}`, { cause: error });
  }
  const parseFailed = 'type' in error && error.type === 'entity.parse.failed';
  if (parseFailed) return new AppError('invalid_request', 'the body is not valid JSON', { cause: error });
  if (error instanceof URIError)
    return new AppError('invalid_request', 'the path is not valid percent-encoding', { cause: error });
  if (error.status < 400 || error.status >= 500) return undefined;
  const { type, code } = error as { type?: unknown; code?: unknown };
  const problem = String(code).startsWith('Z_') ? notDecoded : unreadable.get(type);
  return new AppError('invalid_request', problem ?? 'the request could not be read', { cause: error });
}

const notDecoded = 'the body does not match its Content-Encoding';
const unreadable = new Map<unknown, string>([
  ['encoding.unsupported', 'the Content-Encoding must be gzip, deflate or br, or be left out'],
  ['charset.unsupported', 'the body must be UTF-8'],
]);

/** Returns whether this is the error of a socket, which the driver may pass through when the server dies. */
function isSocketError(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && ['EPIPE', 'ECONNRESET', 'ECONNREFUSED'].includes(String(error.code))
  );
}

/**
 * The codes of a replica set that elects a primary, shuts down (MongoDB SDAM: state change errors), or does not
 * replicate in time (64).
 */
const stateChanges: ReadonlySet<unknown> = new Set([64, 91, 189, 10_058, 10_107, 11_600, 11_602, 13_435, 13_436]);

/** Returns the connection error that a bulk write wraps, or the error itself. */
function causeOf(error: unknown): unknown {
  return error instanceof MongoBulkWriteError && (error.errorResponse as unknown) instanceof Error
    ? error.errorResponse
    : error;
}

function fromMongo(thrown: unknown): AppError | undefined {
  const error = causeOf(thrown);
  const unreachable =
    error instanceof MongoNetworkError ||
    error instanceof MongoServerSelectionError ||
    (error instanceof MongoServerError && stateChanges.has(error.code)) ||
    (error instanceof MongoError && /Timeout|Topology|PoolCleared|NotConnected/.test(error.name)) ||
    isSocketError(error);
  return unreachable ? new AppError('unavailable', 'the record store does not answer', { cause: thrown }) : undefined;
}
