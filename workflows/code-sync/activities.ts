import type { CodeSyncInput, CodeSyncResult } from './messages.js';

export interface CodeSyncActivities {
  /** Writes commits, authors and changed paths into the graph. Resumes where a killed worker stopped. */
  saveCommits(input: CodeSyncInput): Promise<CodeSyncResult>;
  /** Stores the lifecycle and the audit entry. */
  recordCodeSync(sync: {
    input: CodeSyncInput;
    started_at: number;
    result: CodeSyncResult | null;
    failure: string | null;
  }): Promise<void>;
}
