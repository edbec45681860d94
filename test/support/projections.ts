import type { ExecutionProjection } from '../../workflows/agentflow-execution/activities.js';
import { newId } from '../../src/base/ids.js';

/** What the workflow of an execution writes into its record. */
export function projectionOf(execution_id: string, change: Partial<ExecutionProjection> = {}): ExecutionProjection {
  return {
    ...{ execution_id, organization_id: newId(), project_id: newId(), agentflow_id: newId() },
    ...{ projected_at: 1, started_at: 1, end_time: null, last_event_seq: 1 },
    ...{ conclusion: null, failure: null, previews: {}, anomaly_detected: null, context: {} },
    ...{ steps: [], agents_output: [], spent: [] },
    events: [{ seq: 1, type: 'started', at: 1, data: {} }],
    status: 'running',
    ...change,
  };
}
