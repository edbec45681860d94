import type { ActRun, AwaitedApproval } from '../act-messages.js';
import type { StartChildRequest } from '../child-messages.js';
import type { FlowStepOf } from '../flow/flow-steps.js';
import { evaluateOn, inputValues } from '../flow/values.js';
import { approvalOf } from './action.js';
import { actRunOf } from './act.js';
import { goalOf } from './context.js';
import { idempotencyKey, type StepDefinition, type StepResult } from './definition.js';

/** Prepares the run that a `flow` step starts. */
interface StartFlowStep {
  kind: 'startFlow';
  flow: FlowStepOf<'flow'>;
}

export interface StartFlowRequest {
  idempotency_key: string;
  project_id: string;
  run: ActRun;
  agentflow_id: string;
  version?: number;
  goal: string;
  input_variables: Record<string, unknown>;
  /** Whether the run tells this one about its end. */
  wait: boolean;
  /** The approval for which the step waited. */
  approval?: Pick<AwaitedApproval, 'approval_id' | 'after_unknown'>;
}

interface Activities {
  startFlow(request: StartFlowRequest): Promise<StepResult<StartChildRequest | null>>;
}

export const startFlow: StepDefinition<StartFlowStep, Activities> = {
  kind: 'startFlow',
  isAgentWork: false,
  activity: 'startFlow',
  profile: { startToCloseTimeout: '1m' },
  id: ({ flow: { _id } }) => `${_id}/start`,
  name: ({ flow: { _id, title } }) => `${title || _id}: start`,
  run: ({ startFlow }, { flow }, run) => {
    const { _id, title, agentflow_id, version, goal, inputs, wait } = flow;
    const on = { ...run, work: { steps: 0 } };
    return startFlow({
      idempotency_key: idempotencyKey(run),
      project_id: run.input.project_id,
      run: actRunOf(run, { _id, title: title || _id }),
      agentflow_id,
      ...(version !== undefined && { version }),
      goal: goal === undefined ? goalOf(run) : textOf(evaluateOn(on, { field: 'goal', text: goal })),
      input_variables: inputValues(run, inputs),
      wait,
      ...approvalOf(run),
    });
  },
  keep: (request, _step, { path }) => {
    if (!request) return;
    const { execution_id } = request.input;
    path.child = { execution_id, request, is_paused: false, reads: 0, end: null };
  },
  failsIfRefused: () => true,
};

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
