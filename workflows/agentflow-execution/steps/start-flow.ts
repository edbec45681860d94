import type { ActRun, AwaitedApproval } from '../act-messages.js';
import type { StartChildRequest } from '../child-messages.js';
import type { FlowStepOf } from '../flow/flow-steps.js';
import type { ActionPlan, AgentPlan, SkillPlan } from '../messages.js';
import { evaluateOn, inputValues } from '../flow/values.js';
import { actionInput, approvalOf, type ActionInput } from './action.js';
import { actRunOf } from './act.js';
import { contextOf, goalOf, type StepContext } from './context.js';
import { idempotencyKey, type StepDefinition, type StepResult, type StepRun } from './definition.js';

/** A call of an agent whose action starts a run. */
export interface AgentflowCall {
  agent: AgentPlan;
  skill: SkillPlan;
  action: ActionPlan;
  /** The model's tool call; null for an action that the skill prescribes. */
  callId: string | null;
  arguments?: Record<string, unknown>;
}

/** Prepares the run that a `flow` step or a call of an agent starts. */
interface StartFlowStep {
  kind: 'startFlow';
  flow: FlowStepOf<'flow'>;
  agent?: AgentPlan;
  /** The goal and the inputs come from the call instead of the step. */
  call?: AgentflowCall;
}

export interface StartFlowRequest {
  idempotency_key: string;
  project_id: string;
  run: ActRun;
  agentflow_id: string;
  version?: number;
  goal: string;
  input_variables: Record<string, unknown>;
  /** The activity fills the goal and the inputs from the action, as for other actions. */
  call?: { action: ActionPlan; context: StepContext; input: ActionInput };
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
  beginsSomething: true,
  id: ({ flow: { _id } }) => `${_id}/start`,
  name: ({ flow: { _id, title } }) => `${title || _id}: start`,
  run: ({ startFlow }, { flow, call }, run) => {
    const { _id, title, agentflow_id, version, goal, inputs, wait } = flow;
    const on = { ...run, work: { steps: 0 } };
    return startFlow({
      idempotency_key: idempotencyKey(run),
      project_id: run.input.project_id,
      run: actRunOf(run, call?.agent ?? { _id, title: title || _id }),
      agentflow_id,
      ...(version !== undefined && { version }),
      goal: goal === undefined ? goalOf(run) : textOf(evaluateOn(on, { field: 'goal', text: goal })),
      input_variables: inputValues(run, inputs),
      wait,
      ...(call && { call: callOf(call, run) }),
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

function callOf({ agent, action, callId, arguments: values }: AgentflowCall, run: StepRun) {
  return { action, context: contextOf(run), input: actionInput(run, agent, action, callId, values) };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
