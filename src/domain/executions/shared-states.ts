import { LRUCache } from 'lru-cache';
import {
  executionWorkflowId,
  stateQuery,
  type ExecutionState,
} from '../../../workflows/agentflow-execution/messages.js';
import { withDefaults } from '../../../workflows/agentflow-execution/state.js';
import type { Temporal } from '../../temporal/client.js';

/** Where a run is in its history. Only a new event can change the state of a run. */
export interface RunPosition {
  runId: string;
  historyLength: number;
}

/** @throws QueryRejectedError if the run has closed, AppError `unavailable` if no worker answers in time */
export type ReadState = (executionId: string, position: RunPosition) => Promise<ExecutionState>;

/** All states together, in characters. */
const maxKept = 16 * 1024 * 1024;
const charactersPerStep = 1000;
export const queryTimeoutMs = 1500;

const readers = new WeakMap<Temporal, ReadState>();

/** Queries a run once for each position in its history, regardless of the number of readers in this process. */
export function sharedStates(temporal: Temporal): ReadState {
  const read = readers.get(temporal) ?? createReader(temporal);
  readers.set(temporal, read);
  return read;
}

function createReader(temporal: Temporal): ReadState {
  const kept = new LRUCache<string, { at: string; state: ExecutionState }>({
    maxSize: maxKept,
    sizeCalculation: ({ state }) => state.kept + charactersPerStep * (state.steps.length + 1),
  });
  const asked = new Map<string, Promise<ExecutionState>>();
  const ask = async (executionId: string, at: string) => {
    const answer = await temporal.queryOpenRun(executionWorkflowId(executionId), stateQuery, queryTimeoutMs);
    const state = withDefaults(answer);
    kept.set(executionId, { at, state });
    return state;
  };
  return async (executionId, { runId, historyLength }) => {
    const at = `${runId} ${historyLength}`;
    const known = kept.get(executionId);
    if (known?.at === at) return known.state;
    const answer = asked.get(at) ?? ask(executionId, at).finally(() => asked.delete(at));
    asked.set(at, answer);
    return answer;
  };
}
