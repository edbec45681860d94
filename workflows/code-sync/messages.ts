/** What a client needs to start a `codeSync` (design, Workflows). */
export const codeSyncType = 'codeSync';

/** The delivery's id stands in the workflow's, so that Temporal starts one for it and no second. */
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
  head: string;
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
}

export interface CodeSyncResult {
  commits: number;
  entities: number;
  relationships: number;
  facts: number;
}
