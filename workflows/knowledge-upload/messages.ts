import { defineQuery, defineSignal } from '@temporalio/workflow';

/** What a client or an operator needs to talk to a `knowledgeUpload` (design, Workflows). */
export const knowledgeUploadType = 'knowledgeUpload';

/** One for each file, so that what writes its chunks is also what takes them away. */
export function knowledgeUploadWorkflowId(fileId: string): string {
  return `knowledge/${fileId}`;
}

export interface KnowledgeUploadInput {
  project_id: string;
  organization_id: string;
  file_id: string;
  name: string;
  lifecycle_id: string;
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

/** Takes the file's chunks away, whether they are being written, are all there, or never were. */
export const removeSignal = defineSignal('remove');
export const stateQuery = defineQuery<KnowledgeUploadState>('state');
