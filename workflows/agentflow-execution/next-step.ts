import {
  agentDefaults,
  type ActionPlan,
  type AgentflowExecutionInput,
  type AgentPlan,
  type ExecutionState,
  type SkillPlan,
} from './messages.js';
import type { UnsettledAnomaly } from './act-messages.js';
import { isInnerStep, type FlowStep, type FlowStepOf, type InnerStep } from './flow/flow-steps.js';
import type { CallOnPath, CurrentAgent, PathState, SliceOnPath } from './path-state.js';
import { agentAtWork, idInPath, outputOfPath } from './paths.js';
import { previewOn } from './previews.js';
import { idInRun, stepIdOf, type Step } from './steps/index.js';
import type { ProposedCall } from './steps/preview.js';
import type { AgentflowCall } from './steps/start-flow.js';
import { areReads, pendingCalls, type PendingCall } from './tools.js';
import { unfitProblem, withOutputSchema } from './typed-outputs.js';

/** A change that the workflow makes by itself, without an activity. */
export type Transition =
  | { kind: 'requestPreview'; agent: AgentPlan; previewId: string; output: string }
  | { kind: 'awaitDecision'; agent: AgentPlan }
  | { kind: 'takeOutput'; agent: AgentPlan }
  /** The answer of its action is the output of an `action` step. */
  | { kind: 'takeAnswer'; agent: AgentPlan }
  /** The agent cannot continue. */
  | { kind: 'stop'; agent: AgentPlan; code: string; message: string };

/** A call of an agent whose action starts a run. */
export interface AgentflowCallDue {
  kind: 'agentflowCall';
  call: AgentflowCall;
  /** Unique in one pass through the flow, like the id of a step. */
  place: string;
}

/** Calls of one turn that only read, and run at once. */
export interface ReadsDue {
  kind: 'reads';
  agent: AgentPlan;
  calls: readonly PendingCall[];
}

/** A slice of the items of a `map`, on which a run of its own works. */
export interface SliceDue {
  kind: 'slice';
  map: FlowStepOf<'map'>;
  slice: SliceOnPath;
}

/** A step of the flow that runs in the workflow itself. */
export interface FlowStepDue {
  kind: 'flowStep';
  step: InnerStep;
}

/** What comes next on a path; undefined at its end. A pure function of plan and state. */
export function nextStep(
  plan: AgentflowExecutionInput,
  state: ExecutionState,
  path: PathState,
): Step | Transition | FlowStepDue | AgentflowCallDue | ReadsDue | SliceDue | undefined {
  const { failover } = state;
  const { current } = path;
  if (path.call) return callOnPath(plan, state, path, path.call);
  if (path.slice) return sliceOnPath(plan, path, path.slice);
  if (plan.files.length > 0 && state.documents === null) return { kind: 'documents' };
  const goal = plan.failover?.goal;
  if (failover?.goal === null && typeof goal === 'object')
    return { kind: 'goal', template: goal.template, failure: failover.from };
  const { unsettled_anomaly: anomaly } = path;
  if (anomaly) return afterAnomaly(agentOf(plan, anomaly.agent_id), anomaly);
  const unchecked = path.unchecked === null ? undefined : state.agents_output[path.unchecked];
  if (plan.anomaly_detection && unchecked && !current) {
    return {
      kind: 'anomaly',
      agent: agentOf(plan, unchecked.agent_id),
      output: unchecked,
      instructions: plan.anomaly_detection.instructions,
      number: state.agents_output.indexOf(unchecked) + 1,
    };
  }
  const id = current?.agent_id ?? path.next;
  if (id === null) return checkOfOutput(plan, state, path);
  const step = plan.steps?.find(({ _id }) => _id === id);
  if (step?.type === 'code') return { kind: 'code', code: step };
  if (step?.type === 'ask') return { kind: 'ask', ask: step };
  if (step && runsInWorkflow(step)) return { kind: 'flowStep', step };
  const on = { state, path, agent: withOutputSchema(plan, path, agentOf(plan, id)) };
  if (current?.draft) return afterDraft(on, current.draft.content);
  return current && current.turns > 0 ? afterTurn(on, current, plan.reads_at_once === true) : beforeTurns(on);
}

