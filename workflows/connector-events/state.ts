import type { ConnectorCallback, ConnectorEventsState } from './messages.js';

const seenAtMost = 1000;
const failuresAtMost = 20;

export function initialState(): ConnectorEventsState {
  return { pending: [], seen: [], handled: 0, failures: [] };
}

/** Takes a callback in, unless its event was. What an operator sends by hand without a callback's form is left. */
export function noteCallback(state: ConnectorEventsState, callback: ConnectorCallback | undefined): void {
  if (typeof callback?.callback_id !== 'string' || !Array.isArray(callback.starts)) return;
  const key = callback.event_id ?? callback.callback_id;
  if (state.seen.includes(key)) return;
  state.seen = [...state.seen, key].slice(-seenAtMost);
  state.pending.push(callback);
}

export function noteFailure(state: ConnectorEventsState, callback_id: string, failure: { type: string; message: string }): void {
  state.failures = [...state.failures, { callback_id, ...failure }].slice(-failuresAtMost);
}

/** The Markdown that the Temporal UI shows as the run's current details. */
export function detailsOf({ pending, handled, failures }: ConnectorEventsState): string {
  return [`Callbacks: ${handled} handled, ${pending.length} waiting`, ...failures.map(({ callback_id, message }) => `- ${callback_id}: ${message}`)].join('\n\n');
}
