import { ApplicationFailure, type Context } from '@temporalio/activity';
import type { ErrorCode } from '../src/base/error-catalog.js';
import { isAppError, isRefusal } from '../src/base/errors.js';
import { publicCode } from '../src/governance/kernel/stage-ids.js';
import { isOutboundError } from '../src/outbound/outbound-error.js';
import { retryAfterMs } from '../src/outbound/retry-hints.js';

const maxMessageLength = 700;

interface FailureParts {
  type: string;
  message: string;
  nonRetryable: boolean;
  status?: number | undefined;
  retryAfterMs?: number | undefined;
  maxAttempts?: number | undefined;
}

interface FailureContext {
  /** Returns further details of the failure. */
  more?: (message: string) => object;
  /** Returns the number of attempts that failed like this one, which is included. Without it, all attempts count. */
  attemptsLike?: (message: string) => number;
}

/**
 * Converts an error to a failure that states the attempt and whether a retry may help. The error itself is not the cause,
 * because histories keep causes and must not contain secrets.
 */
export function failureOf(
  error: unknown,
  { info, log }: Pick<Context, 'info' | 'log'>,
  { more = () => ({}), attemptsLike = () => info.attempt }: FailureContext = {},
): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  const { type, message, status, retryAfterMs: wait, maxAttempts = Infinity, ...parts } = partsOf(error);
  const nonRetryable = parts.nonRetryable || attemptsLike(message) >= maxAttempts;
  if (type === 'internal_error') log.error('an activity failed with an unexpected error', { error });
  return ApplicationFailure.create({
    type,
    message: message.slice(0, maxMessageLength),
    nonRetryable,
    details: [{ attempt: info.attempt, ...(status !== undefined && { status }), ...more(message) }],
    // A delay of 0 would make Temporal repeat the attempt at once, forever.
    ...(wait !== undefined && wait > 0 && { nextRetryDelay: wait }),
  });
}

function partsOf(error: unknown): FailureParts {
  if (isOutboundError(error)) {
    const { code, message, retryable, status, retryAfterMs: wait, maxAttempts } = error;
    return { type: code, message, nonRetryable: !retryable, status, retryAfterMs: wait, maxAttempts };
  }
  if (isAppError(error)) {
    const { code, message, facts } = error;
    return {
      type: publicCode(code),
      message,
      nonRetryable: code === 'unconfigured' || (isRefusal(error) && !isPassing(code)),
      retryAfterMs: retryAfterMs(facts.retryAfterSeconds?.toString(), Date.now()),
      maxAttempts: facts.maxAttempts,
    };
  }
  return { type: 'internal_error', message: 'the step failed for an internal reason', nonRetryable: false };
}

function isPassing(code: ErrorCode): boolean {
  return code === 'quota_exceeded' || code === 'too_many_requests';
}
