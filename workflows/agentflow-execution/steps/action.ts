import type { ActivityOptions } from '@temporalio/workflow';
import type { ActionResult } from '../action-result.js';
import type { ActionPlan, AgentPlan, ExecutionState, SkillPlan } from '../messages.js';
import { inputValues } from '../flow/values.js';
import type { PathState } from '../path-state.js';
import { editsOf } from '../previews.js';
import { contextOf, type StepContext } from './context.js';
import type { ActRun, AwaitedApproval } from '../act-messages.js';
import { actRunOf } from './act.js';
import { idempotencyKey, type StepDefinition, type StepResult, type StepRun } from './definition.js';

/** An action that a skill prescribes before the agent's first model turn. */
export interface ActionStep {
  kind: 'action';
  agent: AgentPlan;
  skill: SkillPlan;
  action: ActionPlan;
}

export interface CallActionRequest {
  /** Sent as `Idempotency-Key`: the same on every attempt. */
  idempotency_key: string;
  project_id: string;
  /** The connector of the action's skill. */
  connector_id: string | null;
  action: ActionPlan;
  context: StepContext;
  input?: ActionInput;
  /** Absent for calls that no agent makes. */
  run?: ActRun;
  /** The step's progress comes after this event of the execution. */
  after_seq: number;
  /** The approval for which the act waited. */
  approval?: Pick<AwaitedApproval, 'approval_id' | 'after_unknown' | 'is_edited'>;
}

/** The call of an agent. */
export interface ActRequest extends CallActionRequest {
  run: ActRun;
}

/** Values for an action's fields, in addition to those in the context (`src/domain/actions/action-fields.ts` defines their order). */
export interface ActionInput {
  /** What a person changed in the preview. */
  edits?: Record<string, unknown>;
  /** What the model asked for. */
  arguments?: Record<string, unknown>;
  /** What the agent's author supplies for this phase. */
  defaults?: Record<string, unknown>;
}

export interface ActionActivities {
  callAction(request: ActRequest): Promise<StepResult<unknown>>;
}

/** The first third may pass before a worker has a free slot. The server of a tool may ask a person, who has at most an hour. */
export const callProfile = ({ action }: Pick<ActionStep, 'action'>): ActivityOptions => ({
  startToCloseTimeout: action.category === 'mcp' ? '63m' : '3m',
});

export const action: StepDefinition<ActionStep, ActionActivities> = {
  kind: 'action',
  isAgentWork: true,
  activity: 'callAction',
  profile: callProfile,
  isAct: true,
  id: ({ agent, skill, action }) => (agent.step ? agent._id : `${agent._id}/${skill._id}/${action._id}`),
  name: ({ action }) => action.name,
  run: ({ callAction }, step, run) =>
    callAction(callRequest(step, run, actionInput(run, step.agent, step.action, null, valuesOf(step, run)))),
  failsIfRefused: ({ agent }) => agent.step !== undefined,
  keep: (output, step, { path, state, stepId, edits }) => {
    path.current?.results.push(actionResult(step, output, edits));
    if (!step.agent.step) return;
    const record = state.steps.findLast((one) => one.step_id === stepId);
    if (record) record.output = output;
  },
};

/** The values that an `action` step computes for the fields of its action. */
function valuesOf({ agent }: ActionStep, run: StepRun): Record<string, unknown> | undefined {
  return agent.step && inputValues(run, agent.step.inputs);
}

type Called = Pick<ActionStep, 'agent' | 'skill' | 'action'>;

export function callRequest({ agent, skill, action }: Called, run: StepRun, input: ActionInput): ActRequest {
  return {
    idempotency_key: idempotencyKey(run),
    project_id: run.input.project_id,
    connector_id: skill.connector_id ?? null,
    action,
    context: contextOf(run),
    input,
    run: actRunOf(run, agent),
    after_seq: run.state.last_event_seq,
    ...approvalOf(run),
  };
}

/** The approval that the step waited for. */
export function approvalOf({ path: { held }, stepId }: StepRun): Pick<CallActionRequest, 'approval'> {
  if (held?.step_id !== stepId) return {};
  const { approval_id, after_unknown, is_edited } = held;
  return { approval: { approval_id, ...(after_unknown && { after_unknown }), ...(is_edited && { is_edited }) } };
}

export function actionResult(
  { skill, action }: Omit<Called, 'agent'>,
  output: unknown,
  edits: ActionResult['edits'],
): ActionResult {
  return { action_id: action._id, skill_id: skill._id, name: action.name, output, ...(edits && { edits }) };
}

/** The author gives separate inputs for the actions before the first model turn and for tool calls, which have `values`. */
export function actionInput(
  { state, path }: { state: ExecutionState; path: PathState },
  agent: AgentPlan,
  { _id }: ActionPlan,
  callId: string | null,
  values?: Record<string, unknown>,
): ActionInput {
  const edits = editsOf(state, path, { agentId: agent._id, actionId: _id, callId });
  const defaults = values ? agent.action_inputs?.post : agent.action_inputs?.pre;
  return { ...(edits && { edits }), ...(values && { arguments: values }), ...(defaults && { defaults }) };
}
