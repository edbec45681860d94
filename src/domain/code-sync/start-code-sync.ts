import { codeSyncType, codeSyncWorkflowId, type CodeSyncInput } from '../../../workflows/code-sync/messages.js';
import { attributePairs } from '../../../workflows/search-attributes.js';
import { newId } from '../../base/ids.js';
import type { EncryptedBlobStore } from '../../stores/encrypted-blobs.js';
import type { Temporal } from '../../temporal/client.js';
import { startOnce } from '../../temporal/start-once.js';
import type { ReadPush } from './read-push.js';

/** Resolves when this attempt or an earlier one has started the sync of this delivery. */
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
    await startOnce(temporal, codeSyncType, {
      workflowId: codeSyncWorkflowId(project_id, deliveryId),
      args: [input],
      memo: { project: project_id, repository: push.repository },
      staticSummary: `Push of ${commits} commits to ${push.repository}`.slice(0, 200),
      typedSearchAttributes: attributePairs({ projectId: project_id, organizationId: organization_id, lifecycleId }),
    });
  };
}
