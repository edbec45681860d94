import { ApplicationFailure, Context } from '@temporalio/activity';
import { isAppError, type AppError } from '../src/errors.js';
import { isOutboundError } from '../src/outbound/outbound-error.js';
import { retryAfterMs } from '../src/outbound/retry-hints.js';
import type { StepResult } from '../workflows/agentflow-execution/activities.js';

const heartbeatEveryMs = 2000;
const messageAtMost = 200;

/**
 * Does the work of one step inside an activity: heartbeats while it runs, passes the cancellation on, counts the
 * attempt in result and failure, and turns errors into failures that say by their type whether a retry may help.
 */
export async function asStep<T>(work: (signal: AbortSignal) => Promise<T>): Promise<StepResult<T>> {
  const context = Context.current();
  const { cancellationSignal: signal, info } = context;
  context.heartbeat();
  const heart = setInterval(() => context.heartbeat(), heartbeatEveryMs);
  try {
    return { value: await work(signal), attempts: info.attempt };
  } catch (error) {
    signal.throwIfAborted();
    throw failureOf(error, context);
  } finally {
    clearInterval(heart);
  }
}

interface FailureParts {
  type: string;
  message: string;
  nonRetryable: boolean;
  status?: number | undefined;
  retryAfterMs?: number | undefined;
}

/** Without the error itself as the cause: a failure's causes are kept in the history, where no secret may stand. */
function failureOf(error: unknown, { info, log }: Context): ApplicationFailure {
  const { type, message, nonRetryable, status, retryAfterMs } = partsOf(error);
  if (type === 'internal_error') log.error('a step failed for an unforeseen reason', { error });
  return ApplicationFailure.create({
    type,
    message: message.slice(0, messageAtMost),
    nonRetryable,
    details: [{ attempt: info.attempt, ...(status !== undefined && { status }) }],
    ...(retryAfterMs !== undefined && { nextRetryDelay: retryAfterMs }),
  });
}

function partsOf(error: unknown): FailureParts {
  if (isOutboundError(error)) {
    const { code, message, retryable, status, retryAfterMs } = error;
    return { type: code, message, nonRetryable: !retryable, status, retryAfterMs };
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
