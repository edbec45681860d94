import { states, type State } from '../states.js';
import { timesIn } from './interval.js';

/** The query string of the list of runs. All values are readable, so that people can type them. */
export interface RunFilter {
  state?: State;
  agentflow?: string;
  /** A promoted version of `agentflow`. It has no effect without `agentflow`. */
  version?: string;
  /** The id of the user who started the run. */
  starter?: string;
  /** The id of the schedule that started the run. */
  schedule?: string;
  /** One of `sinceNames`, or an interval. */
  since?: string;
  text?: string;
}

const sinceSeconds = { '1h': 3600, '24h': 86_400, '7d': 7 * 86_400, '30d': 30 * 86_400 } as const;
export type Since = keyof typeof sinceSeconds;
export const sinceNames: Record<Since, string> = {
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
};

/** Returns the known query parameters and drops the others. */
export function filterIn({ state, version, since, text, ...ids }: Record<string, unknown>): RunFilter {
  const { agentflow, starter, schedule } = ids;
  return {
    ...(states.includes(state as State) && { state: state as State }),
    ...(isWord(agentflow) && { agentflow }),
    ...(isWord(agentflow) && isWord(version) && /^[1-9]\d{0,8}$/.test(version) && { version }),
    ...(isWord(starter) && { starter }),
    ...(isWord(schedule) && { schedule }),
    ...(isWord(since) && (since in sinceSeconds || timesIn(since)) && { since }),
    ...(typeof text === 'string' && text.trim() !== '' && { text: text.trim().slice(0, 100) }),
  };
}

const isWord = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** Returns the start of the period in epoch seconds, rounded to a minute so that the query key stays the same. */
export const startOf = (since: Since): number => Math.floor(Date.now() / 60_000) * 60 - sinceSeconds[since];

function periodOf(since: string) {
  const times = timesIn(since);
  // The end of the API is inclusive, and times have milliseconds.
  return times ? { from: times.from, to: times.to - 0.001 } : { from: startOf(since as Since) };
}

/** Returns the filter as API parameters. */
export function queryOf({ state, agentflow, version, starter, schedule, since, text }: RunFilter) {
  return {
    ...(state && { state }),
    ...(agentflow !== undefined && { agentflow_id: agentflow }),
    ...(version !== undefined && { agentflow_version: Number(version) }),
    ...(starter !== undefined && { executed_by: starter }),
    ...(schedule !== undefined && { schedule_id: schedule }),
    ...(text !== undefined && { text }),
    ...(since !== undefined && periodOf(since)),
  };
}
