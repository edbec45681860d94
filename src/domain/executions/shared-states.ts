import { LRUCache } from 'lru-cache';
import {
  executionWorkflowId,
  stateQuery,
  type ExecutionState,
} from '../../../workflows/agentflow-execution/messages.js';
import type { Temporal } from '../../temporal/client.js';

/** The position of a run in its history. The state of a run can change only with a new event. */
interface RunPosition {
  runId: string;
  historyLength: number;
}

/** @throws QueryRejectedError if the run has closed, AppError `unavailable` if no worker answers in time */
export type ReadState = (executionId: string, position: RunPosition) => Promise<ExecutionState>;

/** The maximum size of all cached states together, in characters. */
const maxCharacters = 16 * 1024 * 1024;
const charactersPerStep = 1000;
export const queryTimeoutMs = 1500;

/** Queries a run once for each position in its history, regardless of the number of readers in this process. */
export function createStateReader(temporal: Temporal): ReadState {
  const latest = new LRUCache<string, { position: string; state: ExecutionState }>({
    maxSize: maxCharacters,
    sizeCalculation: ({ state }) => state.kept + charactersPerStep * (state.steps.length + 1),
  });
  const queries = new Map<string, Promise<ExecutionState>>();
  const query = async (executionId: string, position: string) => {
    const state = await temporal.queryOpenRun(executionWorkflowId(executionId), stateQuery, queryTimeoutMs);
    latest.set(executionId, { position, state });
    return state;
  };
  return async (executionId, { runId, historyLength }) => {
    const position = `${runId} ${historyLength}`;
    const known = latest.get(executionId);
    if (known?.position === position) return known.state;
    const answer = queries.get(position) ?? query(executionId, position).finally(() => queries.delete(position));
    queries.set(position, answer);
    return answer;
  };
}
