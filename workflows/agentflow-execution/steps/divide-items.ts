import type { ActRun } from '../act-messages.js';
import type { FlowStepOf } from '../flow/flow-steps.js';
import type { ItemsQuery } from '../flow/map-step.js';
import type { AgentflowExecutionInput } from '../messages.js';
import type { KeptItems, Slice } from '../path-state.js';
import { outputsOn } from '../paths.js';
import { actRunOf } from './act.js';
import { contextOf, goalOf, namesOn } from './context.js';
import { idempotencyKey, type StepDefinition, type StepResult } from './definition.js';

/** Where the items of a `map` come from. */
export type ItemsSource = { items: unknown[] } | { query: ItemsQuery } | { kept: KeptItems };

/** Reads the items of a `map`, and prepares the runs that work on many of them. */
interface DivideItemsStep {
  kind: 'divideItems';
  map: FlowStepOf<'map'>;
  source: ItemsSource;
  /** The place of the `map` in this pass through the flow. */
  place: string;
  /** How many items the run works on itself, and whether more are divided among other runs. */
  most: number;
  isDivided: boolean;
}

export interface DivideItemsRequest {
  idempotency_key: string;
  project_id: string;
  run: ActRun;
  step_id: string;
  place: string;
  source: ItemsSource;
  most: number;
  is_divided: boolean;
  goal: string;
  /** What the path of the `map` knows. */
  given: NonNullable<AgentflowExecutionInput['given']>;
}

export type DividedItems = { items: unknown[] } | { slices: Slice[] };

interface Activities {
  divideItems(request: DivideItemsRequest): Promise<StepResult<DividedItems>>;
}

export const divideItems: StepDefinition<DivideItemsStep, Activities> = {
  kind: 'divideItems',
  isAgentWork: false,
  activity: 'divideItems',
  profile: { startToCloseTimeout: '10m' },
  id: ({ map: { _id } }) => `${_id}/items`,
  name: ({ map: { _id, title } }) => `${title || _id}: read the items`,
  run: ({ divideItems }, { map, source, place, most, isDivided }, run) => {
    const { _id, title } = map;
    const { outputs } = contextOf(run);
    return divideItems({
      idempotency_key: idempotencyKey(run),
      project_id: run.input.project_id,
      run: actRunOf(run, { _id, title: title || _id }),
      step_id: _id,
      place,
      source,
      most,
      is_divided: isDivided,
      goal: goalOf(run),
      given: {
        outputs: outputsOn(run.state, run.path),
        names: namesOn(run.state, run.path),
        agents: outputs.map(({ agent_id, title }) => ({ agent_id, title })),
      },
    });
  },
  keep: (divided, { map }, { state, path, stepId }) => {
    path.parts = { ended: {}, ...divided };
    if ('slices' in divided) state.has_slices = true;
    const record = state.steps.findLast((one) => one.step_id === stepId);
    // A rerun continues with these items.
    if (record && 'items' in divided && typeof map.items !== 'string') record.output = divided.items;
  },
};
