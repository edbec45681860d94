import type { ActAwaitingApproval, Anomaly } from './act-messages.js';
import type { ExecutionState } from './messages.js';
import type { PathState } from './path-state.js';
import { activePathsOf, idInPath } from './paths.js';
import type { Preview } from './preview-record.js';
import { shownPath } from './state.js';

interface ExecutionView {
  previews: Record<string, Preview>;
  anomaly_detected: Anomaly[] | null;
  /** The fields of `execution_context` except the failure. */
  context: Record<string, unknown>;
}

/** `AgentflowStatus`: the execution's own status, or `waiting` while a running execution can only wait for people. */
export function indexedStatus(state: Pick<ExecutionState, 'status' | 'previews' | 'paths'>): string {
  if (state.status !== 'running') return state.status;
  const active = activePathsOf(state);
  const isWaiting = active.length > 0 && active.every((path) => personAwaitedOn(state, path) !== null);
  return isWaiting ? 'waiting' : state.status;
}

/** The person's decision or answer that a path waits for. */
function personAwaitedOn({ previews }: Pick<ExecutionState, 'previews'>, path: PathState) {
  const { held, elicitation, current } = path;
  if (held) return { ...heldView(held), ...shownPath(path) };
  if (elicitation) return { kind: 'elicitation', ...elicitation, ...shownPath(path) };
  const preview = current ? previews[idInPath(path, current.agent_id)] : undefined;
  if (preview?.status !== 'waiting') return null;
  const { agent_id, preview_id, requested_at, expires_at } = preview;
  return { kind: 'preview', agent_id, preview_id, requested_at, expires_at, ...shownPath(path) };
}

function heldView({ agent_id, step_id, approval_id, requested_at, expires_at, is_question }: ActAwaitingApproval) {
  if (is_question) return { kind: 'question', step_id, question_id: approval_id, requested_at, expires_at };
  return { kind: 'approval', agent_id, step_id, approval_id, requested_at, expires_at };
}

export function isWaitingForTurn({ turn }: Pick<ExecutionState, 'turn'>): boolean {
  return turn !== undefined && turn.waiting_since !== null;
}

type Waiting = Pick<ExecutionState, 'previews' | 'paths' | 'turn' | 'has_waited'>;
type Shown = Waiting & Pick<ExecutionState, 'anomalies' | 'failover' | 'tokens_of_children'>;

/**
 * The turn, a decision or answer of a person, or the event that the run waits for. A preview takes precedence, because
 * approvals and questions have records of their own, in which people find them.
 */
function waitingFor(state: Waiting) {
  const { turn } = state;
  if (turn && turn.waiting_since !== null) return { kind: 'turn', key: turn.key, since: turn.waiting_since };
  const awaited = activePathsOf(state).flatMap((path) => personAwaitedOn(state, path) ?? []);
  return awaited.find(({ kind }) => kind === 'preview') ?? awaited[0] ?? eventAwaitedIn(state);
}

/** The event that a `wait` step waits for. */
function eventAwaitedIn(state: Pick<ExecutionState, 'paths'>) {
  const path = activePathsOf(state).find(({ event }) => event);
  if (!path?.event) return null;
  const { step_id, name, requested_at } = path.event;
  return { kind: 'event', step_id, name, requested_at, expires_at: path.waits_until?.at ?? null, ...shownPath(path) };
}

/** The part of the state that is shown in addition to the outputs, identical in the stored record and the live view. */
export function viewOf(state: Shown): ExecutionView {
  const { previews, anomalies, failover, turn, has_waited = false, tokens_of_children } = state;
  return {
    previews,
    anomaly_detected: anomalies.length > 0 ? anomalies : null,
    context: {
      ...((has_waited || turn !== undefined) && { waiting_for: waitingFor(state) }),
      ...(failover && { failover }),
      ...(tokens_of_children !== undefined && { tokens_of_children }),
    },
  };
}
