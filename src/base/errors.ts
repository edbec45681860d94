import { errorEntry, type ErrorCode } from './error-catalog.js';

/** Facts that a surface needs in addition to the code, for example for a header. */
export interface ErrorFacts {
  retryAfterSeconds?: number;
  /** The allowed methods of the path, such as `GET, POST`. */
  allowedMethods?: string;
  /** The size of the file, for a range beyond its end. */
  sizeBytes?: number;
  /** The URL of the metadata that describes how to get a credential (RFC 9728). */
  resourceMetadata?: string;
  /** Whether the call contained a credential, which was rejected. */
  credentialRefused?: true;
  /** The OAuth scopes to request. */
  scopes?: readonly string[];
  /** The OAuth scope that the caller lacks. */
  neededScope?: string;
  /** The number of attempts that a step of a run makes. */
  maxAttempts?: number;
  /** The record of the governed call. */
  lifecycleId?: string;
}

/**
 * The only error class of the product: a code and facts. Each surface decides how to present them. The caller sees
 * `description`, so it must not contain a secret or an internal detail. `cause` is only logged.
 */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly facts: ErrorFacts;

  constructor(code: ErrorCode, description: string, { cause, ...facts }: ErrorFacts & { cause?: unknown } = {}) {
    super(description, { cause });
    this.code = code;
    this.facts = facts;
  }
}

export function isAppError(error: unknown): error is AppError {
  return error instanceof AppError;
}

/**
 * Returns whether the product refused the call. A failure of the product or of a server that it needs is not a refusal.
 */
export function isRefusal(error: unknown): error is AppError {
  return isAppError(error) && errorEntry(error.code).isFault !== true;
}

/** A query that ran too long or whose caller disconnected is not a fault of the product. */
export function logLevelOf({ code }: Pick<AppError, 'code'>): 'warn' | 'error' {
  return code === 'call_timed_out' ? 'warn' : 'error';
}

/** Returns whether an error of the system or of a library has this code, such as ENOENT. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

export function notFound(what: string): AppError {
  return new AppError('not_found', `${what} was not found`);
}
