import { ApplicationFailure, type Context } from '@temporalio/activity';
import { isAppError, type AppError } from '../src/errors.js';
import { isOutboundError } from '../src/outbound/outbound-error.js';
import { retryAfterMs } from '../src/outbound/retry-hints.js';

const messageAtMost = 200;

interface FailureParts {
  type: string;
  message: string;
  nonRetryable: boolean;
  status?: number | undefined;
  retryAfterMs?: number | undefined;
}

/**
 * An error as a failure that says by its type whether a retry may help, and tells the attempt. Without the error itself as
 * the cause: a failure's causes are kept in the history, where no secret may stand.
 */
export function failureOf(error: unknown, { info, log }: Pick<Context, 'info' | 'log'>): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  const { type, message, nonRetryable, status, retryAfterMs: wait } = partsOf(error);
  if (type === 'internal_error') log.error('an activity failed for an unforeseen reason', { error });
  return ApplicationFailure.create({
    type,
    message: message.slice(0, messageAtMost),
    nonRetryable,
    details: [{ attempt: info.attempt, ...(status !== undefined && { status }) }],
    ...(wait !== undefined && { nextRetryDelay: wait }),
  });
}

function partsOf(error: unknown): FailureParts {
  if (isOutboundError(error)) {
    const { code, message, retryable, status, retryAfterMs: wait } = error;
    return { type: code, message, nonRetryable: !retryable, status, retryAfterMs: wait };
  }
  if (isAppError(error)) {
    const { code, message, headers } = error;
    return { type: code, message, nonRetryable: isRefusal(error), retryAfterMs: retryAfterMs(headers['Retry-After'], Date.now()) };
  }
  return { type: 'internal_error', message: 'the step failed for an internal reason', nonRetryable: false };
}

function isRefusal({ code, status }: AppError): boolean {
  return code === 'unconfigured' || (status < 500 && status !== 429);
}
