import type { ActAwaitingApproval } from './act-messages.js';
import type { Anomaly, ExecutionState } from './messages.js';
import type { Preview } from './preview-record.js';

interface ExecutionView {
  previews: Record<string, Preview>;
  anomaly_detected: Anomaly[] | null;
  /** The fields of `execution_context` except the failure. */
  context: Record<string, unknown>;
}

export function waitingPreview({ previews }: Pick<ExecutionState, 'previews'>): Preview | undefined {
  return Object.values(previews).find(({ status }) => status === 'waiting');
}

/** `AgentflowStatus`: the execution's own status, or `waiting` while a running execution waits for a person. */
export function indexedStatus(state: Pick<ExecutionState, 'status' | 'previews' | 'held' | 'elicitation'>): string {
  const isWaiting =
    state.status === 'running' &&
    (waitingPreview(state) !== undefined || (state.held ?? state.elicitation ?? null) !== null);
  return isWaiting ? 'waiting' : state.status;
}

function heldView({ agent_id, step_id, approval_id, requested_at, expires_at }: ActAwaitingApproval) {
  return { kind: 'approval', agent_id, step_id, approval_id, requested_at, expires_at };
}

export function isWaitingForTurn({ turn }: Pick<ExecutionState, 'turn'>): boolean {
  return turn !== undefined && turn.waiting_since !== null;
}

type Waiting = Pick<ExecutionState, 'previews' | 'held' | 'elicitation' | 'turn'>;

/** The turn, or the person's decision or answer, that the run waits for. */
function waitingFor({ previews, held, elicitation, turn }: Waiting) {
  if (turn && turn.waiting_since !== null) return { kind: 'turn', key: turn.key, since: turn.waiting_since };
  if (held) return heldView(held);
  if (elicitation) return { kind: 'elicitation', ...elicitation };
  const waiting = waitingPreview({ previews });
  if (!waiting) return null;
  const { agent_id, preview_id, requested_at, expires_at } = waiting;
  return { kind: 'preview', agent_id, preview_id, requested_at, expires_at };
}

/** The part of the state that is shown in addition to the outputs, identical in the stored record and the live view. */
export function viewOf(state: Waiting & Pick<ExecutionState, 'anomalies' | 'failover'>): ExecutionView {
  const { previews, anomalies, failover, held, elicitation, turn } = state;
  const all = Object.values(previews);
  return {
    previews,
    anomaly_detected: anomalies.length > 0 ? anomalies : null,
    context: {
      ...((all.length > 0 || held !== undefined || elicitation !== undefined || turn !== undefined) && {
        waiting_for: waitingFor(state),
      }),
      ...(failover && { failover }),
    },
  };
}
