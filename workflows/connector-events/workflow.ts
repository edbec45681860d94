import {
  ActivityFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import { RetryState } from '@temporalio/common';
import { failureOf } from '../failure.js';
import { historyIsFull } from '../history.js';
import type { ConnectorEventsActivities } from './activities.js';
import {
  callbackSignal,
  stateQuery,
  type ConnectorEventsInput,
  type ConnectorEventsState,
  type CoworkerStart,
  type PendingCallback,
} from './messages.js';
import { detailsOf, initialState, addCallback, noteFailure, postpone, takeDueCallback } from './state.js';

/**
 * Activities end within minutes, so that the workflow can continue as new: signals accumulate while an activity runs. After a
 * transient failure, a timer starts the next attempt.
 */
const retry = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '10s', maximumAttempts: 5 } as const;
const maxConcurrent = 20;

const options = { startToCloseTimeout: '1m', scheduleToCloseTimeout: '5m', retry } as const;
const { verifyAccount } = proxyActivities<ConnectorEventsActivities>({
  ...options,
  summary: 'fetch the reported account',
});
const { startCoworker } = proxyActivities<ConnectorEventsActivities>({ ...options, summary: 'start the coworker' });

/**
 * Handles the callbacks of one connector: a finished authentication has its account verified, and an event starts coworkers. A
 * callback that fails permanently, or for a day, is recorded and does not delay the others. Ends when no callback is left.
 */
export async function connectorEvents(
  input: ConnectorEventsInput,
): Promise<Pick<ConnectorEventsState, 'handled' | 'failures'>> {
  const state = input.resumed ?? initialState();
  let running = 0;
  const changed = () => setCurrentDetails(detailsOf(state));

  setHandler(stateQuery, () => state, { description: 'The waiting, handled and failed callbacks' });
  const note = (callback: PendingCallback) => {
    addCallback(state, callback);
    changed();
  };
  setHandler(callbackSignal, note, { description: 'A callback of the connector to handle' });

  const work = async (callback: PendingCallback) => {
    if (await handle(input, state, callback)) state.handled += 1;
    running -= 1;
    changed();
  };
  await condition(() => state.pending.length > 0, '1s', { summary: 'the first callback' });
  while (state.pending.length > 0 || running > 0) {
    while (running < maxConcurrent && !historyIsFull(input)) {
      const next = takeDueCallback(state, Date.now());
      if (!next) break;
      running += 1;
      void work(next);
    }
    if (running === 0 && historyIsFull(input)) {
      await condition(allHandlersFinished);
      return continueAsNew<typeof connectorEvents>({ ...input, resumed: state });
    }
    await untilWorkIsDue(input, state, () => running);
  }
  return { handled: state.handled, failures: state.failures };
}

/** Waits until a callback has ended, another one can start, or a postponed one is due. */
async function untilWorkIsDue(
  input: ConnectorEventsInput,
  { pending }: ConnectorEventsState,
  running: () => number,
): Promise<void> {
  const [before, waiting] = [running(), pending.length];
  const times = pending.map(({ not_before = 0 }) => not_before);
  const hasMore = () =>
    running() < before ||
    (running() === 0 && historyIsFull(input)) ||
    (pending.length > waiting && running() < maxConcurrent && !historyIsFull(input));
  const isPostponed = times.length > 0 && times.every((at) => at > Date.now());
  if (isPostponed) await condition(hasMore, Math.min(...times) - Date.now(), { summary: 'the next attempt' });
  else
    await condition(
      () => running() < before || (pending.length > 0 && running() < maxConcurrent && !historyIsFull(input)),
    );
}

/** Returns false for a callback that is retried later. */
async function handle(
  { connector_id }: ConnectorEventsInput,
  state: ConnectorEventsState,
  callback: PendingCallback,
): Promise<boolean> {
  const { starts, not_before: _time, attempts: _attempts, ...sent } = callback;
  const verify = { start: null, run: () => verifyAccount({ connector_id, account_id: callback.account_id }) };
  const steps = starts.map((start) => ({ start, run: () => startCoworker({ start, connector_id, callback: sent }) }));
  const postponed: (CoworkerStart | null)[] = [];
  let lastError: unknown;
  for (const { start, run } of callback.kind === 'notify' ? [verify, ...steps] : steps) {
    try {
      await run();
    } catch (error) {
      if (isTransient(error)) postponed.push(start);
      else noteFailure(state, callback.callback_id, failureOf(error, 'callback_failed'));
      lastError = error;
    }
  }
  if (postponed.length === 0) return true;
  if (postpone(state, { ...callback, starts: postponed.flatMap((start) => start ?? []) }, Date.now())) return false;
  noteFailure(state, callback.callback_id, failureOf(lastError, 'callback_failed'));
  return true;
}

/** Whether attempts or time ran out, instead of the activity refusing. */
function isTransient(error: unknown): boolean {
  return (
    error instanceof ActivityFailure && error.retryState !== RetryState.NON_RETRYABLE_FAILURE && !isCancellation(error)
  );
}
