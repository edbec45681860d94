import type { FlowStepOf } from '../flow/flow-steps.js';
import type { AgentPlan } from '../messages.js';
import type { ChildEnd } from '../path-state.js';
import { idempotencyKey, type StepDefinition, type StepResult } from './definition.js';

/** Reads how the run of a `flow` step or a tool call has ended. */
interface ReadFlowStep {
  kind: 'readFlow';
  flow: FlowStepOf<'flow'>;
  /** The agent that made the tool call. */
  agent?: AgentPlan;
  execution_id: string;
  /** How often it was read, from 1. */
  number: number;
}

export interface ReadFlowRequest {
  idempotency_key: string;
  execution_id: string;
}

interface Activities {
  /** Null while the run has not ended. */
  readFlow(request: ReadFlowRequest): Promise<StepResult<ChildEnd | null>>;
}

export const readFlow: StepDefinition<ReadFlowStep, Activities> = {
  kind: 'readFlow',
  isAgentWork: false,
  activity: 'readFlow',
  profile: { startToCloseTimeout: '30s' },
  id: ({ flow: { _id }, number }) => `${_id}/result${number === 1 ? '' : `-${number}`}`,
  name: ({ flow: { _id, title } }) => `${title || _id}: read the result`,
  run: ({ readFlow }, { execution_id }, run) => readFlow({ idempotency_key: idempotencyKey(run), execution_id }),
  keep: (end, { agent }, { path, state }) => {
    if (path.child) path.child.end = end;
    const tokens = end?.tokens ?? 0;
    if (tokens === 0) return;
    state.tokens_of_children = (state.tokens_of_children ?? 0) + tokens;
    if (agent && path.current) path.current.tokens_of_children = (path.current.tokens_of_children ?? 0) + tokens;
  },
};
