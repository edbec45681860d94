import {
  agentDefaults,
  type ActionPlan,
  type AgentflowExecutionInput,
  type AgentPlan,
  type CurrentAgent,
  type ExecutionState,
  type SkillPlan,
} from './messages.js';
import type { UnsettledAnomaly } from './act-messages.js';
import { idWithFailover, stepIdOf, type Step } from './steps/index.js';
import type { ProposedCall } from './steps/preview.js';
import { pendingCalls } from './tools.js';

/** A change that the workflow makes by itself, without an activity. */
export type Transition =
  | { kind: 'requestPreview'; agent: AgentPlan; previewId: string; output: string }
  | { kind: 'awaitDecision'; agent: AgentPlan }
  | { kind: 'takeOutput'; agent: AgentPlan }
  | { kind: 'stopAtLimit'; agent: AgentPlan; message: string }
  | { kind: 'stopAfterAnomaly'; agent: AgentPlan; code: string; message: string };

/** The next step or transition; undefined at the end of the flow. A pure function of plan and state. */
export function nextStep(plan: AgentflowExecutionInput, state: ExecutionState): Step | Transition | undefined {
  const { current, failover } = state;
  if (plan.files.length > 0 && state.documents === null) return { kind: 'documents' };
  const goal = plan.failover?.goal;
  if (failover?.goal === null && typeof goal === 'object')
    return { kind: 'goal', template: goal.template, failure: failover.from };
  const { unsettled_anomaly: anomaly } = state;
  if (anomaly) return afterAnomaly(agentOf(plan, anomaly.agent_id), anomaly);
  const unchecked = state.agents_output[state.checked];
  if (plan.anomaly_detection && unchecked && !current) {
    return {
      kind: 'anomaly',
      agent: agentOf(plan, unchecked.agent_id),
      output: unchecked,
      instructions: plan.anomaly_detection.instructions,
      number: state.checked + 1,
    };
  }
  const agentId = current?.agent_id ?? nextAgentId(plan, state);
  if (agentId === null) return undefined;
  const agent = agentOf(plan, agentId);
  if (current?.draft) return afterDraft(state, agent, current.draft.content);
  return current && current.turns > 0 ? afterTurn(state, agent, current) : beforeTurns(state, agent);
}

function afterAnomaly(agent: AgentPlan, { finding, number, refused }: UnsettledAnomaly): Step | Transition {
  return refused ? { kind: 'stopAfterAnomaly', agent, ...refused } : { kind: 'continue', agent, finding, number };
}

/** The actions that the skills prescribe, then the first model turn. */
function beforeTurns(state: ExecutionState, agent: AgentPlan): Step | Transition {
  for (const skill of agent.skills) {
    const action = nextAction(skill, state);
    if (!action) continue;
    const calls = () => prescribedCalls(agent);
    return previewBefore(state, agent, 'preview', calls) ?? { kind: 'action', agent, skill, action };
  }
  return { kind: 'model', agent, turn: 1 };
}

/** The tool calls of the last turn, then the next turn. */
function afterTurn(state: ExecutionState, agent: AgentPlan, current: CurrentAgent): Step | Transition {
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
  const step = previewBefore(state, agent, `turn-${turn}/preview`, proposed);
  return step ?? { kind: 'tool', agent, skill, action, turn, call };
}

function afterDraft(state: ExecutionState, agent: AgentPlan, output: string): Transition {
  const previewId = idWithFailover(state, `${agent._id}/output/preview`);
  const preview = state.previews[agent._id];
  if (preview?.preview_id !== previewId) return { kind: 'requestPreview', agent, previewId, output };
  return { kind: preview.status === 'waiting' ? 'awaitDecision' : 'takeOutput', agent };
}

/** What a person has to decide before the agent acts; undefined if no decision is wanted or it has been made. */
function previewBefore(
  state: ExecutionState,
  agent: AgentPlan,
  place: string,
  calls: () => ProposedCall[],
): Step | Transition | undefined {
  if (!agent.is_preview_mode_enabled) return undefined;
  const step: Step = { kind: 'preview', agent, place, calls: calls() };
  const preview = state.previews[agent._id];
  if (preview?.preview_id !== stepIdOf(step, state)) return step;
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

function nextAgentId(plan: AgentflowExecutionInput, state: ExecutionState): string | null {
  const last = state.agents_output.slice(state.round_start).at(-1);
  if (last) return agentOf(plan, last.agent_id).next_agent;
  return state.failover && plan.failover ? plan.failover.first_agent_id : plan.first_agent_id;
}

function nextAction(skill: SkillPlan, state: ExecutionState): ActionPlan | undefined {
  const done = state.current?.results.filter((result) => result.skill_id === skill._id) ?? [];
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
