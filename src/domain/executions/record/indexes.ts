import type { Index } from '../../../stores/collections.js';

/** The indexes of executions. */
export const executionIndexes: readonly Index[] = [
  { keys: { projectID: 1, created_at: -1, _id: -1 } },
  { keys: { projectID: 1, status: 1, created_at: -1, _id: -1 } },
  { keys: { projectID: 1, agentflow_id: 1, created_at: -1, _id: -1 } },
  { keys: { projectID: 1, agentflow_id: 1, 'flow.agentflow_version': 1, created_at: -1, _id: -1 } },
  { keys: { projectID: 1, 'executed_by._id': 1, created_at: -1, _id: -1 } },
  { keys: { projectID: 1, schedule: 1, created_at: -1, _id: -1 } },
  { keys: { task_id: 1 } },
  { keys: { status: 1, _id: 1 } },
  { keys: { projectID: 1, 'execution_context.waiting_for.kind': 1, created_at: -1, _id: -1 } },
  {
    keys: {
      projectID: 1,
      'execution_context.waiting_for.kind': 1,
      status: 1,
      'execution_context.waiting_for.requested_at': -1,
      _id: -1,
    },
  },
  { keys: { projectID: 1, 'execution_context.failure.reason': 1, created_at: -1, _id: -1 } },
  { keys: { projectID: 1, status: 1, 'execution_context.hold.at': -1, _id: -1 } },
  { keys: { projectID: 1, changed_at: 1 } },
  { keys: { 'files.location': 1 }, options: { sparse: true } },
  {
    keys: { 'flow.slice.root': 1, 'flow.slice.of': 1, 'flow.slice.place': 1, 'flow.slice.from': 1 },
    options: { sparse: true },
  },
];
