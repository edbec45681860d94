import { states, type State } from '../states.js';

/** What the address of the list of runs says. All values are words, so that people can write them. */
export interface RunFilter {
  state?: State;
  agentflow?: string;
  /** A promoted version of `agentflow`, and nothing without it. */
  version?: string;
  /** The id of the user who started it. */
  starter?: string;
  /** The id of the schedule that started it. */
  schedule?: string;
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
export function filterIn({ state, version, since, text, ...ids }: Record<string, unknown>): RunFilter {
  const { agentflow, starter, schedule } = ids;
  return {
    ...(states.includes(state as State) && { state: state as State }),
    ...(isWord(agentflow) && { agentflow }),
    ...(isWord(agentflow) && isWord(version) && /^[1-9]\d{0,8}$/.test(version) && { version }),
    ...(isWord(starter) && { starter }),
    ...(isWord(schedule) && { schedule }),
    ...(typeof since === 'string' && since in sinceSeconds && { since: since as Since }),
    ...(typeof text === 'string' && text.trim() !== '' && { text: text.trim().slice(0, 100) }),
  };
}

const isWord = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** The beginning of a time, in epoch seconds. It is rounded to a minute, so that equal questions stay equal. */
export const startOf = (since: Since): number => Math.floor(Date.now() / 60_000) * 60 - sinceSeconds[since];

/** The filter as the API takes it. */
export function queryOf({ state, agentflow, version, starter, schedule, since, text }: RunFilter) {
  return {
    ...(state && { state }),
    ...(agentflow !== undefined && { agentflow_id: agentflow }),
    ...(version !== undefined && { agentflow_version: Number(version) }),
    ...(starter !== undefined && { executed_by: starter }),
    ...(schedule !== undefined && { schedule_id: schedule }),
    ...(text !== undefined && { text }),
    ...(since && { from: startOf(since) }),
  };
}
