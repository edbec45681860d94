import { agentDefaults, type ActionPlan, type AgentAtWork, type AgentflowExecutionInput, type AgentOutput, type AgentPlan, type ExecutionState, type SkillPlan } from './messages.js';
import { pendingCalls, type PendingCall } from './tools.js';

/** What is done by one activity, and repeated at most when a worker is lost. */
export type Step =
  | { kind: 'documents' }
  | { kind: 'goal'; template: string }
  | { kind: 'anomaly'; agent: AgentPlan; output: AgentOutput; instructions: string }
  | { kind: 'preview'; agent: AgentPlan; previewId: string; calls: ProposedCall[] }
  | { kind: 'action'; agent: AgentPlan; skill: SkillPlan; action: ActionPlan }
  | { kind: 'tool'; agent: AgentPlan; turn: number; call: PendingCall }
  | { kind: 'model'; agent: AgentPlan; turn: number };

export interface ProposedCall {
  callId: string | null;
  skill: SkillPlan;
  action: ActionPlan;
  arguments?: Record<string, unknown>;
}

/** What the workflow does by itself: ask for a decision on an output, wait for one, take the output on, stop. */
export type Turn =
  | { kind: 'ask'; agent: AgentPlan; previewId: string; output: string }
  | { kind: 'decision'; agent: AgentPlan }
  | { kind: 'output'; agent: AgentPlan }
  | { kind: 'limit'; agent: AgentPlan; message: string };

/** What comes after what is done so far; undefined at the end of the flow. A pure function of plan and state. */
export function nextStep(plan: AgentflowExecutionInput, state: ExecutionState): Step | Turn | undefined {
  if (plan.files.length > 0 && state.documents === null) return { kind: 'documents' };
  const goal = plan.failover?.goal;
  if (state.failover?.goal === null && typeof goal === 'object') return { kind: 'goal', template: goal.template };
  const unchecked = state.agents_output[state.checked];
  if (plan.anomaly_detection && unchecked && !state.current) {
    return { kind: 'anomaly', agent: agentOf(plan, unchecked.agent_id), output: unchecked, instructions: plan.anomaly_detection.instructions };
  }
  const agentId = state.current?.agent_id ?? nextAgentId(plan, state);
  if (agentId === null) return undefined;
  const agent = agentOf(plan, agentId);
  const at = state.current;
  if (at?.draft) return nextOfDraft(state, agent, at.draft.content);
  return at && at.turns > 0 ? nextOfTurns(state, agent, at) : nextOfChain(state, agent);
}

function nextOfChain(state: ExecutionState, agent: AgentPlan): Step | Turn {
  for (const skill of agent.skills) {
    const action = nextAction(skill, state);
    if (!action) continue;
    const id = previewIdOf(state, agent, 'preview');
    return askBefore(state, agent, id, () => chainOf(agent)) ?? { kind: 'action', agent, skill, action };
  }
  return { kind: 'model', agent, turn: 1 };
}

function nextOfTurns(state: ExecutionState, agent: AgentPlan, at: AgentAtWork): Step | Turn {
  // Before the tools are run: their answers could not be told to the model any more.
  const message = limitProblem(agent, at);
  if (message !== undefined) return { kind: 'limit', agent, message };
  const calls = pendingCalls(agent, at);
  const [call] = calls;
  if (!call) return { kind: 'model', agent, turn: at.turns + 1 };
  const proposed = () => calls.map(({ id, tool, arguments: values }) => ({ callId: id, skill: tool.skill, action: tool.action, arguments: values }));
  const id = previewIdOf(state, agent, `turn-${at.turns}/preview`);
  return askBefore(state, agent, id, proposed) ?? { kind: 'tool', agent, turn: at.turns, call };
}

function nextOfDraft(state: ExecutionState, agent: AgentPlan, output: string): Turn {
  const previewId = previewIdOf(state, agent, 'output/preview');
  const preview = state.previews[agent._id];
  if (preview?.preview_id !== previewId) return { kind: 'ask', agent, previewId, output };
  return { kind: preview.status === 'waiting' ? 'decision' : 'output', agent };
}

/** What a person decides before the actions; undefined when that is done, or not wanted. */
function askBefore(state: ExecutionState, agent: AgentPlan, previewId: string, calls: () => ProposedCall[]): Step | Turn | undefined {
  if (!agent.is_preview_mode_enabled) return undefined;
  const preview = state.previews[agent._id];
  if (preview?.preview_id !== previewId) return { kind: 'preview', agent, previewId, calls: calls() };
  return preview.status === 'waiting' ? { kind: 'decision', agent } : undefined;
}

export function previewIdOf(state: Pick<ExecutionState, 'failover'>, agent: AgentPlan, place: string): string {
  return `${prefixOf(state)}${agent._id}/${place}`;
}

/** Why the agent may not go on with its tools; undefined while it may. */
export function limitProblem(agent: AgentPlan, at: Pick<AgentAtWork, 'turns' | 'usage'>): string | undefined {
  const { max_turns = agentDefaults.max_turns, max_total_tokens = agentDefaults.max_total_tokens } = agent;
  const tokens = at.usage.input_tokens + at.usage.output_tokens;
  if (tokens >= max_total_tokens) return `"${agent.title}" has used ${tokens} tokens: max_total_tokens is ${max_total_tokens}`;
  if (at.turns >= max_turns) return `"${agent.title}" has taken ${at.turns} model turns: max_turns is ${max_turns}`;
  return undefined;
}

export function agentOf(plan: AgentflowExecutionInput, agentId: string): AgentPlan {
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

/** The actions of the agent's skills from their initial ones to the terminal ones. */
function chainOf(agent: AgentPlan): ProposedCall[] {
  const calls: ProposedCall[] = [];
  for (const skill of agent.skills) {
    for (let action = actionAt(skill, skill.initial_action_id); action; action = actionAt(skill, followerOf(skill, action._id))) {
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

/** The way through the flow after a failover has step ids, and so idempotency keys, of its own. */
function prefixOf({ failover }: Pick<ExecutionState, 'failover'>): string {
  return failover ? 'failover/' : '';
}

/** `execution_id/agent_id/step`, the same on every attempt of a step: the idempotency key of its side effect. */
export function stepIdOf(step: Step, state: Pick<ExecutionState, 'failover' | 'checked'> = { failover: null, checked: 0 }): string {
  if (step.kind === 'preview') return step.previewId;
  return `${prefixOf(state)}${placeOf(step, state.checked)}`;
}

function placeOf(step: Exclude<Step, { kind: 'preview' }>, checked: number): string {
  switch (step.kind) {
    case 'documents':
    case 'goal':
      return step.kind;
    case 'anomaly':
      return `${step.agent._id}/anomaly-${checked + 1}`;
    case 'action':
      return `${step.agent._id}/${step.skill._id}/${step.action._id}`;
    case 'tool':
      return `${step.agent._id}/turn-${step.turn}/${step.call.index}`;
    case 'model':
      return step.turn === 1 ? `${step.agent._id}/model` : `${step.agent._id}/model-${step.turn}`;
  }
}

export function nameOf(step: Step): string {
  switch (step.kind) {
    case 'documents':
      return 'read documents';
    case 'goal':
      return 'render the failover goal';
    case 'anomaly':
      return `${step.agent.title}: anomaly check`;
    case 'preview':
      return `${step.agent.title}: compose preview`;
    case 'action':
      return step.action.name;
    case 'tool':
      return step.call.tool.action.name;
    case 'model':
      return `${step.agent.title}: model turn`;
  }
}
