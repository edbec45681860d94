import type { FlowStepOf } from '../flow/flow-steps.js';
import type { ChildEnd, SliceOnPath } from '../path-state.js';
import { idempotencyKey, type StepDefinition, type StepResult } from './definition.js';

/** Reads how the run of a slice has ended. */
interface ReadSliceStep {
  kind: 'readSlice';
  map: FlowStepOf<'map'>;
  slice: SliceOnPath;
  execution_id: string;
  /** How often it was read, from 1. */
  number: number;
}

interface ReadSliceRequest {
  idempotency_key: string;
  execution_id: string;
}

interface Activities {
  /** Null while the run has not ended. */
  readSlice(request: ReadSliceRequest): Promise<StepResult<ChildEnd | null>>;
}

export const readSlice: StepDefinition<ReadSliceStep, Activities> = {
  kind: 'readSlice',
  isAgentWork: false,
  activity: 'readSlice',
  profile: { startToCloseTimeout: '30s' },
  id: ({ number }) => `slice/result${number === 1 ? '' : `-${number}`}`,
  name: ({ map: { _id, title }, slice: { from, count } }) =>
    `${title || _id}: read items ${from} to ${from + count - 1}`,
  run: ({ readSlice }, { execution_id }, run) => readSlice({ idempotency_key: idempotencyKey(run), execution_id }),
  keep: (end, _step, { path, state }) => {
    if (path.child) path.child.end = end;
    const tokens = end?.tokens ?? 0;
    if (tokens > 0) state.tokens_of_children = (state.tokens_of_children ?? 0) + tokens;
  },
};
