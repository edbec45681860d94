import { WorkflowUpdateFailedError } from '@temporalio/client';
import { startChildUpdate, type StartChildRequest } from '../../../workflows/agentflow-execution/child-messages.js';
import { executionWorkflowId } from '../../../workflows/agentflow-execution/messages.js';
import type { Deps } from '../deps.js';
import { isWorkflowGone } from '../../temporal/client.js';
import { isOver, type ExecutionDocument } from './record.js';

/**
 * Asks the workflow of the parent to start an execution as its child workflow.
 * @throws AppError `unavailable` if no worker answers for the parent
 */
export async function startInParent(
  deps: Deps,
  { parent_execution_id: parentId }: ExecutionDocument,
  request: StartChildRequest,
): Promise<'started' | 'started before' | 'no parent runs'> {
  if (parentId === null) return 'no parent runs';
  const parent = await deps.mongo.collections.executions.findOne({ _id: parentId }, { projection: { status: 1 } });
  if (!parent || isOver(parent.status)) return 'no parent runs';
  try {
    const started = await deps.temporal.callWorker((client) =>
      client.workflow.getHandle(executionWorkflowId(parentId)).executeUpdate(startChildUpdate, { args: [request] }),
    );
    return started ? 'started' : 'started before';
  } catch (error) {
    // The parent was never started, or it has ended and its record is not updated yet.
    if (isWorkflowGone(error) || error instanceof WorkflowUpdateFailedError) return 'no parent runs';
    throw error;
  }
}
