import { CreateTaskResultSchema, RELATED_TASK_META_KEY, type Task } from '@modelcontextprotocol/sdk/types.js';
import type { z } from 'zod';
import { rpcCodes, rpcError } from './rpc-errors.js';
import { taskSeconds } from './task-record.js';
import type { TaskView } from './tasks.js';
import { toolResult } from './tool-result.js';

/** The tasks extension of 2026-07-28 (SEP-2663). Revision 2025-11-25 has tasks in its core. */
export const tasksExtension = 'io.modelcontextprotocol/tasks';

/** Approvals wait for a person, so clients poll them less often than executions. */
const pollMs = { held: 5000, running: 1000, ended: 1000, cancelled: 1000 };

/** Returns the task as 2025-11-25 defines it: a refused call is `failed`. */
export function legacyTask({ task, outcome, message }: TaskView): Task {
  const failed = task.state === 'ended' && outcome.kind === 'refusal';
  const status = failed ? 'failed' : statuses[task.state];
  return {
    taskId: task._id,
    status,
    ...common({ task, outcome, message }),
    ttl: taskSeconds * 1000,
    pollInterval: pollMs[task.state],
  };
}

export function legacyCreated(view: TaskView): z.infer<typeof CreateTaskResultSchema> {
  return CreateTaskResultSchema.parse({ task: legacyTask(view) });
}

/**
 * Returns the result of a task.
 * @throws a JSON-RPC error for a cancelled task, which has no result
 */
export function legacyResult({ task, outcome }: TaskView) {
  if (task.state === 'cancelled') throw rpcError(rpcCodes.invalidParams, 'the task was cancelled and has no result');
  return { ...toolResult(outcome), _meta: { [RELATED_TASK_META_KEY]: { taskId: task._id } } };
}

/** Returns the task as SEP-2663 defines it: a refused call is `completed` with an error in its result. */
export function modernTask(view: TaskView) {
  const { task, outcome } = view;
  const result = task.state === 'ended' ? { result: { resultType: 'complete', ...toolResult(outcome) } } : {};
  return {
    taskId: task._id,
    status: statuses[task.state],
    ...common(view),
    ttlMs: taskSeconds * 1000,
    pollIntervalMs: pollMs[task.state],
    ...result,
  };
}

export function modernCreated(view: TaskView) {
  const { result: _, ...task } = modernTask(view);
  return { resultType: 'task', ...task };
}

const statuses = { held: 'working', running: 'working', ended: 'completed', cancelled: 'cancelled' } as const;

function common({ task, message }: TaskView) {
  return {
    ...(message === '' ? {} : { statusMessage: message }),
    createdAt: new Date(task.created_at * 1000).toISOString(),
    lastUpdatedAt: new Date(task.updated_at * 1000).toISOString(),
  };
}
