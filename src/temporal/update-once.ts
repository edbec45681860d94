import { setTimeout as delay } from 'node:timers/promises';
import { isGrpcServiceError } from '@temporalio/client';
import type { UpdateDefinition } from '@temporalio/common';
import { status } from '@grpc/grpc-js';
import { isWorkflowGone, type Temporal } from './client.js';

const maxAttempts = 5;
const pauseMs = 100;

/**
 * Sends an update to a workflow. Repeating an `updateId` returns the outcome of the first request, even if the run
 * has closed.
 * @throws WorkflowUpdateFailedError if the workflow refuses it, WorkflowNotFoundError, AppError `unavailable`
 */
export async function updateOnce<R, A extends [unknown, ...unknown[]]>(
  temporal: Pick<Temporal, 'callWorker'>,
  workflowId: string,
  update: UpdateDefinition<R, A>,
  { args, updateId }: { args: A; updateId: string },
): Promise<R> {
  return temporal.callWorker(async (client) => {
    const handle = client.workflow.getHandle(workflowId);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await handle.executeUpdate<R, A>(update, { args, updateId });
      } catch (error) {
        if (isWorkflowGone(error)) return handle.getUpdateHandle<R>(updateId).result();
        if (!wasDropped(error) || attempt === maxAttempts) throw error;
        await delay(attempt * pauseMs);
      }
    }
  });
}

/**
 * Temporal drops an update if it refuses the workflow task that took it, for example because a signal arrived while the task
 * ended the workflow. The update had no effect, and its sender has to repeat it.
 */
function wasDropped(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause)
    if (isGrpcServiceError(at)) return at.code === status.FAILED_PRECONDITION;
  return false;
}

/**
 * Returns the outcome of an earlier update.
 * @throws WorkflowNotFoundError if no such update was sent; otherwise as `updateOnce`
 */
export function outcomeOfUpdate<R>(
  temporal: Pick<Temporal, 'callWorker'>,
  workflowId: string,
  updateId: string,
): Promise<R> {
  return temporal.callWorker((client) => client.workflow.getHandle(workflowId).getUpdateHandle<R>(updateId).result());
}
