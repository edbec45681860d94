import type { ModelTurn } from './activities.js';
import type { AgentAtWork, AgentOutput, AgentPlan, ExecutionFailure, ExecutionState, ExecutionStatus, MoveRequest, StepRecord } from './messages.js';
import { nameOf, stepIdOf, type Step } from './next-step.js';
import { keepToolCalls } from './tools.js';

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
  if (state.pause) delayPreviews(state, at - state.pause.at);
  state.status = move === 'pause' ? 'paused' : 'running';
  state.pause = move === 'pause' ? { by, at } : null;
  addEvent(state, move === 'pause' ? 'paused' : 'resumed', at, { by, reason });
}

/** The clocks of a paused run stand still (design, Workflows). */
function delayPreviews(state: ExecutionState, seconds: number): void {
  for (const preview of Object.values(state.previews)) if (preview.status === 'waiting') preview.expires_at += seconds;
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' && value !== '' ? value.slice(0, 500) : otherwise;
}

/** `kept` are the outputs that a rerun goes on from. */
export function initialState(at: number, kept: readonly AgentOutput[] = []): ExecutionState {
  return {
    status: 'ready',
    started_at: at,
    end_time: null,
    current: null,
    documents: null,
    steps: [],
    agents_output: [...kept],
    conclusion: null,
    failure: null,
    previews: {},
    anomalies: [],
    checked: kept.length,
    spent: [],
    failover: null,
    round_start: kept.length,
    pause: null,
    last_event_seq: 0,
    kept: 0,
    unpublished: [],
    published: { steps: 0, outputs: kept.length },
  };
}

/** A state of a run that began before a field was added has the field's first value. */
export function withDefaults(state: ExecutionState): ExecutionState {
  const { current } = state;
  return { ...initialState(state.started_at), ...state, current: current && { ...agentAtWork(current.agent_id, current.started_at), ...current } };
}

function agentAtWork(agent_id: string, started_at: number): AgentAtWork {
  const usage = { input_tokens: 0, output_tokens: 0 };
  return { agent_id, started_at, results: [], turns: 0, conversation: [], tool_results: [], usage, model: null, draft: null, is_previewed: false };
}

export function addEvent(state: ExecutionState, type: string, at: number, data: Record<string, unknown> = {}): void {
  state.last_event_seq += 1;
  state.unpublished.push({ seq: state.last_event_seq, type, at, data });
}

const stepsOfAgents: ReadonlySet<Step['kind']> = new Set(['preview', 'action', 'tool', 'model']);

export function beginStep(state: ExecutionState, step: Step, at: number): StepRecord {
  if ('agent' in step && stepsOfAgents.has(step.kind) && !state.current) {
    state.current = agentAtWork(step.agent._id, at);
    addEvent(state, 'agent_started', at, { agent_id: step.agent._id, title: step.agent.title });
  }
  const record: StepRecord = {
    step_id: stepIdOf(step, state),
    kind: step.kind === 'tool' ? 'action' : step.kind,
    agent_id: 'agent' in step ? step.agent._id : '',
    ...placeOf(step),
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

function placeOf(step: Step): Pick<StepRecord, 'skill_id' | 'action_id'> {
  if (step.kind === 'action') return { skill_id: step.skill._id, action_id: step.action._id };
  if (step.kind === 'tool') return { skill_id: step.call.tool.skill._id, action_id: step.call.tool.action._id };
  return { skill_id: null, action_id: null };
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

/** Keeps what the model said: tool calls to run, a draft for a person, or the agent's output. */
export function keepTurn(state: ExecutionState, agent: AgentPlan, turn: ModelTurn, at: number): void {
  const { current } = state;
  if (!current) return;
  current.turns += 1;
  current.model = turn.model;
  const { input_tokens, output_tokens } = current.usage;
  current.usage = { input_tokens: input_tokens + turn.usage.input_tokens, output_tokens: output_tokens + turn.usage.output_tokens };
  if (turn.tool_calls.length > 0) {
    for (const { call, problem } of keepToolCalls(agent, current, turn)) {
      addEvent(state, 'tool_call_refused', at, { agent_id: agent._id, name: call.name.slice(0, 100), problem });
    }
    return;
  }
  current.draft = { model: turn.model, content: turn.content };
  // Who has decided on the actions of an agent is not asked again for what it says about them.
  if (!agent.is_preview_mode_enabled || current.is_previewed) takeOutput(state, agent, at);
}

/** The draft becomes the agent's output; `text` is what a person put in its place. */
export function takeOutput(state: ExecutionState, agent: AgentPlan, at: number, text?: string): void {
  const { current } = state;
  if (!current?.draft) return;
  const { draft, results, tool_results, usage, started_at } = current;
  endAgent(state, {
    agent_id: agent._id,
    title: agent.title,
    model: draft.model,
    output: text ?? draft.content,
    actions: [...results, ...tool_results],
    usage,
    started_at,
    ended_at: at,
  });
}

/** The turns of the agent at work, which now has no output to tell of them. */
function tellOfUnfinished({ current, spent, steps }: ExecutionState): void {
  if (current?.model) spent.push({ key: `${current.agent_id}/unfinished-${steps.length}`, model: current.model, ...current.usage });
}

/** After a failure, once: from the first agent again, for another goal; a template is rendered by the next step. */
export function failOver(state: ExecutionState, from: ExecutionFailure, goal: string | { template: string }): void {
  state.failover = { from, at: from.at, goal: typeof goal === 'string' ? goal : null };
  state.round_start = state.agents_output.length;
  tellOfUnfinished(state);
  state.current = null;
  addEvent(state, 'failover_started', from.at, { failure: from });
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
  tellOfUnfinished(state);
  state.failure = failure;
  state.status = 'failed';
  state.end_time = failure.at;
  state.pause = null;
  for (const preview of Object.values(state.previews)) if (preview.status === 'waiting') preview.status = 'expired';
  addEvent(state, 'failed', failure.at, { ...failure });
}

function linksIn(markdown: string): string[] {
  const found = markdown.match(/https?:\/\/[^\s<>()[\]"'`]+/g) ?? [];
  return [...new Set(found.map((link) => link.replace(/(?<![.,;:!?*_])[.,;:!?*_]+$/, '')))];
}
