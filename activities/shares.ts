import { Context } from '@temporalio/activity';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Temporal } from '../src/temporal/client.js';
import type { WorkerConfig } from '../src/temporal/environment.js';
import { createTurns, shareOf, type Turn, type Turns } from '../src/base/turns.js';

const longestWaitMs = 5 * 60_000;

/** The turns of the queue of the activity that runs, and the organization of its workflow. */
const runningActivity = new AsyncLocalStorage<{ turns: Turns; organizationId: string }>();
const turnOfActivity = new AsyncLocalStorage<Turn>();

/**
 * Makes the turns of one queue and the organization known to its activities.
 * @param organizationOf returns the organization of a workflow
 */
export function sharedAmongOrganizations(
  { activities: max, activitiesPresent }: Pick<WorkerConfig, 'activities' | 'activitiesPresent'>,
  organizationOf: Temporal['organizationOf'],
): ActivityInterceptorsFactory {
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
  return ({ info }) => ({
    inbound: {
      async execute(input, next) {
        // Not from the priority: Temporal omits it from activities that it returns with a workflow task.
        const organizationId = await organizationOf(info.workflowExecution?.workflowId);
        return runningActivity.run({ turns, organizationId }, () => next(input));
      },
    },
  });
}

/**
 * Runs the work of an activity when its organization may use another slot of the worker. Local activities belong to a
 * workflow task, whose time limit is short, so they do not wait.
 * @throws AppError `quota_exceeded` after a third of the time limit of the attempt, so that the work has the rest
 */
export function inShare<T>(work: () => Promise<T>): Promise<T> {
  const running = runningActivity.getStore();
  const { info, cancellationSignal: signal } = Context.current();
  if (!running || info.isLocal) return work();
  const waitTimeoutMs = Math.min(info.startToCloseTimeoutMs / 3 || longestWaitMs, longestWaitMs);
  const { turns, organizationId } = running;
  return turns.take(organizationId, (turn) => turnOfActivity.run(turn, work), { signal, waitTimeoutMs });
}

/** The organization whose workflow runs the activity. '' if it is unknown. */
export function organizationOfActivity(): string {
  return runningActivity.getStore()?.organizationId ?? '';
}

/** Gives the activity's slot to others while `ask` waits for a person. To be called in the activity. */
export function outsideSlot<A extends unknown[], T>(ask: (...args: A) => Promise<T>): (...args: A) => Promise<T> {
  // Messages of a server arrive outside of the activity's context.
  const turn = turnOfActivity.getStore();
  return turn ? (...args) => turn.away(() => ask(...args)) : ask;
}
