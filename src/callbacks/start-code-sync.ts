import { WorkflowExecutionAlreadyStartedError, WorkflowIdReusePolicy } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { codeSyncType, codeSyncWorkflowId, type CodeSyncInput, type Push } from '../../workflows/code-sync/messages.js';
import { searchAttributes } from '../../workflows/search-attributes.js';
import { newId } from '../ids.js';
import type { Temporal } from '../temporal/client.js';

/** Resolves once Temporal has the sync of this delivery, now or from an earlier try. */
export type StartCodeSync = (binding: { project_id: string; organization_id: string }, deliveryId: string, push: Push) => Promise<void>;

const startTimeoutMs = 5000;

export function createCodeSyncStarter(temporal: Temporal): StartCodeSync {
  return async ({ project_id, organization_id }, deliveryId, push) => {
    const lifecycleId = newId();
    const input: CodeSyncInput = { project_id, organization_id, delivery_id: deliveryId, lifecycle_id: lifecycleId, push };
    const options = {
      taskQueue: temporal.taskQueue,
      workflowId: codeSyncWorkflowId(project_id, deliveryId),
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      args: [input] as [CodeSyncInput],
      memo: { project: project_id, repository: push.repository },
      staticSummary: `Push of ${push.commits.length} commits to ${push.repository}`.slice(0, 200),
      typedSearchAttributes: new TypedSearchAttributes([
        { key: searchAttributes.projectId, value: project_id },
        { key: searchAttributes.organizationId, value: organization_id },
        { key: searchAttributes.lifecycleId, value: lifecycleId },
      ]),
    };
    try {
      await temporal.call((client) => client.workflow.start(codeSyncType, options), startTimeoutMs);
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  };
}
