import { Context } from '@temporalio/activity';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { WorkerConfig } from '../src/temporal/environment.js';
import { createTurns, shareOf, type Turn, type Turns } from '../src/turns.js';

const longestWaitMs = 5 * 60_000;

/** The turns of the queue whose activity runs. */
const turnsOfQueue = new AsyncLocalStorage<Turns>();
const turnOfActivity = new AsyncLocalStorage<Turn>();

/** Makes the turns of one queue known to its activities. */
export function sharedAmongOrganizations({
  activities: max,
  activitiesPresent,
}: Pick<WorkerConfig, 'activities' | 'activitiesPresent'>): ActivityInterceptorsFactory {
  const maxRunning = shareOf(max);
  const turns = createTurns({
    what: 'activities in this worker',
    whose: 'the organization',
    maxRunning,
    maxTotal: max,
    maxWaiting: shareOf(activitiesPresent) - maxRunning,
    waitTimeoutMs: longestWaitMs,
    retryAfterSeconds: 60,
  });
  return () => ({ inbound: { execute: (input, next) => turnsOfQueue.run(turns, () => next(input)) } });
}

/**
 * Runs the work of an activity when its organization may use another slot of the worker. Local activities belong to a
 * workflow task, whose time limit is short, so they do not wait.
 * @throws AppError `quota_exceeded` after a third of the time limit of the attempt, so that the work has the rest
 */
export function inShare<T>(work: () => Promise<T>): Promise<T> {
  const turns = turnsOfQueue.getStore();
  const { info, cancellationSignal: signal } = Context.current();
  if (!turns || info.isLocal) return work();
  const waitTimeoutMs = Math.min(info.startToCloseTimeoutMs / 3 || longestWaitMs, longestWaitMs);
  return turns.take(organizationOfActivity(), (turn) => turnOfActivity.run(turn, work), { signal, waitTimeoutMs });
}

/** The organization that the run's priority names. */
export function organizationOfActivity(): string {
  return Context.current().info.priority?.fairnessKey ?? '';
}

/** Gives the activity's slot to others while `ask` waits for a person. To be called in the activity. */
export function outsideSlot<A extends unknown[], T>(ask: (...args: A) => Promise<T>): (...args: A) => Promise<T> {
  // Messages of a server arrive outside of the activity's context.
  const turn = turnOfActivity.getStore();
  return turn ? (...args) => turn.away(() => ask(...args)) : ask;
}
