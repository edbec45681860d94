/** What clients use to start a `codeSync` (design, Workflows). */
export const codeSyncType = 'codeSync';

/** `deliveryId` is the digest of the body, so that Temporal starts one workflow for each delivery. */
export function codeSyncWorkflowId(projectId: string, deliveryId: string): string {
  return `code-sync/${projectId}/${deliveryId}`;
}

export interface PushedCommit {
  id: string;
  message: string;
  /** Epoch seconds. */
  at: number;
  author: { name: string; email: string; username: string | null };
  added: string[];
  modified: string[];
  removed: string[];
}

export interface Push {
  repository: string;
  branch: string;
  /** The commit that the branch pointed to before the push. */
  before?: string;
  head: string;
  /** Epoch seconds: when it was pushed, according to the code host. */
  pushed_at: number;
  /** Epoch seconds: when the push was received. */
  received_at: number;
  commits: PushedCommit[];
}

export interface CodeSyncInput {
  project_id: string;
  organization_id: string;
  delivery_id: string;
  lifecycle_id: string;
  push: Push;
  /** Where the file store has the commits if they are too large for a history. `push` then contains no commits. */
  stored_commits?: { location: string; count: number };
}

export interface CodeSyncResult {
  commits: number;
  entities: number;
  relationships: number;
  facts: number;
}
