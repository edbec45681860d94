import { defineQuery, defineSignal } from '@temporalio/workflow';

/** What clients and operators use to work with a `knowledgeUpload` (design, Workflows). */
export const knowledgeUploadType = 'knowledgeUpload';

/** One workflow for each file, which both writes and removes its chunks. */
export function knowledgeUploadWorkflowId(fileId: string): string {
  return `knowledge/${fileId}`;
}

export interface KnowledgeUploadInput {
  project_id: string;
  organization_id: string;
  file_id: string;
  name: string;
  lifecycle_id: string;
  /** Whether the facts of the document are extracted once its chunks are written. */
  extract?: true;
}

/** `total` is null until the text is extracted. */
export interface KnowledgeUploadState {
  total: number | null;
  done: number;
  removing: boolean;
}

export interface KnowledgeUploadResult {
  chunks: number;
  removed: boolean;
}

/** Removes the file's chunks, whether they are complete, partly written or not yet written. */
export const removeSignal = defineSignal('remove');
export const stateQuery = defineQuery<KnowledgeUploadState>('state');
