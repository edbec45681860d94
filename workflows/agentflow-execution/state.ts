import type {
  AgentflowExecutionInput,
  AgentOutput,
  AgentPlan,
  ExecutionFailure,
  ExecutionState,
  ExecutionStatus,
  MoveRequest,
} from './messages.js';
import type { EventData } from './event-data.js';
import type { ModelTurn } from './model-turn.js';
import type { CurrentAgent, PathState } from './path-state.js';
import { idInPath, mainPathOf, newMainPath, outputOfPath, pathsOf, placeOf } from './paths.js';
import { takeRoom } from './stored-size.js';
import { keepToolCalls } from './tools.js';
import { repairRequest } from './typed-outputs.js';

export type Move = 'pause' | 'resume' | 'cancel';

/** The states in which each move is allowed (contract, State rules). */
const movesFrom: Record<Move, readonly ExecutionStatus[]> = {
  pause: ['running'],
  resume: ['paused'],
  cancel: ['ready', 'running', 'paused'],
};

/** Why the state does not allow the move; undefined if it does. */
export function refusalOf(move: Move, status: ExecutionStatus): string | undefined {
  return movesFrom[move].includes(status)
    ? undefined
    : `the execution is ${status}: ${move} needs ${movesFrom[move].join(' or ')}`;
}

export function isOver(state: ExecutionState): boolean {
  return state.status === 'completed' || state.status === 'failed';
}

/** Applies a move that the state allows. The request is untrusted: an operator can type anything into the Temporal UI. */
export function applyMove(state: ExecutionState, move: Move, request: MoveRequest | undefined, at: number): void {
  const by = textOr(request?.by, 'operator');
  const reason = textOr(request?.reason, '');
  if (move === 'cancel') {
    fail(state, {
      reason: 'cancelled',
      code: 'cancelled',
      message: reason || 'cancelled on request',
      by,
      at,
      step_id: null,
    });
    return;
  }
  if (state.pause) delayDecisions(state, at - state.pause.at);
  state.status = move === 'pause' ? 'paused' : 'running';
  state.pause = move === 'pause' ? { by, at } : null;
  addEvent(state, move === 'pause' ? 'paused' : 'resumed', at, { by, reason });
}

/** Time during a pause does not count towards the time limit of what a run waits for (design, Workflows). */
function delayDecisions(state: ExecutionState, seconds: number): void {
  for (const path of pathsOf(state)) {
    if (path.held) path.held.expires_at += seconds;
    if (path.elicitation) path.elicitation.expires_at += seconds;
    if (path.waits_until && !path.waits_until.is_fixed) path.waits_until.at += seconds;
  }
  for (const preview of Object.values(state.previews)) if (preview.status === 'waiting') preview.expires_at += seconds;
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' && value !== '' ? value.slice(0, 500) : otherwise;
}

type Begun = Pick<AgentflowExecutionInput, 'first_agent_id' | 'kept_outputs' | 'kept' | 'given' | 'room_in_record'>;

/** A rerun begins with what it keeps of the earlier run. */
export function initialState(
  at: number,
  { first_agent_id, kept_outputs = [], kept, given, room_in_record: room }: Begun,
): ExecutionState {
  const { '': main, ...kept_paths } = kept?.paths ?? {};
  const steps = kept?.steps ?? [];
  return {
    status: 'ready',
    started_at: at,
    end_time: null,
    paths: { '': withGiven(main ? { ...newMainPath(main.next), ...main } : newMainPath(first_agent_id), given) },
    ...(kept && { kept_paths }),
    documents: null,
    steps: [...steps],
    agents_output: [...kept_outputs],
    conclusion: null,
    failure: null,
    previews: {},
    anomalies: [],
    spent: [],
    failover: null,
    pause: null,
    last_event_seq: 0,
    kept: kept ? JSON.stringify([steps.map(({ output }) => output), kept_outputs]).length : 0,
    ...(room !== undefined && { room }),
    unpublished: [],
    published: { steps: steps.length, outputs: kept_outputs.length },
    projected_at: 0,
  };
}

function withGiven(main: PathState, given: Begun['given']): PathState {
  return given ? { ...main, outputs: { ...given.outputs, ...main.outputs }, names: given.names } : main;
}

function newCurrentAgent(agent_id: string, started_at: number): CurrentAgent {
  const usage = { input_tokens: 0, output_tokens: 0 };
  return {
    agent_id,
    started_at,
    results: [],
    turns: 0,
    conversation: [],
    tool_results: [],
    usage,
    model: null,
    draft: null,
    is_previewed: false,
  };
}

export function addEvent<T extends keyof EventData>(
  state: ExecutionState,
  type: T,
  at: number,
  data: EventData[T],
): void {
  state.last_event_seq += 1;
  state.unpublished.push({ seq: state.last_event_seq, type, at, data });
}

export function beginAgent(state: ExecutionState, path: PathState, { _id, title, step }: AgentPlan, at: number): void {
  path.current = newCurrentAgent(_id, at);
  if (step) return;
  addEvent(state, 'agent_started', at, { agent_id: _id, title, ...shownPath(path) });
}

/** The path as events, steps and outputs show it; the main part has none. */
export function shownPath(of: Pick<PathState, 'path' | 'call'>): { path?: string } {
  const path = placeOf(of);
  return path === '' ? {} : { path };
}

function endAgent(state: ExecutionState, path: PathState, agent: AgentPlan, output: AgentOutput): void {
  path.unchecked = state.agents_output.push(output) - 1;
  path.current = null;
  path.last = agent._id;
  path.next = followerOf(agent, output);
  const shown = { agent_id: output.agent_id, output: output.output, ...shownPath(path) };
  addEvent(state, 'agent_completed', output.ended_at, shown);
}

