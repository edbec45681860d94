import { states, type State } from '../states.js';

/** What the address of the list of runs says. All values are words, so that people can write them. */
export interface RunFilter {
  state?: State;
  agentflow?: string;
  since?: Since;
  text?: string;
}

export const sinceSeconds = { '1h': 3600, '24h': 86_400, '7d': 7 * 86_400, '30d': 30 * 86_400 } as const;
export type Since = keyof typeof sinceSeconds;
export const sinceNames: Record<Since, string> = {
  '1h': 'the last hour',
  '24h': 'the last 24 hours',
  '7d': 'the last 7 days',
  '30d': 'the last 30 days',
};

/** The known parts of a search; everything else is dropped. */
export function filterIn({ state, agentflow, since, text }: Record<string, unknown>): RunFilter {
  return {
    ...(states.includes(state as State) && { state: state as State }),
    ...(typeof agentflow === 'string' && agentflow !== '' && { agentflow }),
    ...(typeof since === 'string' && since in sinceSeconds && { since: since as Since }),
    ...(typeof text === 'string' && text.trim() !== '' && { text: text.trim().slice(0, 100) }),
  };
}

/** The beginning of a time, in epoch seconds. It is rounded to a minute, so that equal questions stay equal. */
export const startOf = (since: Since): number => Math.floor(Date.now() / 60_000) * 60 - sinceSeconds[since];

/** The filter as the API takes it. */
export function queryOf({ state, agentflow, since, text }: RunFilter) {
  return {
    ...(state && { state }),
    ...(agentflow !== undefined && { agentflow_id: agentflow }),
    ...(text !== undefined && { text }),
    ...(since && { from: startOf(since) }),
  };
}
