import {
  agentDefaults,
  type ActionPlan,
  type AgentflowExecutionInput,
  type AgentPlan,
  type ExecutionState,
  type SkillPlan,
} from './messages.js';
import type { UnsettledAnomaly } from './act-messages.js';
import type { InnerStep } from './flow/flow-steps.js';
import type { CurrentAgent, PathState } from './path-state.js';
import { idInPath } from './paths.js';
import { previewOn } from './previews.js';
import { idInRun, stepIdOf, type Step } from './steps/index.js';
import type { ProposedCall } from './steps/preview.js';
import { pendingCalls } from './tools.js';

/** A change that the workflow makes by itself, without an activity. */
export type Transition =
  | { kind: 'requestPreview'; agent: AgentPlan; previewId: string; output: string }
  | { kind: 'awaitDecision'; agent: AgentPlan }
  | { kind: 'takeOutput'; agent: AgentPlan }
  /** The answer of its action is the output of an `action` step. */
  | { kind: 'takeAnswer'; agent: AgentPlan }
  | { kind: 'stopAtLimit'; agent: AgentPlan; message: string }
  | { kind: 'stopAfterAnomaly'; agent: AgentPlan; code: string; message: string };

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
): Step | Transition | FlowStepDue | undefined {
  const { failover } = state;
  const { current } = path;
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
  if (id === null) return undefined;
  const step = plan.steps?.find(({ _id }) => _id === id);
  if (step?.type === 'code') return { kind: 'code', code: step };
  if (step && step.type !== 'action') return { kind: 'flowStep', step };
  const on = { state, path, agent: agentOf(plan, id) };
  if (current?.draft) return afterDraft(on, current.draft.content);
  return current && current.turns > 0 ? afterTurn(on, current) : beforeTurns(on);
}

function afterAnomaly(agent: AgentPlan, { finding, number, refused }: UnsettledAnomaly): Step | Transition {
  return refused ? { kind: 'stopAfterAnomaly', agent, ...refused } : { kind: 'continue', agent, finding, number };
}

/** An agent on its path. */
interface AgentOnPath {
  state: ExecutionState;
  path: PathState;
  agent: AgentPlan;
}

/** The actions that the skills prescribe, then the first model turn. */
function beforeTurns(on: AgentOnPath): Step | Transition {
  const { path, agent } = on;
  for (const skill of agent.skills) {
    const action = nextAction(skill, path);
    if (!action) continue;
    const calls = () => prescribedCalls(agent);
    return previewBefore(on, 'preview', calls) ?? { kind: 'action', agent, skill, action };
  }
  return agent.step ? { kind: 'takeAnswer', agent } : { kind: 'model', agent, turn: 1 };
}

/** The tool calls of the last turn, then the next turn. */
function afterTurn(on: AgentOnPath, current: CurrentAgent): Step | Transition {
  const { agent } = on;
  // Checked before the tools run, because the model could no longer receive their answers.
  const message = limitProblem(agent, current);
  if (message !== undefined) return { kind: 'stopAtLimit', agent, message };
  const { turns: turn } = current;
  const calls = pendingCalls(agent, current);
  const [call] = calls;
  if (!call) return { kind: 'model', agent, turn: turn + 1 };
  const { skill, action } = call;
  const proposed = () =>
    calls.map(({ id, skill, action, arguments: values }) => ({ callId: id, skill, action, arguments: values }));
  const step = previewBefore(on, `turn-${turn}/preview`, proposed);
  return step ?? { kind: 'tool', agent, skill, action, turn, call };
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
  { turns, usage }: Pick<CurrentAgent, 'turns' | 'usage'>,
): string | undefined {
  const { max_turns = agentDefaults.max_turns, max_total_tokens = agentDefaults.max_total_tokens } = agent;
  const tokens = usage.input_tokens + usage.output_tokens;
  if (tokens >= max_total_tokens)
    return `"${agent.title}" has used ${tokens} tokens: max_total_tokens is ${max_total_tokens}`;
  if (turns >= max_turns) return `"${agent.title}" has taken ${turns} model turns: max_turns is ${max_turns}`;
  return undefined;
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
