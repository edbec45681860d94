import type { KnowledgeUploadInput } from './messages.js';

/** The activities of a knowledge upload. All are safe to repeat. */
export interface KnowledgeUploadActivities {
  /** Reads the document's text and stores its chunks in batches. */
  extractChunks(upload: KnowledgeUploadInput): Promise<{ total: number; batches: number }>;
  /** Writes one batch into the graph and returns how many chunks it has. */
  saveChunks(batch: { upload: KnowledgeUploadInput; batch: number; before: number }): Promise<{ saved: number }>;
  /** Starts the extraction of the document's facts, or records why it is refused. */
  rememberDocument(document: { upload: KnowledgeUploadInput; batches: number }): Promise<void>;
  /** Records the outcome in the file's record and in a lifecycle. After a failure, removes everything of the document. */
  finishKnowledge(end: {
    upload: KnowledgeUploadInput;
    started_at: number;
    total: number;
    batches: number;
    failure: string | null;
  }): Promise<void>;
  /** Removes chunks, bytes and batches, and marks the file as deleted. */
  removeKnowledge(upload: KnowledgeUploadInput): Promise<void>;
}
