import {
  allHandlersFinished,
  condition,
  continueAsNew,
  proxyActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import { failureOf } from '../failure.js';
import { historyIsFull } from '../history.js';
import type { ConnectorEventsActivities } from './activities.js';
import { callbackSignal, stateQuery, type ConnectorCallback, type ConnectorEventsInput, type ConnectorEventsState } from './messages.js';
import { detailsOf, initialState, noteCallback, noteFailure } from './state.js';

const retry = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '5m' } as const;
/** About an hour: a provider that is gone for longer leaves the connector as it is, and its next callback tries again. */
const verifying = { ...retry, maximumAttempts: 20 } as const;
const atOnce = 20;

const { verifyAccount } = proxyActivities<ConnectorEventsActivities>({ startToCloseTimeout: '1m', retry: verifying, summary: 'fetch the reported account' });
const { startCoworker } = proxyActivities<ConnectorEventsActivities>({ startToCloseTimeout: '1m', retry, summary: 'start the coworker' });

/**
 * Works the callbacks of one connector: a finished authentication verifies its account, an event starts coworkers. One that
 * fails for good is noted and holds up no other. Ends when nothing is left.
 */
export async function connectorEvents(input: ConnectorEventsInput): Promise<Pick<ConnectorEventsState, 'handled' | 'failures'>> {
  const state = input.resumed ?? initialState();
  let atWork = 0;
  const changed = () => setCurrentDetails(detailsOf(state));

  setHandler(stateQuery, () => state);
  setHandler(callbackSignal, (callback) => {
    noteCallback(state, callback);
    changed();
  });

  const work = async (callback: ConnectorCallback) => {
    await handle(input, state, callback);
    state.handled += 1;
    atWork -= 1;
    changed();
  };
  await condition(() => state.pending.length > 0, '1s');
  while (state.pending.length > 0 || atWork > 0) {
    while (state.pending.length > 0 && atWork < atOnce && !historyIsFull(input)) {
      atWork += 1;
      void work(state.pending.shift() as ConnectorCallback);
    }
    if (atWork === 0 && historyIsFull(input)) {
      await condition(allHandlersFinished);
      return continueAsNew<typeof connectorEvents>({ ...input, resumed: state });
    }
    const before = atWork;
    await condition(() => atWork < before || (state.pending.length > 0 && atWork < atOnce && !historyIsFull(input)));
  }
  return { handled: state.handled, failures: state.failures };
}

async function handle({ connector_id }: ConnectorEventsInput, state: ConnectorEventsState, { starts, ...callback }: ConnectorCallback): Promise<void> {
  try {
    if (callback.kind === 'notify') await verifyAccount({ connector_id, account_id: callback.account_id });
  } catch (error) {
    noteFailure(state, callback.callback_id, failureOf(error, 'callback_failed'));
  }
  for (const start of starts) {
    try {
      await startCoworker({ start, connector_id, callback });
    } catch (error) {
      noteFailure(state, callback.callback_id, failureOf(error, 'callback_failed'));
    }
  }
}
