import { Context } from '@temporalio/activity';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Progress } from '../src/temporal/progress.js';
import { failureOf } from './failure.js';
import { inShare } from './shares.js';

const heartbeatEveryMs = 1500;
/** Quick work sends no heartbeat, because each is a write of the server. */
const firstHeartbeatMs = 1000;

/** The signal that ends one of several works of an activity. */
const signalOfWork = new AsyncLocalStorage<AbortSignal>();

/** Runs one of several works of an activity, which `signal` cancels. */
export function withSignal<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return signalOfWork.run(signal, work);
}

/** Runs the work of an activity in the share of its organization, as {@link withHeartbeatOnly} does. */
export function withHeartbeat<C, T>(start: C, work: (progress: Progress<C>) => Promise<T>): Promise<T> {
  return withHeartbeatOnly<C, T>(start, (progress) => inShare(() => work(progress)));
}

/**
 * Runs the work of an activity. Heartbeats carry its cursor, cancellation reaches it through `signal`, and its errors become
 * failures that state whether a retry may help.
 */
export async function withHeartbeatOnly<C, T>(start: C, work: (progress: Progress<C>) => Promise<T>): Promise<T> {
  const context = Context.current();
  const { info } = context;
  const signal = signalOfWork.getStore() ?? context.cancellationSignal;
  let cursor = (info.heartbeatDetails as C | undefined) ?? start;
  const beat = () => context.heartbeat(cursor);
  const note = (next: C) => {
    cursor = next;
  };
  const reached = (next: C) => {
    note(next);
    beat();
  };
  try {
    return await whileBeating(beat, () => work({ cursor, note, reached, signal }));
  } catch (error) {
    signal.throwIfAborted();
    throw failureOf(error, context);
  }
}

/** Lets Temporal notice early that the worker of this work was lost, and changes no error of it. */
export function withPlainHeartbeat<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  // A local activity ends with its workflow task. It has no heartbeats.
  return context.info.isLocal ? work() : whileBeating(() => context.heartbeat(), work);
}

async function whileBeating<T>(beat: () => void, work: () => Promise<T>): Promise<T> {
  let heart = setTimeout(() => {
    beat();
    heart = setInterval(beat, heartbeatEveryMs);
  }, firstHeartbeatMs);
  try {
    return await work();
  } finally {
    clearTimeout(heart);
  }
}
