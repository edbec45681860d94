import type { StartChildRequest } from '../child-messages.js';
import type { FlowStepOf } from '../flow/flow-steps.js';
import type { ChildEnd, SliceOnPath } from '../path-state.js';
import { actRunOf } from './act.js';
import { idempotencyKey, type StepDefinition, type StepResult } from './definition.js';

/** Reads the run that works on a slice of the items of a `map`, to start it. */
interface StartSliceStep {
  kind: 'startSlice';
  map: FlowStepOf<'map'>;
  /** The place of the `map` in this pass through the flow. */
  place: string;
  slice: SliceOnPath;
}

export interface StartSliceRequest {
  idempotency_key: string;
  execution_id: string;
  place: string;
  from: number;
  concurrency: number;
  tokens_before: number;
}

/** A slice that a rerun keeps has ended already. */
export type PreparedSlice = { execution_id: string } & ({ request: StartChildRequest } | { end: ChildEnd });

interface Activities {
  startSlice(request: StartSliceRequest): Promise<StepResult<PreparedSlice>>;
}

export const startSlice: StepDefinition<StartSliceStep, Activities> = {
  kind: 'startSlice',
  isAgentWork: false,
  activity: 'startSlice',
  profile: { startToCloseTimeout: '1m' },
  beginsSomething: true,
  id: () => 'slice/start',
  name: ({ map: { _id, title }, slice: { from, count } }) =>
    `${title || _id}: start items ${from} to ${from + count - 1}`,
  run: ({ startSlice }, { map, place, slice: { from, concurrency } }, run) =>
    startSlice({
      idempotency_key: idempotencyKey(run),
      execution_id: run.input.execution_id,
      place,
      from,
      concurrency,
      tokens_before: actRunOf(run, map).tokens_spent,
    }),
  // The request is not kept once the run has started.
  counted: (prepared) => ('end' in prepared ? prepared.end : null),
  keep: (prepared, _step, { path }) => {
    const { execution_id } = prepared;
    const child = { execution_id, is_paused: false, reads: 0, end: null };
    path.child = 'end' in prepared ? { ...child, end: prepared.end } : { ...child, request: prepared.request };
  },
};
