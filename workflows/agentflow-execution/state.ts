import type {
  ActionPlan,
  AgentflowExecutionInput,
  AgentPlan,
  AgentOutput,
  ExecutionFailure,
  ExecutionState,
  ExecutionStatus,
  MoveRequest,
  SkillPlan,
  StepRecord,
} from './messages.js';

export type Move = 'pause' | 'resume' | 'cancel';

/** Which states each move starts from (contract, State rules). */
const movesFrom: Record<Move, readonly ExecutionStatus[]> = {
  pause: ['running'],
  resume: ['paused'],
  cancel: ['ready', 'running', 'paused'],
};

/** Undefined when the state allows the move, otherwise why not. */
export function refusalOf(move: Move, status: ExecutionStatus): string | undefined {
  return movesFrom[move].includes(status) ? undefined : `the execution is ${status}: ${move} needs ${movesFrom[move].join(' or ')}`;
}

export function isOver(state: ExecutionState): boolean {
  return state.status === 'completed' || state.status === 'failed';
}

/** Applies a move that the state allows. What an operator types into the Temporal UI is taken as untrusted text. */
export function applyMove(state: ExecutionState, move: Move, request: MoveRequest | undefined, at: number): void {
  const by = textOr(request?.by, 'operator');
  const reason = textOr(request?.reason, '');
  if (move === 'cancel') {
    fail(state, { reason: 'cancelled', code: 'cancelled', message: reason || 'cancelled on request', by, at, step_id: null });
    return;
  }
  state.status = move === 'pause' ? 'paused' : 'running';
  state.pause = move === 'pause' ? { by, at } : null;
  addEvent(state, move === 'pause' ? 'paused' : 'resumed', at, { by, reason });
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' && value !== '' ? value.slice(0, 500) : otherwise;
}

export function initialState(at: number): ExecutionState {
  return {
    status: 'ready',
    started_at: at,
    end_time: null,
    current: null,
    documents: null,
    steps: [],
    agents_output: [],
    conclusion: null,
    failure: null,
    pause: null,
    last_event_seq: 0,
    kept: 0,
    unpublished: [],
    published: { steps: 0, outputs: 0 },
  };
}

export function addEvent(state: ExecutionState, type: string, at: number, data: Record<string, unknown> = {}): void {
  state.last_event_seq += 1;
  state.unpublished.push({ seq: state.last_event_seq, type, at, data });
}

export type Step =
  | { kind: 'documents' }
  | { kind: 'action'; agent: AgentPlan; skill: SkillPlan; action: ActionPlan }
  | { kind: 'model'; agent: AgentPlan };

/** The step after what is done so far; undefined at the end of the flow. A pure function of plan and state. */
export function nextStep(plan: AgentflowExecutionInput, state: ExecutionState): Step | undefined {
  if (plan.files.length > 0 && state.documents === null) return { kind: 'documents' };
  const agentId = state.current?.agent_id ?? nextAgentId(plan, state);
  if (agentId === null) return undefined;
  const agent = agentOf(plan, agentId);
  for (const skill of agent.skills) {
    const action = nextAction(skill, state);
    if (action) return { kind: 'action', agent, skill, action };
  }
  return { kind: 'model', agent };
}

export function agentOf(plan: AgentflowExecutionInput, agentId: string): AgentPlan {
  const agent = plan.agents.find(({ _id }) => _id === agentId);
  if (!agent) throw new Error(`the agentflow has no agent ${agentId}`);
  return agent;
}

function nextAgentId(plan: AgentflowExecutionInput, state: ExecutionState): string | null {
  const last = state.agents_output.at(-1);
  return last ? agentOf(plan, last.agent_id).next_agent : plan.first_agent_id;
}

function nextAction(skill: SkillPlan, state: ExecutionState): ActionPlan | undefined {
  const done = state.current?.results.filter((result) => result.skill_id === skill._id) ?? [];
  const last = done.at(-1);
  const nextId = last ? followerOf(skill, last.action_id) : skill.initial_action_id;
  return skill.actions.find(({ _id }) => _id === nextId);
}

function followerOf(skill: SkillPlan, actionId: string): string | null {
  const action = skill.actions.find(({ _id }) => _id === actionId);
  return action && !action.is_terminal ? action.next_action_id : null;
}

/** `execution_id/agent_id/step`, the same on every attempt of a step: the idempotency key of its side effect. */
export function stepIdOf(step: Step): string {
  if (step.kind === 'documents') return 'documents';
  return step.kind === 'action' ? `${step.agent._id}/${step.skill._id}/${step.action._id}` : `${step.agent._id}/model`;
}

export function beginStep(state: ExecutionState, step: Step, at: number): StepRecord {
  const agentId = step.kind === 'documents' ? '' : step.agent._id;
  if (step.kind !== 'documents' && !state.current) {
    state.current = { agent_id: agentId, started_at: at, results: [] };
    addEvent(state, 'agent_started', at, { agent_id: agentId, title: step.agent.title });
  }
  const record: StepRecord = {
    step_id: stepIdOf(step),
    kind: step.kind,
    agent_id: agentId,
    skill_id: step.kind === 'action' ? step.skill._id : null,
    action_id: step.kind === 'action' ? step.action._id : null,
    name: nameOf(step),
    status: 'running',
    attempts: 0,
    started_at: at,
    ended_at: null,
    error: null,
  };
  state.steps.push(record);
  addEvent(state, 'step_started', at, { step_id: record.step_id, kind: record.kind, name: record.name });
  return record;
}

export function nameOf(step: Step): string {
  if (step.kind === 'documents') return 'read documents';
  return step.kind === 'action' ? step.action.name : `${step.agent.title}: model turn`;
}

export function endStep(
  state: ExecutionState,
  record: StepRecord,
  end: { status: 'completed' | 'failed' | 'cancelled'; attempts: number; at: number; error?: string },
): void {
  record.status = end.status;
  record.attempts = end.attempts;
  record.ended_at = end.at;
  record.error = end.error ?? null;
  addEvent(state, `step_${end.status}`, end.at, { step_id: record.step_id, attempts: end.attempts, error: record.error });
}

export function endAgent(state: ExecutionState, output: AgentOutput): void {
  state.agents_output.push(output);
  state.current = null;
  addEvent(state, 'agent_completed', output.ended_at, { agent_id: output.agent_id, output: output.output });
}

/** Ends the run as completed; the last agent's output is the conclusion. */
export function conclude(state: ExecutionState, at: number): void {
  const text = state.agents_output.at(-1)?.output ?? '';
  state.conclusion = { conclusion: text, links: linksIn(text), created_at: at };
  state.status = 'completed';
  state.end_time = at;
  addEvent(state, 'completed', at, { conclusion: text });
}

export function fail(state: ExecutionState, failure: ExecutionFailure): void {
  state.failure = failure;
  state.status = 'failed';
  state.end_time = failure.at;
  state.pause = null;
  addEvent(state, 'failed', failure.at, { ...failure });
}

function linksIn(markdown: string): string[] {
  const found = markdown.match(/https?:\/\/[^\s<>()[\]"'`]+/g) ?? [];
  return [...new Set(found.map((link) => link.replace(/[.,;:!?*_]+$/, '')))];
}