/** What the flow returns is checked, unless its last agent has the schema of the flow. */
function checkOfOutput(plan: AgentflowExecutionInput, state: ExecutionState, path: PathState): Step | undefined {
  const { output_schema: schema } = plan;
  if (path.path !== '' || !schema || path.is_output_checked) return undefined;
  const last = plan.agents.find(({ _id, step }) => _id === path.last && !step);
  if (last && !last.output_schema) return undefined;
  return { kind: 'output', schema, output: outputOfPath(state, path) };
}

function afterAnomaly(agent: AgentPlan, { finding, number, refused }: UnsettledAnomaly): Step | Transition {
  return refused ? { kind: 'stop', agent, ...refused } : { kind: 'continue', agent, finding, number };
}

/** An agent on its path. */
interface AgentOnPath {
  state: ExecutionState;
  path: PathState;
  agent: AgentPlan;
}

/** The actions that the skills prescribe, then the first model turn. */
function beforeTurns(on: AgentOnPath): Step | Transition | AgentflowCallDue {
  const { path, agent } = on;
  for (const skill of agent.skills) {
    const action = nextAction(skill, path);
    if (!action) continue;
    const calls = () => prescribedCalls(agent);
    const preview = previewBefore(on, 'preview', calls);
    if (preview) return preview;
    if (action.category !== 'agentflow') return { kind: 'action', agent, skill, action };
    const call = { agent, skill, action, callId: null };
    return { kind: 'agentflowCall', call, place: `${agent._id}/${skill._id}/${action._id}` };
  }
  return agent.step ? { kind: 'takeAnswer', agent } : { kind: 'model', agent, turn: 1 };
}

/** The tool calls of the last turn, then the next turn. */
function afterTurn(
  on: AgentOnPath,
  current: CurrentAgent,
  readsAtOnce: boolean,
): Step | Transition | AgentflowCallDue | ReadsDue {
  const { agent } = on;
  const unfit = unfitProblem(current, agent);
  if (unfit !== undefined) return { kind: 'stop', agent, code: 'output_invalid', message: unfit };
  // Checked before the tools run, because the model could no longer receive their answers.
  const limit = limitProblem(agent, current);
  if (limit !== undefined) return { kind: 'stop', agent, code: 'limit_exceeded', message: limit };
  const { turns: turn } = current;
  const calls = pendingCalls(agent, current);
  const [call] = calls;
  if (!call) return { kind: 'model', agent, turn: turn + 1 };
  const { skill, action } = call;
  const proposed = () =>
    calls.map(({ id, skill, action, arguments: values }) => ({ callId: id, skill, action, arguments: values }));
  const preview = previewBefore(on, `turn-${turn}/preview`, proposed);
  if (preview) return preview;
  if (readsAtOnce && areReads(agent, current)) return { kind: 'reads', agent, calls };
  if (action.category !== 'agentflow') return { kind: 'tool', agent, skill, action, turn, call };
  const place = `${agent._id}/turn-${turn}/${call.index}`;
  return { kind: 'agentflowCall', call: { ...call, agent, callId: call.id }, place };
}

/** The call of a path that runs with others; undefined once it is answered. */
function callOnPath(
  plan: AgentflowExecutionInput,
  state: ExecutionState,
  path: PathState,
  { agent_id, call_id }: CallOnPath,
): Step | undefined {
  const current = agentAtWork(state, path);
  const agent = agentOf(plan, agent_id);
  const call = current ? pendingCalls(agent, current).find(({ id }) => id === call_id) : undefined;
  if (!current || !call) return undefined;
  const { skill, action } = call;
  return { kind: 'tool', agent, skill, action, turn: current.turns, call };
}

