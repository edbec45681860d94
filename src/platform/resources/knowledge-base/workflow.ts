import { WorkflowExecutionAlreadyStartedError, WorkflowIdReusePolicy } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import {
  knowledgeUploadType,
  knowledgeUploadWorkflowId,
  removeSignal,
  type KnowledgeUploadInput,
} from '../../../../workflows/knowledge-upload/messages.js';
import { searchAttributes } from '../../../../workflows/search-attributes.js';
import type { Deps } from '../../../deps.js';
import type { FileDocument } from '../../../files/record.js';
import { newId } from '../../../ids.js';

type TemporalDeps = Pick<Deps, 'temporal'>;

/** Starts bringing a document into the graph; a repeat finds it started. */
export async function startKnowledge({ temporal }: TemporalDeps, file: FileDocument): Promise<void> {
  const options = { ...optionsOf(temporal, file), workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE };
  try {
    await temporal.call((client) => client.workflow.start(knowledgeUploadType, options));
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

/** Asks the file's workflow to take its chunks away: the run that writes them, or another when that is over. */
export async function removeKnowledge({ temporal }: TemporalDeps, file: FileDocument): Promise<void> {
  const options = { ...optionsOf(temporal, file), signal: removeSignal, signalArgs: [] as [] };
  await temporal.call((client) => client.workflow.signalWithStart(knowledgeUploadType, options));
}

function optionsOf(temporal: Deps['temporal'], { _id, projectID, organization_id, name }: FileDocument) {
  const input: KnowledgeUploadInput = { project_id: projectID, organization_id, file_id: _id, name, lifecycle_id: newId() };
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
