import { ApplicationFailure, Context } from '@temporalio/activity';
import { isAppError, type AppError } from '../src/errors.js';
import { isOutboundError } from '../src/outbound/outbound-error.js';

const heartbeatEveryMs = 2000;
const messageAtMost = 300;

export interface Crawl<C> {
  /** Where to go on: the start, or what the attempt before had reached. */
  cursor: C;
  /** Keeps what was reached, so that another worker goes on there. */
  reached(cursor: C): void;
  signal: AbortSignal;
}

/** Long work in steps inside an activity: its heartbeats carry the cursor, its errors say by type whether a retry may help. */
export async function asCrawl<C, T>(start: C, work: (crawl: Crawl<C>) => Promise<T>): Promise<T> {
  const context = Context.current();
  const { cancellationSignal: signal, info } = context;
  let cursor = (info.heartbeatDetails as C | undefined) ?? start;
  const beat = () => context.heartbeat(cursor);
  beat();
  const heart = setInterval(beat, heartbeatEveryMs);
  try {
    const reached = (next: C) => {
      cursor = next;
      beat();
    };
    return await work({ cursor, reached, signal });
  } catch (error) {
    signal.throwIfAborted();
    throw failureOf(error, context);
  } finally {
    clearInterval(heart);
  }
}

/** Without the error itself as the cause: a failure's causes are kept in the history, where no secret may stand. */
export function failureOf(error: unknown, { log }: Pick<Context, 'log'>): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  if (isOutboundError(error)) {
    const { code, message, retryable, retryAfterMs } = error;
    return failure(code, message, !retryable, retryAfterMs);
  }
  if (isAppError(error)) return failure(error.code, error.message, isRefusal(error));
  log.error('an activity failed for an unforeseen reason', { error });
  return failure('internal_error', 'the work failed for an internal reason', false);
}

function failure(type: string, message: string, nonRetryable: boolean, retryAfterMs?: number): ApplicationFailure {
  return ApplicationFailure.create({
    type,
    message: message.slice(0, messageAtMost),
    nonRetryable,
    ...(retryAfterMs !== undefined && { nextRetryDelay: retryAfterMs }),
  });
}

function isRefusal({ code, status }: AppError): boolean {
  return code === 'unconfigured' || (status < 500 && status !== 429);
}
