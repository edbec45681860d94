import { Context } from '@temporalio/activity';
import { failureOf } from './failure.js';

const heartbeatEveryMs = 2000;

export interface Progress<C> {
  /** Where to go on: the start, or what the attempt before had reached. */
  cursor: C;
  /** Keeps what was reached, so that another worker goes on there. */
  reached(cursor: C): void;
  signal: AbortSignal;
}

/**
 * Work inside an activity: heartbeats carry its cursor while it runs, cancellation is passed on, and its errors become
 * failures that say whether a retry may help.
 */
export async function withHeartbeat<C, T>(start: C, work: (progress: Progress<C>) => Promise<T>): Promise<T> {
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
