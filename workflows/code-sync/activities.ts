import type { CodeSyncInput, CodeSyncResult } from './messages.js';

export interface CodeSyncActivities {
  /** Brings commits, authors and touched paths into the graph; goes on where a killed worker left it. */
  saveCommits(input: CodeSyncInput): Promise<CodeSyncResult>;
  /** Stores the lifecycle and the audit entry. */
  recordCodeSync(sync: { input: CodeSyncInput; started_at: number; result: CodeSyncResult | null; failure: string | null }): Promise<void>;
}
