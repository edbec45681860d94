import { WorkflowExecutionAlreadyStartedError, WorkflowIdReusePolicy } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import {
  knowledgeUploadType,
  knowledgeUploadWorkflowId,
  removeSignal,
  type KnowledgeUploadInput,
} from '../../../../workflows/knowledge-upload/messages.js';
import { searchAttributes } from '../../../../workflows/search-attributes.js';
import type { Deps } from '../../deps.js';
import type { FileDocument } from '../record.js';
import { newId } from '../../../ids.js';

type TemporalDeps = Pick<Deps, 'temporal'>;

/** Starts the workflow that writes a document into the graph. Idempotent. */
export async function startKnowledge({ temporal }: TemporalDeps, file: FileDocument): Promise<void> {
  const options = { ...optionsOf(temporal, file), workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE };
  try {
    await temporal.call((client) => client.workflow.start(knowledgeUploadType, options));
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

/** Signals the file's workflow to delete its chunks. Starts a new run if the one that wrote them has ended. */
export async function deleteKnowledge({ temporal }: TemporalDeps, file: FileDocument): Promise<void> {
  const options = { ...optionsOf(temporal, file), signal: removeSignal, signalArgs: [] as [] };
  await temporal.call((client) => client.workflow.signalWithStart(knowledgeUploadType, options));
}

function optionsOf(temporal: Deps['temporal'], { _id, projectID, organization_id, name }: FileDocument) {
  const input: KnowledgeUploadInput = {
    project_id: projectID,
    organization_id,
    file_id: _id,
    name,
    lifecycle_id: newId(),
  };
  return {
    taskQueue: temporal.taskQueue,
    workflowId: knowledgeUploadWorkflowId(_id),
    args: [input] as [KnowledgeUploadInput],
    memo: { project: projectID, file: name },
    staticSummary: `Document ${name}`.slice(0, 200),
    typedSearchAttributes: new TypedSearchAttributes([
      { key: searchAttributes.projectId, value: projectID },
      { key: searchAttributes.organizationId, value: organization_id },
      { key: searchAttributes.lifecycleId, value: input.lifecycle_id },
    ]),
  };
}
