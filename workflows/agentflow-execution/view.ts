import type { Anomaly, ExecutionState } from './messages.js';
import type { Preview } from './preview-messages.js';

export interface ExecutionView {
  previews: Record<string, Preview>;
  anomaly_detected: Anomaly[] | null;
  /** Fields of `execution_context`, apart from the failure. */
  context: Record<string, unknown>;
}

/** What a person sees of the state beyond its outputs, the same in the stored record and in the live view. */
export function viewOf({ previews, anomalies, failover }: Pick<ExecutionState, 'previews' | 'anomalies' | 'failover'>): ExecutionView {
  const all = Object.values(previews);
  const waiting = all.find(({ status }) => status === 'waiting');
  return {
    previews,
    anomaly_detected: anomalies.length > 0 ? anomalies : null,
    context: {
      ...(all.length > 0 && { waiting_for: waiting ? { kind: 'preview', agent_id: waiting.agent_id, expires_at: waiting.expires_at } : null }),
      ...(failover && { failover }),
    },
  };
}