/** A `branch` continues at the case that its model chose. The schema of its output permits no other. */
function followerOf({ cases, next_agent }: AgentPlan, { value }: AgentOutput): string | null {
  if (!cases) return next_agent;
  const chosen = typeof value === 'object' && value !== null && 'case' in value ? String(value.case) : '';
  return Object.hasOwn(cases, chosen) ? (cases[chosen] ?? null) : null;
}

/**
 * Keeps the model's answer: tool calls to run, a draft for a person to decide on, the agent's output, or an answer that
 * the model has to correct.
 */
export function keepTurn(state: ExecutionState, path: PathState, agent: AgentPlan, turn: ModelTurn, at: number): void {
  const { current } = path;
  if (!current) return;
  current.turns += 1;
  current.model = turn.model;
  const { input_tokens, output_tokens } = current.usage;
  current.usage = {
    input_tokens: input_tokens + turn.usage.input_tokens,
    output_tokens: output_tokens + turn.usage.output_tokens,
  };
  if (turn.tool_calls.length > 0) {
    for (const { call, problem } of keepToolCalls(agent, current, turn)) {
      addEvent(state, 'tool_call_refused', at, { agent_id: agent._id, name: call.name.slice(0, 100), problem });
    }
    return;
  }
  const { result, model, content } = turn;
  if (result && 'problems' in result) {
    const { problems } = result;
    current.unfit = { count: (current.unfit?.count ?? 0) + 1, problems };
    current.conversation.push(
      { role: 'assistant', content, tool_calls: [] },
      { role: 'user', content: repairRequest(problems, agent.output_schema ?? {}) },
    );
    addEvent(state, 'output_refused', at, { agent_id: agent._id, problems, ...shownPath(path) });
    return;
  }
  current.draft = result ? { model, content: JSON.stringify(result.value), value: result.value } : { model, content };
  // A person who has decided on the agent's actions is not asked again about its output.
  if (!agent.is_preview_mode_enabled || current.is_previewed) takeOutput(state, path, agent, at);
}

/** Makes the draft the agent's output; `text` is a person's replacement for it: JSON if the output has a schema. */
export function takeOutput(state: ExecutionState, path: PathState, agent: AgentPlan, at: number, text?: string): void {
  const { current } = path;
  if (!current?.draft) return;
  const { draft, results, tool_results, usage, started_at } = current;
  endAgent(state, path, agent, {
    agent_id: agent._id,
    title: agent.title,
    model: draft.model,
    output: text ?? draft.content,
    ...('value' in draft && { value: text === undefined ? draft.value : (JSON.parse(text) as unknown) }),
    actions: [...results, ...tool_results],
    usage,
    started_at,
    ended_at: at,
    ...shownPath(path),
  });
}

/** Ends an `action` step. */
export function takeAnswer(path: PathState, { _id, next_agent }: AgentPlan): void {
  path.outputs[_id] = path.current?.results.at(-1)?.output ?? null;
  path.current = null;
  path.last = _id;
  path.next = next_agent;
}

/** Ends a path whose current agent has no output. The usage of the agent is recorded, because no output includes it. */
export function abandonPath({ spent, steps }: ExecutionState, path: PathState): void {
  const { current } = path;
  path.current = null;
  path.held = null;
  path.elicitation = null;
  path.waits_until = null;
  path.event = null;
  if (!current?.model) return;
  const key = idInPath(path, `${current.agent_id}/unfinished-${steps.length}`);
  spent.push({ key, model: current.model, ...current.usage });
}

/** Restarts once, after a failure, from the failover's first agent with another goal. The next step renders a goal template. */
export function failOver(
  state: ExecutionState,
  from: ExecutionFailure,
  { goal, first_agent_id }: { goal: string | { template: string }; first_agent_id: string },
): void {
  state.failover = { from, at: from.at, goal: typeof goal === 'string' ? goal : null };
  for (const path of pathsOf(state)) abandonPath(state, path);
  state.paths = { '': newMainPath(first_agent_id) };
  delete state.kept_paths;
  addEvent(state, 'failover_started', from.at, { failure: from });
}

/**
 * Ends the run as completed, with the output of the main part as the conclusion.
 * @throws ApplicationFailure `validation_failed` if the record has no room for it
 */
export function conclude(state: ExecutionState, at: number): void {
  const output = outputOfPath(state, mainPathOf(state)) ?? '';
  const isText = typeof output === 'string';
  const text = isText ? output : JSON.stringify(output);
  takeRoom(state, text, isText ? null : output);
  state.conclusion = { conclusion: text, ...(!isText && { output }), links: linksIn(text), created_at: at };
  state.status = 'completed';
  state.end_time = at;
  addEvent(state, 'completed', at, { conclusion: text });
}

export function fail(state: ExecutionState, failure: ExecutionFailure): void {
  for (const path of pathsOf(state)) abandonPath(state, path);
  state.failure = failure;
  state.status = 'failed';
  state.end_time = failure.at;
  state.pause = null;
  if (state.turn) state.turn.waiting_since = null;
  for (const preview of Object.values(state.previews)) if (preview.status === 'waiting') preview.status = 'expired';
  addEvent(state, 'failed', failure.at, { ...failure });
}

function linksIn(markdown: string): string[] {
  const found = markdown.match(/https?:\/\/[^\s<>()[\]"'`]+/g) ?? [];
  return [...new Set(found.map((link) => link.replace(/(?<![.,;:!?*_])[.,;:!?*_]+$/, '')))];
}