/** Undefined once its run has ended. */
function sliceOnPath(
  { steps }: AgentflowExecutionInput,
  { last }: PathState,
  slice: SliceOnPath,
): SliceDue | undefined {
  if (last !== null) return undefined;
  const map = steps?.find(({ _id }) => _id === slice.step_id);
  if (map?.type !== 'map') throw new Error(`the agentflow has no map ${slice.step_id}`);
  return { kind: 'slice', map, slice };
}

function afterDraft({ state, path, agent }: AgentOnPath, output: string): Transition {
  const previewId = idInRun(state, idInPath(path, `${agent._id}/output/preview`));
  const preview = previewOn(state, path, agent._id);
  if (preview?.preview_id !== previewId) return { kind: 'requestPreview', agent, previewId, output };
  return { kind: preview.status === 'waiting' ? 'awaitDecision' : 'takeOutput', agent };
}

/** What a person has to decide before the agent acts; undefined if no decision is wanted or it has been made. */
function previewBefore(
  { state, path, agent }: AgentOnPath,
  place: string,
  calls: () => ProposedCall[],
): Step | Transition | undefined {
  if (!agent.is_preview_mode_enabled) return undefined;
  const step: Step = { kind: 'preview', agent, place, calls: calls() };
  const preview = previewOn(state, path, agent._id);
  if (preview?.preview_id !== stepIdOf(step, state, path)) return step;
  return preview.status === 'waiting' ? { kind: 'awaitDecision', agent } : undefined;
}

/** Why the agent may not call more tools; undefined while it may. */
export function limitProblem(
  agent: AgentPlan,
  { turns, usage, tokens_of_children = 0 }: Pick<CurrentAgent, 'turns' | 'usage' | 'tokens_of_children'>,
): string | undefined {
  const { max_turns = agentDefaults.max_turns, max_total_tokens = agentDefaults.max_total_tokens } = agent;
  const tokens = usage.input_tokens + usage.output_tokens + tokens_of_children;
  if (tokens >= max_total_tokens)
    return `"${agent.title}" has used ${tokens} tokens: max_total_tokens is ${max_total_tokens}`;
  if (turns >= max_turns) return `"${agent.title}" has taken ${turns} model turns: max_turns is ${max_turns}`;
  return undefined;
}

/** Actions, and branches whose case a model chooses, are agents of the plan. */
function runsInWorkflow(step: FlowStep): step is InnerStep {
  return isInnerStep(step.type) && !(step.type === 'branch' && step.decide);
}

function agentOf(plan: AgentflowExecutionInput, agentId: string): AgentPlan {
  const agent = plan.agents.find(({ _id }) => _id === agentId);
  if (!agent) throw new Error(`the agentflow has no agent ${agentId}`);
  return agent;
}

function nextAction(skill: SkillPlan, { current }: PathState): ActionPlan | undefined {
  const done = current?.results.filter((result) => result.skill_id === skill._id) ?? [];
  const last = done.at(-1);
  return actionAt(skill, last ? followerOf(skill, last.action_id) : skill.initial_action_id);
}

/** All actions that the agent's skills prescribe, each skill from its initial action to its last. */
function prescribedCalls(agent: AgentPlan): ProposedCall[] {
  const calls: ProposedCall[] = [];
  for (const skill of agent.skills) {
    for (
      let action = actionAt(skill, skill.initial_action_id);
      action;
      action = actionAt(skill, followerOf(skill, action._id))
    ) {
      calls.push({ callId: null, skill, action });
    }
  }
  return calls;
}

function actionAt(skill: SkillPlan, id: string | null): ActionPlan | undefined {
  return skill.actions.find(({ _id }) => _id === id);
}

function followerOf(skill: SkillPlan, actionId: string): string | null {
  const action = actionAt(skill, actionId);
  return action && !action.is_terminal ? action.next_action_id : null;
}
