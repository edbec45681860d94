import { WorkflowExecutionAlreadyStartedError, WorkflowIdReusePolicy } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { codeSyncType, codeSyncWorkflowId, type CodeSyncInput } from '../../../workflows/code-sync/messages.js';
import { searchAttributes } from '../../../workflows/search-attributes.js';
import { newId } from '../../ids.js';
import type { EncryptedBlobStore } from '../../stores/encrypted-blobs.js';
import type { Temporal } from '../../temporal/client.js';
import type { ReadPush } from './read-push.js';

/** Resolves when the sync of this delivery has been started, by this or an earlier attempt. */
export type StartCodeSync = (
  binding: { project_id: string; organization_id: string },
  deliveryId: string,
  push: ReadPush,
) => Promise<void>;

export function createCodeSyncStarter(temporal: Temporal, blobs: EncryptedBlobStore): StartCodeSync {
  return async ({ project_id, organization_id }, deliveryId, { push, commits, stored }) => {
    const lifecycleId = newId();
    const input: CodeSyncInput = {
      project_id,
      organization_id,
      delivery_id: deliveryId,
      lifecycle_id: lifecycleId,
      push,
      ...(stored && { stored_commits: { location: await blobs.put(stored, organization_id), count: commits } }),
    };
    const options = {
      taskQueue: temporal.taskQueue,
      workflowId: codeSyncWorkflowId(project_id, deliveryId),
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      args: [input] as [CodeSyncInput],
      memo: { project: project_id, repository: push.repository },
      staticSummary: `Push of ${commits} commits to ${push.repository}`.slice(0, 200),
      typedSearchAttributes: new TypedSearchAttributes([
        { key: searchAttributes.projectId, value: project_id },
        { key: searchAttributes.organizationId, value: organization_id },
        { key: searchAttributes.lifecycleId, value: lifecycleId },
      ]),
    };
    try {
      await temporal.call((client) => client.workflow.start(codeSyncType, options));
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  };
}
