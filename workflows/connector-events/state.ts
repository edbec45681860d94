import type { ConnectorCallback, ConnectorEventsState, PendingCallback } from './messages.js';

const maxSeen = 1000;
const maxFailures = 20;

export function initialState(): ConnectorEventsState {
  return { pending: [], seen: [], handled: 0, failures: [] };
}

/** Adds a callback unless its event is a repeat. Ignores signals without the form of a callback, which operators can send by hand. */
export function addCallback(state: ConnectorEventsState, callback: ConnectorCallback | undefined): void {
  if (typeof callback?.callback_id !== 'string' || !Array.isArray(callback.starts)) return;
  if (state.seen.includes(callback.callback_id)) return;
  state.seen = [...state.seen, callback.callback_id].slice(-maxSeen);
  state.pending.push(callback);
}

const firstWaitMs = 30_000;
const maxWaitMs = 5 * 60_000;
const maxRetryTimeMs = 24 * 3600 * 1000;

/** Returns a callback to the queue for a later attempt. Returns false once it has been retried for a day. */
export function postpone(state: ConnectorEventsState, callback: PendingCallback, now: number): boolean {
  if (now > callback.received_at * 1000 + maxRetryTimeMs) return false;
  const attempts = (callback.attempts ?? 0) + 1;
  state.pending.push({
    ...callback,
    attempts,
    not_before: now + Math.min(firstWaitMs * 2 ** (attempts - 1), maxWaitMs),
  });
  return true;
}

/** Removes and returns the first callback that is due. */
export function takeDueCallback(state: ConnectorEventsState, now: number): PendingCallback | undefined {
  const at = state.pending.findIndex(({ not_before = 0 }) => not_before <= now);
  return at === -1 ? undefined : state.pending.splice(at, 1)[0];
}

export function noteFailure(
  state: ConnectorEventsState,
  callback_id: string,
  failure: { type: string; message: string },
): void {
  state.failures = [...state.failures, { callback_id, ...failure }].slice(-maxFailures);
}

/** The Markdown that the Temporal UI shows as the run's current details. */
export function detailsOf({ pending, handled, failures }: ConnectorEventsState): string {
  return [
    `Callbacks: ${handled} handled, ${pending.length} waiting`,
    ...failures.map(({ callback_id, message }) => `- ${callback_id}: ${message}`),
  ].join('\n\n');
}
