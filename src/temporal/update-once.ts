import type { UpdateDefinition } from '@temporalio/common';
import { isWorkflowGone, type Temporal } from './client.js';

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
    try {
      return await handle.executeUpdate<R, A>(update, { args, updateId });
    } catch (error) {
      if (!isWorkflowGone(error)) throw error;
      return handle.getUpdateHandle<R>(updateId).result();
    }
  });
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
