/** Where a knowledge upload stands; `total` is null until the text is extracted. */
export interface KnowledgeProgress {
  status: 'queued' | 'running' | 'completed' | 'failed' | 'removed';
  total: number | null;
  done: number;
  failure: string | null;
  workflow_id: string;
}

/** `uploading` → `ready` → `deleted`, or `failed`: an upload that broke off, or a document that cannot be read. Only `ready` has bytes. */
export type FileStatus = 'uploading' | 'ready' | 'failed' | 'deleted';

/** A file's record (specification, File); `url` and `size_in_kb` are made at each read. */
export interface FileDocument {
  _id: string;
  projectID: string;
  organization_id: string;
  user_id: string;
  name: string;
  mime_type: string;
  location: string;
  tags: string[];
  source_type: 'STORAGE';
  size_bytes: number;
  sha256: string;
  container_name: string;
  /** Empty where the file belongs to none. */
  connector_id: string;
  /** Epoch milliseconds. */
  uploaded_on: number;
  status: FileStatus;
  /** The idempotent request that kept it; null without an `Idempotency-Key`. */
  upload_id: string | null;
  knowledge: KnowledgeProgress | null;
}
