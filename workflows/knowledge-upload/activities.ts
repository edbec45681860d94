import type { KnowledgeUploadInput } from './messages.js';

/** The outside of a knowledge upload; each may be repeated. */
export interface KnowledgeUploadActivities {
  /** Reads the document's text and lays its chunks down in batches. */
  extractChunks(upload: KnowledgeUploadInput): Promise<{ total: number; batches: number }>;
  /** Writes one batch into the graph; gives how many chunks it holds. */
  saveChunks(batch: { upload: KnowledgeUploadInput; batch: number; before: number }): Promise<{ saved: number }>;
  /** Says in the file's record and in a lifecycle how it ended; after a failure nothing of the document stays. */
  finishKnowledge(end: { upload: KnowledgeUploadInput; started_at: number; total: number; batches: number; failure: string | null }): Promise<void>;
  /** Takes chunks, bytes and batches away and marks the file deleted. */
  removeKnowledge(upload: KnowledgeUploadInput): Promise<void>;
}
