import {
  knowledgeUploadType,
  knowledgeUploadWorkflowId,
  removeSignal,
  type KnowledgeUploadInput,
} from '../../../../workflows/knowledge-upload/messages.js';
import { attributePairs } from '../../../../workflows/search-attributes.js';
import type { Deps } from '../../deps.js';
import type { FileDocument } from '../record.js';
import { newId } from '../../../base/ids.js';
import { startOnce } from '../../../temporal/start-once.js';

type TemporalDeps = Pick<Deps, 'temporal'>;

/** Starts the workflow that writes a document into the graph. Idempotent. */
export async function startKnowledge({ temporal }: TemporalDeps, file: FileDocument): Promise<void> {
  await startOnce(temporal, knowledgeUploadType, optionsOf(file));
}

/** Signals the file's workflow to delete its chunks. Starts a new run if the one that wrote them has ended. */
export async function deleteKnowledge({ temporal }: TemporalDeps, file: FileDocument): Promise<void> {
  const { taskQueue } = temporal;
  const options = { ...optionsOf(file), taskQueue, signal: removeSignal, signalArgs: [] as [] };
  await temporal.call((client) => client.workflow.signalWithStart(knowledgeUploadType, options));
}

function optionsOf({ _id, projectID, organization_id, name, knowledge }: FileDocument) {
  const input: KnowledgeUploadInput = {
    project_id: projectID,
    organization_id,
    file_id: _id,
    name,
    lifecycle_id: newId(),
    ...(knowledge?.extract && { extract: true }),
  };
  return {
    workflowId: knowledgeUploadWorkflowId(_id),
    args: [input] as [KnowledgeUploadInput],
    memo: { project: projectID, file: name },
    staticSummary: `Document ${name}`.slice(0, 200),
    typedSearchAttributes: attributePairs({
      projectId: projectID,
      organizationId: organization_id,
      lifecycleId: input.lifecycle_id,
    }),
  };
}
